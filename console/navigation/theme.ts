import { signal } from '@preact/signals';

export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const STORED = 'theme';
export const theme = signal<Theme>(THEMES.find((one) => one === localStorage.getItem(STORED)) ?? 'auto');

/** The style sheet has both colours of everything; the attribute chooses. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.value;
}

export function setTheme(chosen: Theme): void {
  theme.value = chosen;
  localStorage.setItem(STORED, chosen);
  applyTheme();
}
