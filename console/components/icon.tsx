/** Outlines on a grid of 24. They are decoration: the text beside them says the same. */
const PATHS = {
  appointment: 'M7 3v3M17 3v3M4 9h16M5 5h14a1 1 0 0 1 1 1v13a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1z',
  case: 'M3 7a2 2 0 0 1 2-2h4l2 3h8a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z',
  change: 'M3 12a9 9 0 1 0 3-6.7M3 4v5h5M12 8v4l3 2',
  close: 'M6 6l12 12M18 6L6 18',
  command: 'M5 12h14M13 6l6 6-6 6',
  earlier: 'M15 5l-7 7 7 7',
  email: 'M4 6h16v12H4zM4 7l8 6 8-6',
  invoice: 'M6 3h9l4 4v14H6zM14 3v5h5M9 13h6M9 17h6',
  later: 'M9 5l7 7-7 7',
  letter: 'M6 3h9l4 4v14H6zM9 12h6M9 16h4',
  message: 'M4 5h16v11H9l-5 4z',
  other: 'M12 11v6M12 7.5v.01M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18z',
  payment: 'M3 7h18v10H3zM12 9.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zM6.5 12v.01M17.5 12v.01',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21a8 8 0 0 1 16 0',
  phone: 'M5 3h4l2 5-2.5 1.5a11 11 0 0 0 6 6L16 13l5 2v4a2 2 0 0 1-2 2A16 16 0 0 1 3 5a2 2 0 0 1 2-2z',
  plus: 'M12 5v14M5 12h14',
  search: 'M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14zM20 20l-4-4',
  settings: 'M4 7h10M18 7h2M4 17h2M10 17h10M16 4.5v5M8 14.5v5',
  today: 'M12 4V2M12 22v-2M4 12H2M22 12h-2M6 6L5 5M19 19l-1-1M6 18l-1 1M19 5l-1 1M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8z',
  video_conference: 'M3 7h11v10H3zM14 11l7-4v10l-7-4z',
  warning: 'M12 4l9 16H3zM12 10v4M12 17v.01',
} as const;

export type IconName = keyof typeof PATHS;

export const Icon = ({ name }: { name: string }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={PATHS[name as IconName] ?? PATHS.other} />
  </svg>
);
