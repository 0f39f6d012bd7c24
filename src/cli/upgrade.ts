import { join } from 'node:path';
import { pendingMigrations, readMigrations } from '../kernel/schema/migrations.ts';
import {
  installedRelease,
  isSwitchUnfinished,
  keptDirectories,
  majorOf,
  removeKept,
} from '../postgres/bundled-postgres.ts';
import { setUpDatabase } from '../server/database-setup.ts';
import {
  type CheckedMove,
  checkMove,
  type FinishedMove,
  findMove,
  type Move,
  type MoveOptions,
  moveDatabase,
} from '../upgrade/move-database.ts';
import { type PlannedMigration, planMigrations } from '../upgrade/plan-migrations.ts';
import { type Command, type CommandResult, type Invocation, UsageError } from './command.ts';
import { acquireDatabase, migrationProgress, stopAtSignal } from './database.ts';
import { megabytes } from './megabytes.ts';

/** Measured while the machine had fifteen times the work that its two cores can do. */
const MOVED_BYTES_PER_SECOND = 3e6;

export const commands: Command[] = [
  {
    name: 'upgrade',
    summary: 'Move the data to this version, or say before what that will do',
    description:
      'Moves the bundled database to the major version of PostgreSQL that this version of the service has, if it is ' +
      'older, and applies the missing migrations. Stop the service and its workers first. The old database is kept in ' +
      'DATA_DIR/postgres.old-…. If it is interrupted, run it again.',
    flags: {
      check: {
        type: 'boolean',
        description: 'Only say what will happen: migrations, locks, durations, disk space. The service may run.',
      },
      'old-programs': {
        type: 'string',
        placeholder: 'folder',
        description: 'The folder of the old PostgreSQL. Without it, npm fetches the programs.',
      },
      'remove-old': { type: 'boolean', description: 'Remove the old database, and its programs, after an upgrade.' },
    },
    examples: ['upgrade --check', 'upgrade', 'upgrade --remove-old'],
    run: async (invocation) => {
      const { check, 'remove-old': removesOld } = invocation.flags;
      if (check && removesOld) throw new UsageError('--check and --remove-old exclude each other.', 'upgrade');
      if (removesOld) return removeOld(invocation);
      return check ? checkUpgrade(invocation) : upgrade(invocation);
    },
  },
];

/** Returns the data directory of the bundled database; undefined if the operator has a server of their own. */
const bundledFolder = ({ config }: Invocation): string | undefined =>
  config.DATABASE_URL === undefined ? config.DATA_DIR : undefined;

const moveOptions = async ({ config, flags, terminal }: Invocation): Promise<MoveOptions> => ({
  dataDir: config.DATA_DIR,
  oldPrograms: flags['old-programs'] === undefined ? undefined : String(flags['old-programs']),
  migrations: await readMigrations(),
  onProgress: terminal.showProgress,
  onServer: stopAtSignal,
});

async function checkUpgrade(invocation: Invocation): Promise<CommandResult> {
  const dataDir = bundledFolder(invocation);
  const move = dataDir === undefined ? undefined : await findMove(dataDir);
  if (move) {
    const checked = await checkMove(move, await moveOptions(invocation));
    return checkResult(checked, checked.migrations);
  }
  const { setup, release } = await acquireDatabase({ ...invocation, create: false });
  try {
    const pending = await pendingMigrations(setup.owner, await readMigrations());
    return checkResult(undefined, await planMigrations(setup.owner, pending));
  } finally {
    await release();
  }
}

function checkResult(move: CheckedMove | undefined, migrations: PlannedMigration[]): CommandResult {
  const isPossible = !move || move.free > move.needed;
  return {
    json: JSON.stringify({ postgresql: move ? describeMove(move) : null, migrations }),
    text: [...(move ? moveLines(move) : []), ...migrationLines(migrations)].join('\n'),
    failed: !isPossible,
  };
}

const describeMove = ({ from, to, size, needed, free, refusedSettings }: CheckedMove) => ({
  from,
  to,
  bytes: size,
  needed_bytes: needed,
  free_bytes: free,
  seconds: moveSeconds({ size }),
  refused_settings: refusedSettings,
});

