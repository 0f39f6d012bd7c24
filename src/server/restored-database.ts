import { type RestoreMark, readRestoreMark, removeRestoreMark } from '../backup/restore-mark.ts';
import { APPOINTMENT_HELD_JOBS } from '../cases/appointments/held.ts';
import { endRestored } from '../company/credentials/links/verbs.ts';
import { recordRestore } from '../events/restores.ts';
import { type Connection, Database } from '../kernel/database/database.ts';
import type { HeldJobs } from '../kernel/jobs/held-jobs.ts';
import type { Clock } from '../kernel/time/time.ts';
import { queueRestoredEvents, WEBHOOK_HELD_JOBS } from '../webhooks/held.ts';

/** Everything that a restored database, or an imported company, could do a second time. */
export const HELD_JOBS: readonly HeldJobs[] = [...APPOINTMENT_HELD_JOBS, ...WEBHOOK_HELD_JOBS];

type RestoredDatabase = {
  /** The owner of the tables. */
  owner: Connection;
  clock: Clock;
};

/** How many jobs of each kind are held. */
export type HeldCounts = Record<string, number>;

/** Returns how many jobs of a company are held. */
export async function countHeld(db: Database, companyId: string): Promise<HeldCounts> {
  const counts: HeldCounts = {};
  for (const { kind, list } of HELD_JOBS) counts[kind] = (await list(db, { companyId, limit: 1 })).total;
  return counts;
}

export const describeHeld = (counts: HeldCounts): string =>
  Object.entries(counts)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ');

/**
 * Acts upon the mark of a restored data directory, after the migrations and before anything else uses the database. The
 * mark is removed at the end, so an interrupted start is repeated. Returns undefined without a mark.
 */
export async function actUponRestore(
  database: RestoredDatabase & { dataDir: string },
): Promise<{ state_at: string; held: HeldCounts } | undefined> {
  const mark = await readRestoreMark(database.dataDir);
  if (!mark) return undefined;
  const held = await holdRestored(database, mark);
  await removeRestoreMark(database.dataDir);
  return { state_at: mark.stateAt.toString(), held };
}

/**
 * Holds what was due, because it may have been done after the backup, and moves the positions of the event log on.
 * Each step can be repeated for the same restore. No service and no worker may use the database meanwhile.
 */
export async function holdRestored({ owner, clock }: RestoredDatabase, restore: RestoreMark): Promise<HeldCounts> {
  const db = new Database({ connection: owner, poolSize: 1 });
  try {
    const { restoredAt, lastPosition } = await recordRestore(db, restore, clock());
    await queueRestoredEvents(db, lastPosition, restoredAt);
    await endRestored(db, clock);
    const held: HeldCounts = {};
    for (const jobs of HELD_JOBS) held[jobs.kind] = await jobs.hold(db, restoredAt);
    return held;
  } finally {
    await db.close();
  }
}
