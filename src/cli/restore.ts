import { format } from '../backup/list.ts';
import { restoreDatabase } from '../backup/restore.ts';
import { Type } from '../kernel/validation/type.ts';
import { assertBundled } from './backup.ts';
import { type Command, UsageError } from './command.ts';
import { stopAtSignal } from './database.ts';

const ZONED_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:?\d\d)$/;

export const commands: Command[] = [
  {
    name: 'restore',
    argument: 'backup',
    summary: 'Restore the bundled database from a backup, to the second if WAL is archived',
    description:
      'Works on a DATA_DIR without a database. <backup> is one backup, or the folder of several: then it takes the ' +
      'newest one before the time. Messages, meetings and webhooks that were due by then wait for "held release". If ' +
      'it is interrupted, run it again: it starts from the beginning.',
    flags: {
      at: {
        type: 'string',
        placeholder: 'time',
        description: 'The time to restore, such as 2026-11-18T14:02:00Z; by default the last state of the archive.',
      },
    },
    resultSchema: Type.Object({ backup: Type.String(), state_at: Type.String(), directory: Type.String() }),
    examples: [
      'restore /var/backups/case-records',
      'restore /var/backups/case-records --at 2026-11-18T14:02:00Z',
      'restore /var/backups/case-records/20261118T030000Z',
    ],
    run: async ({ argument: path, flags, config, terminal }) => {
      assertBundled(config);
      const restored = await restoreDatabase({
        path,
        at: flags.at === undefined ? undefined : parseTime(String(flags.at)),
        dataDir: config.DATA_DIR,
        onProgress: terminal.showProgress,
        onServer: stopAtSignal,
      });
      const state = `the ${flags.at === undefined ? 'last archived state, ' : 'state '}of ${format(restored.state_at)}`;
      return {
        json: JSON.stringify(restored),
        text:
          `${restored.directory} has ${state}, from ${restored.backup}. Start the service. What was due by then waits: ` +
          'see "case-records held list". Keys that were revoked after that time are valid again.',
      };
    },
  },
];

function parseTime(text: string): Temporal.Instant {
  try {
    if (ZONED_TIME.test(text)) return Temporal.Instant.from(text);
  } catch {
    // A day or an hour that does not exist.
  }
  throw new UsageError(
    `--at must be a time with its zone, such as 2026-11-18T14:02:00Z or 2026-11-18T14:02:00+01:00, not "${text}".`,
    'restore',
  );
}
