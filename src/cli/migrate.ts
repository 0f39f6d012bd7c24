import { pendingMigrations, readMigrations } from '../kernel/schema/migrations.ts';
import { requireSafeServer } from '../kernel/schema/server-requirements.ts';
import { setUpDatabase } from '../server/database-setup.ts';
import type { Command } from './command.ts';
import { reachDatabase } from './database.ts';

export const commands: Command[] = [
  {
    name: 'migrate',
    summary: 'Bring the database up to date',
    description:
      'Applies the migrations that are missing, each as a whole, and says what the role of DATABASE_URL may do where DATABASE_OWNER_URL names another. "serve" does the same when it starts.',
    flags: { 'dry-run': { type: 'boolean', description: 'Only name what is missing.' } },
    examples: ['migrate', 'migrate --dry-run'],
    run: async ({ config, flags }) => {
      const { setup, leave } = await reachDatabase(config, { create: true });
      try {
        await requireSafeServer(setup.owner);
        const migrations = await readMigrations();
        const dry = flags['dry-run'] === true;
        const names = await (dry ? pendingMigrations(setup.owner, migrations) : setUpDatabase(setup, migrations));
        const verb = dry ? 'missing' : 'applied';
        const text = names.length > 0 ? names.map((name) => `${verb}: ${name}`).join('\n') : 'Nothing is missing.';
        return { json: JSON.stringify({ [verb]: names }), text };
      } finally {
        await leave();
      }
    },
  },
];
