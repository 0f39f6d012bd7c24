import type { Command } from './command.ts';

/** Loaded when they are called: a list of keys need not wait for the HTTP server's code. */
export type Group = { name: string; summary: string; load(): Promise<{ commands: Command[] }> };

export const GROUPS: readonly Group[] = [
  { name: 'serve', summary: 'Run the service', load: () => import('./serve.ts') },
  { name: 'worker', summary: 'Send what is due, beside the service', load: () => import('./worker.ts') },
  { name: 'migrate', summary: 'Bring the database up to date', load: () => import('./migrate.ts') },
  {
    name: 'doctor',
    summary: 'Check settings, mail, disk, database, migrations, clock, video accounts and webhooks',
    load: () => import('./doctor.ts'),
  },
  { name: 'demo', summary: 'Make a demonstration company', load: () => import('./demo.ts') },
  { name: 'company', summary: 'Companies and their settings', load: () => import('./company.ts') },
  { name: 'adviser', summary: 'Advisers, with whom appointments are booked', load: () => import('./adviser.ts') },
  { name: 'case', summary: 'Cases', load: () => import('./case.ts') },
  { name: 'customer', summary: 'Customers of a case', load: () => import('./customer.ts') },
  { name: 'tag', summary: 'Custom tags', load: () => import('./tag.ts') },
  { name: 'client', summary: 'API clients, which ask for tokens', load: () => import('./client.ts') },
  { name: 'key', summary: 'API keys for scripts', load: () => import('./key.ts') },
  {
    name: 'credential',
    summary: 'After a leak: what a key or a client made, and its end',
    load: () => import('./credential.ts'),
  },
  {
    name: 'secrets',
    summary: 'Encrypted secrets of video accounts and webhooks',
    load: () => import('./secrets.ts'),
  },
  { name: 'events', summary: 'What happened in a company', load: () => import('./events.ts') },
  { name: 'webhook', summary: 'Where events are sent to', load: () => import('./webhook.ts') },
];
