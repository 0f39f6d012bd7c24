import { pendingMigrations, readMigrations } from '../kernel/schema/migrations.ts';
import { requireSafeServer } from '../kernel/schema/server-requirements.ts';
import { setUpDatabase } from '../server/database-setup.ts';
import type { Command } from './command.ts';
import { acquireDatabase, migrationProgress } from './database.ts';

export const commands: Command[] = [
  {
    name: 'migrate',
    summary: 'Bring the database up to date',
    description:
      'Applies the missing migrations, each in a transaction. If DATABASE_OWNER_URL is set, it also grants the role ' +
      'of DATABASE_URL its privileges. "serve" does the same when it starts.',
    flags: { 'dry-run': { type: 'boolean', description: 'Only list the missing migrations.' } },
    examples: ['migrate', 'migrate --dry-run'],
    run: async ({ config, terminal, flags }) => {
      const { setup, release } = await acquireDatabase({ config, terminal, create: true });
      try {
        await requireSafeServer(setup.owner);
        const migrations = await readMigrations();
        const dryRun = flags['dry-run'] === true;
        const names = await (dryRun
          ? pendingMigrations(setup.owner, migrations)
          : setUpDatabase(setup, migrations, migrationProgress(terminal)));
        const verb = dryRun ? 'missing' : 'applied';
        const text = names.length > 0 ? names.map((name) => `${verb}: ${name}`).join('\n') : 'No migration is missing.';
        return { json: JSON.stringify({ [verb]: names }), text };
      } finally {
        await release();
      }
    },
  },
];
