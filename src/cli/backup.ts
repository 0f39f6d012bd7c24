import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { assertFolder } from '../backup/backup-folder.ts';
import { takeOverFolder } from '../backup/claim.ts';
import { createBackup } from '../backup/create.ts';
import { format, listReach } from '../backup/list.ts';
import { lowerPriority } from '../backup/low-priority.ts';
import { pruneBackups } from '../backup/prune.ts';
import { verifyBackup } from '../backup/verify.ts';
import type { Config } from '../config.ts';
import { readMigrations } from '../kernel/schema/migrations.ts';
import { Type } from '../kernel/validation/type.ts';
import { type Command, UsageError } from './command.ts';
import { acquireDatabase, stopAtSignal } from './database.ts';
import { megabytes } from './megabytes.ts';

const OWN_SERVER =
  'Backups are for the bundled database. Back up the server of DATABASE_URL with its own tools, such as pgBackRest: ' +
  'see docs/operations.md.';

export function assertBundled({ DATABASE_URL }: Config): void {
  if (DATABASE_URL !== undefined) throw new Error(OWN_SERVER);
}

export const commands: Command[] = [
  {
    name: 'backup create',
    argument: 'folder',
    summary: 'Back up the bundled database while the service runs',
    description:
      'Writes a folder named after the time, with one compressed archive and its checksums. It gets that name when ' +
      'it is complete. If it is interrupted, run it again: what it left is removed.',
    flags: {
      gently: {
        type: 'boolean',
        description:
          'Disturb the service less: the checkpoint takes minutes, and copying a twentieth of the processors. ' +
          'Scheduled backups do so.',
      },
    },
    resultSchema: Type.Object({
      backup: Type.String(),
      files: Type.Integer(),
      bytes: Type.Integer(),
      at: Type.String(),
    }),
    examples: ['backup create /var/backups/case-records'],
    run: async ({ argument: folder, config, flags, terminal }) => {
      assertBundled(config);
      await lowerPriority();
      const { setup, release } = await acquireDatabase({ config, terminal, create: false });
      try {
        const { name, manifest } = await createBackup({
          connection: setup.owner,
          dataDir: config.DATA_DIR,
          folder,
          serviceVersion: packageJson.version,
          gently: flags.gently === true,
          onProgress: terminal.showProgress,
        });
        const { archive, files, stopped_at: at } = manifest;
        const backup = join(folder, name);
        return {
          json: JSON.stringify({ backup, files: files.length, bytes: archive.size, at }),
          text: `${backup} was made: ${files.length} files, ${megabytes(archive.size)}, the state of ${format(at)}.`,
        };
      } finally {
        await release();
      }
    },
  },
  {
    name: 'backup list',
    argument: 'folder',
    summary: 'List the backups of a folder, and the times that they can restore',
    description:
      'The time of `until` is that of the last archived change. It is later than `from` if WAL is archived. A backup is ' +
      'listed again for each restore since: what was written between the restored time and the restore stays within reach.',
    resultSchema: Type.Array(Type.Object({ backup: Type.String(), from: Type.String(), until: Type.String() })),
    examples: ['backup list /var/backups/case-records'],
    run: async ({ argument: folder, terminal }) => {
      terminal.showProgress('Reading the backups …');
      await assertFolder(folder);
      const backups = (await listReach(folder)).map(({ name, manifest, from, until }) => ({
        backup: name,
        from: from.toString(),
        until: until.toString(),
        size: megabytes(manifest.archive.size),
        postgresql: manifest.postgres_major,
      }));
      return { json: JSON.stringify(backups), columns: ['backup', 'from', 'until', 'size', 'postgresql'] };
    },
  },
  {
    name: 'backup verify',
    argument: 'backup',
    summary: 'Check a backup: its checksums, and the database of a copy that is started on the side',
    description:
      'The copy needs the space of the whole database beside the backup. It is removed at the end. The service may run.',
    examples: ['backup verify /var/backups/case-records/20261118T030000Z'],
    run: async ({ argument: backup, terminal }) => {
      await lowerPriority();
      const knownMigrations = (await readMigrations()).map(({ name }) => name);
      const verified = await verifyBackup({
        backup,
        knownMigrations,
        onProgress: terminal.showProgress,
        onServer: stopAtSignal,
      });
      const { files, bytes, tables_checked, indexes_checked, last_migration, rows } = verified;
      const counts = Object.entries(rows).map(([table, count]) => `${count} ${table}`);
      return {
        json: JSON.stringify(verified),
        text:
          `${backup} is good: ${files} files, ${megabytes(bytes)}; ${tables_checked} tables and ${indexes_checked} ` +
          `indexes are intact; the last migration is ${last_migration}; ${counts.join(', ')}.`,
      };
    },
  },
  {
    name: 'backup take-over',
    argument: 'folder',
    summary: 'Go on with the backups of an installation that has ended',
    description:
      'After a restore on another machine, or into another DATA_DIR. The installation that used the folder before can ' +
      'no longer write to it.',
    examples: ['backup take-over /var/backups/case-records'],
    run: async ({ argument: folder, config }) => {
      assertBundled(config);
      await takeOverFolder(folder, config.DATA_DIR);
      return {
        json: JSON.stringify({ folder }),
        text: `${folder} belongs to the installation in ${config.DATA_DIR} now.`,
      };
    },
  },
  {
    name: 'backup prune',
    argument: 'folder',
    summary: 'Remove old backups, and the WAL that no kept one needs',
    flags: {
      keep: { type: 'string', placeholder: 'number', required: true, description: 'How many backups to keep.' },
    },
    examples: ['backup prune /var/backups/case-records --keep 7'],
    run: async ({ argument: folder, flags, terminal }) => {
      const keep = Number(flags.keep);
      if (!/^[1-9]\d{0,5}$/.test(String(flags.keep))) {
        throw new UsageError(`--keep must be a whole number of at least 1, not "${flags.keep}".`, 'backup prune');
      }
      await assertFolder(folder);
      const result = await pruneBackups(folder, keep, terminal.showProgress);
      const removed = result.removed.length > 0 ? `Removed ${result.removed.join(', ')}` : 'Removed no backup';
      return {
        json: JSON.stringify(result),
        text: `${removed} and ${result.wal_removed} WAL files. Kept ${result.kept.length}.`,
      };
    },
  },
];