const moveSeconds = ({ size }: Pick<Move, 'size'>): number => Math.ceil(size / MOVED_BYTES_PER_SECOND) + 10;

function moveLines(move: CheckedMove): string[] {
  const { from, to, size, needed, free } = move;
  return [
    `PostgreSQL ${from} -> ${to}: "case-records upgrade" copies ${megabytes(size)}, in about ${duration(moveSeconds(move))}.`,
    '  The service and its workers are stopped meanwhile. The old database is kept beside the new one.',
    `  It needs about ${megabytes(needed)}; ${megabytes(free)} are free${free > needed ? '' : ': FREE SOME SPACE FIRST'}.`,
    '  The new version accepts the schema.',
    ...settingLines(move),
  ];
}

const settingLines = ({ refusedSettings }: Pick<CheckedMove, 'refusedSettings'>): string[] =>
  refusedSettings.map((setting) => `  The new version does not accept the setting of ${setting}.`);

function migrationLines(migrations: PlannedMigration[]): string[] {
  if (migrations.length === 0) return ['No migration is missing.'];
  return migrations.flatMap(({ migration, tables }) => [
    `Migration ${migration}${tables.length === 0 ? ': locks no table that is there' : ''}`,
    ...tables.map(({ table, lock, waits, work, bytes, seconds }) => {
      const what = work.length === 0 ? 'a moment' : `${work.join(', ')}: at most about ${duration(seconds)}`;
      return `  ${table} (${megabytes(bytes)}): ${lock}, ${waits}; ${what}`;
    }),
  ]);
}

const duration = (seconds: number): string =>
  seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;

async function upgrade(invocation: Invocation): Promise<CommandResult> {
  const { terminal } = invocation;
  const dataDir = bundledFolder(invocation);
  const mayMove = dataDir !== undefined && (await isNotCurrent(dataDir));
  const moved = mayMove ? await moveDatabase(await moveOptions(invocation)) : undefined;
  const { setup, release } = await acquireDatabase({ ...invocation, create: false });
  try {
    const applied = await setUpDatabase(setup, await readMigrations(), migrationProgress(terminal));
    const lines = applied.length > 0 ? applied.map((name) => `applied: ${name}`) : ['No migration is missing.'];
    return {
      json: JSON.stringify({
        postgresql: moved ? { from: moved.from, to: moved.to, kept: moved.kept } : null,
        applied,
      }),
      text: [...(moved ? movedLines(moved) : []), ...lines].join('\n'),
    };
  } finally {
    await release();
  }
}

/** Whether there is anything to move, or an interrupted move to end. A current database may be in use by the service. */
async function isNotCurrent(dataDir: string): Promise<boolean> {
  const { major } = await installedRelease();
  const current = await majorOf(join(dataDir, 'postgres'));
  return current === undefined ? isSwitchUnfinished(dataDir) : current !== major;
}

function movedLines(moved: FinishedMove): string[] {
  const { from, to, tables, sequences, bytes, seconds, kept } = moved;
  return [
    `PostgreSQL ${from} -> ${to}: ${tables} tables and ${sequences} sequences, ${megabytes(bytes)} of rows, in ` +
      `${duration(Math.ceil(seconds))}. Each table was compared with the original.`,
    ...settingLines(moved),
    `The old database is in ${kept}. Start the service; remove it with "case-records upgrade --remove-old" when all is well.`,
    'Backups of the old version can be restored with the old version only: give BACKUP_DIR a new folder.',
  ];
}

async function removeOld(invocation: Invocation): Promise<CommandResult> {
  const dataDir = bundledFolder(invocation);
  if (dataDir === undefined) throw new Error('--remove-old is for the bundled database. Unset DATABASE_URL.');
  const { major } = await installedRelease();
  if ((await majorOf(join(dataDir, 'postgres'))) !== major) {
    throw new Error(`${join(dataDir, 'postgres')} is not a database of PostgreSQL ${major}. Nothing was removed.`);
  }
  const removed = await keptDirectories(dataDir);
  for (const name of removed) {
    invocation.terminal.showProgress(`Removing ${name} …`);
    await removeKept(dataDir, name);
  }
  return {
    json: JSON.stringify({ removed }),
    text: removed.length > 0 ? `Removed: ${removed.join(', ')}.` : 'There is no old database.',
  };
}
