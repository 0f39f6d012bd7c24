import type { Logger } from 'pino';
import { readWatermark } from '../../../events/watermark.ts';
import type { Database } from '../../../kernel/database/database.ts';
import { isMissingObject } from '../../../kernel/database/postgres-errors.ts';
import { periodically } from '../../../kernel/periodic.ts';
import { type Clock, toSql } from '../../../kernel/time/time.ts';
import * as sql from './keeping.sql.ts';

/** The sums are exact however late a worker is. A longer interval makes requests add more, and workers write less. */
const INTERVAL_MS = 5_000;
const FIRST_PAUSE_MS = 10_000;
const MAX_PAUSE_MS = 600_000;
/** After so many failures in a row the database is the likely cause, and not the companies. */
const MAX_FAILURES = 3;

/** Companies whose sums could not be kept, and when they are tried again. */
type Failures = Map<string, { count: number; retryAtMs: number }>;
type Options = { db: Database; clock: Clock; logger: Logger; signal?: AbortSignal; failures?: Failures };
type Outdated = { company_id: string; position: string | null; must_build: boolean };

/**
 * Has the kept sums of every company count what has changed up to now. Any number of workers can run; those that meet at a
 * company leave it to one of them.
 */
export async function keepInvoiceSums(options: Options): Promise<void> {
  const { db, clock, logger, signal, failures = new Map() } = options;
  const watermark = String((await readWatermark(db)).position);
  let failed = 0;
  for (const outdated of await findOutdated(options, watermark)) {
    const { company_id } = outdated;
    const failure = failures.get(company_id);
    if (failure && clock().epochMilliseconds < failure.retryAtMs) continue;
    if (signal?.aborted || failed === MAX_FAILURES) return;
    try {
      await keepSums(options, outdated, watermark);
      failures.delete(company_id);
      failed = 0;
    } catch (error) {
      const count = (failure?.count ?? 0) + 1;
      const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (count - 1));
      failures.set(company_id, { count, retryAtMs: clock().epochMilliseconds + pauseMs });
      failed++;
      logger.warn({ err: error, company: company_id }, 'failed to keep the sums of invoices of a company; retrying');
    }
  }
}

/** On the schema of the previous release there are no sums. */
async function findOutdated({ db, clock }: Options, watermark: string): Promise<Outdated[]> {
  try {
    return await db.queryRows<Outdated>(sql.findOutdated({ watermark, now: toSql(clock()) }));
  } catch (error) {
    if (!isMissingObject(error)) throw error;
    return [];
  }
}

/** In a transaction of its own, so that nothing else is committed later because of it. */
const keepSums = ({ db, clock }: Options, outdated: Outdated, watermark: string): Promise<void> =>
  db.transaction(async (tx) => {
    const { company_id, position, must_build } = outdated;
    if (!must_build && position !== null) {
      await tx.queryRows(sql.followEvents({ company_id, position, watermark }));
      return;
    }
    if (!(await tx.queryFirst(sql.beginBuilding({ company_id, position, watermark, now: toSql(clock()) })))) return;
    await tx.queryRows(sql.deleteSums({ company_id }));
    await tx.queryRows(sql.build({ company_id, watermark }));
  });

/** Keeps the sums until it is stopped. */
export function keepInvoiceSumsContinuously(options: Pick<Options, 'db' | 'clock' | 'logger'>): () => Promise<void> {
  const failures: Failures = new Map();
  return periodically({
    intervalMs: INTERVAL_MS,
    work: (signal) => keepInvoiceSums({ ...options, signal, failures }),
    logger: options.logger,
    failureMessage: 'failed to keep the sums of invoices; retrying',
  });
}
