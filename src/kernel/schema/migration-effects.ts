import { readFile } from 'node:fs/promises';

/** What a migration does with a table that is there before it. `npm run migrations` writes them by observing it. */
export type Effect = { table: string; lock: string; work: Work[] };

/**
 * `rewrite`: writes the whole table again. `index`: reads it to build an index. `check`: reads it to check a new rule.
 * `rows`: changes rows, at most all.
 */
export type Work = 'rewrite' | 'index' | 'check' | 'rows';

type Lock = { mode: string; name: string; waits: string };

/** Locks that matter, the weakest first, with what waits for them. */
export const LOCKS: readonly Lock[] = [
  { mode: 'RowExclusiveLock', name: 'ROW EXCLUSIVE', waits: 'writes of the same rows wait' },
  { mode: 'ShareUpdateExclusiveLock', name: 'SHARE UPDATE EXCLUSIVE', waits: 'nothing waits' },
  { mode: 'ShareLock', name: 'SHARE', waits: 'writes wait' },
  { mode: 'ShareRowExclusiveLock', name: 'SHARE ROW EXCLUSIVE', waits: 'writes wait' },
  { mode: 'ExclusiveLock', name: 'EXCLUSIVE', waits: 'writes wait' },
  { mode: 'AccessExclusiveLock', name: 'ACCESS EXCLUSIVE', waits: 'reads and writes wait' },
];

export const EFFECTS_FILE = new URL('../../../migrations/effects.json', import.meta.url);

export const readEffects = async (): Promise<Record<string, Effect[]>> =>
  JSON.parse(await readFile(EFFECTS_FILE, 'utf8'));

/** A disk that is slow reads or writes so much. The estimates are upper bounds on a better one. */
const BYTES_PER_SECOND = 25e6;
const INSTANT_SECONDS = 1;

/** Returns for how long a migration works on a table of this size, in whole seconds. */
export const estimateSeconds = ({ work }: Effect, bytes: number): number =>
  Math.max(INSTANT_SECONDS, Math.ceil((work.length * bytes) / BYTES_PER_SECOND));
