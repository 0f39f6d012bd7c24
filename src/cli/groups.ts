import type { Group } from './command.ts';

export const GROUPS: readonly Group[] = [
  { name: 'serve', summary: 'Run the service', load: () => import('./serve.ts') },
  { name: 'worker', summary: 'Run a worker in a process of its own', load: () => import('./worker.ts') },
  { name: 'migrate', summary: 'Bring the database up to date', load: () => import('./migrate.ts') },
  {
    name: 'upgrade',
    summary: 'Move the data to this version, also from an older PostgreSQL, or say before what that will do',
    load: () => import('./upgrade.ts'),
  },
  {
    name: 'doctor',
    summary: 'Check settings, mail, SMS, disk, database, migrations, events, clock, video accounts and webhooks',
    load: () => import('./doctor.ts'),
  },
  { name: 'demo', summary: 'Create a demonstration company', load: () => import('./demo.ts') },
  { name: 'company', summary: 'Companies and their settings', load: () => import('./company.ts') },
  { name: 'adviser', summary: 'Advisers, their state and their video accounts', load: () => import('./adviser.ts') },
  { name: 'case', summary: 'Cases', load: () => import('./case.ts') },
  { name: 'kind', summary: 'Kinds of case', load: () => import('./kind.ts') },
  { name: 'customer', summary: 'Customers of a case', load: () => import('./customer.ts') },
  { name: 'tag', summary: 'Custom tags', load: () => import('./tag.ts') },
  { name: 'template', summary: "Messages to clients in the company's own words", load: () => import('./template.ts') },
  { name: 'client', summary: 'API clients, which use OAuth tokens', load: () => import('./client.ts') },
  { name: 'user', summary: 'People of a company, who sign in', load: () => import('./user.ts') },
  { name: 'key', summary: 'API keys for scripts', load: () => import('./key.ts') },
  {
    name: 'credential',
    summary: 'After a leak: trace and end everything that a key or a client created',
    load: () => import('./credential.ts'),
  },
  {
    name: 'secrets',
    summary: 'Encrypted secrets of video accounts and webhooks',
    load: () => import('./secrets.ts'),
  },
  { name: 'search', summary: 'The index of searches', load: () => import('./search.ts') },
  { name: 'events', summary: 'Events of a company', load: () => import('./events.ts') },
  { name: 'webhook', summary: 'Webhook endpoints and their deliveries', load: () => import('./webhook.ts') },
  { name: 'backup', summary: 'Backups of the bundled database', load: () => import('./backup.ts') },
  { name: 'restore', summary: 'Restore the bundled database from a backup', load: () => import('./restore.ts') },
  {
    name: 'held',
    summary: 'After a restore: what was due and may have been done already',
    load: () => import('./held.ts'),
  },
  {
    name: 'completion',
    summary: 'Completion for bash, zsh or fish',
    load: async () => ({ commands: (await import('./completion.ts')).completionCommands(GROUPS) }),
  },
];
