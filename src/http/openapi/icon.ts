/** The icon of the service: a folder with a record in it. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" width="48" height="48" viewBox="0 0 32 32">
  <rect width="32" height="32" rx="7" fill="#0f5c5c"/>
  <path d="M6 10.5A2.5 2.5 0 0 1 8.5 8h4.6l2.4 3H23.5A2.5 2.5 0 0 1 26 13.5v9A2.5 2.5 0 0 1 23.5 25h-15A2.5 2.5 0 0 1 6 22.5z" fill="#fff"/>
  <path d="M10.5 16h11M10.5 20h7" stroke="#0f5c5c" stroke-width="2" stroke-linecap="round"/>
</svg>
`;
