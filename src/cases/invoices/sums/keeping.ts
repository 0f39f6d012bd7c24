import type { Logger } from 'pino';
import { readWatermark } from '../../../events/watermark.ts';
import type { Database } from '../../../kernel/database/database.ts';
import { UnavailableError } from '../../../kernel/errors.ts';
import { periodically } from '../../../kernel/periodic.ts';
import { type Clock, type Instant, toSql } from '../../../kernel/time/time.ts';
import * as sql from './keeping.sql.ts';

const INTERVAL_MS = 1_000;

type Options = { db: Database; clock: Clock; logger: Logger; signal?: AbortSignal };
type Outdated = { company_id: string; position: string | null; must_build: boolean };

/** Has the kept sums of every company count what has changed up to now. Any number of workers can run. */
export async function keepInvoiceSums({ db, clock, logger, signal }: Options): Promise<void> {
  const watermark = String((await readWatermark(db)).position);
  const outdated = await db.queryRows<Outdated>(sql.findOutdated({ watermark, now: toSql(clock()) }));
  for (const { company_id, position, must_build } of outdated) {
    if (signal?.aborted) return;
    try {
      if (must_build || position === null) await buildSums(db, company_id, watermark, clock());
      else await db.queryRows(sql.followEvents({ company_id, position, watermark }));
    } catch (error) {
      if (error instanceof UnavailableError) throw error;
      logger.warn({ err: error, company: company_id }, 'failed to keep the sums of invoices of a company; retrying');
    }
  }
}

const buildSums = (db: Database, company_id: string, watermark: string, now: Instant): Promise<void> =>
  db.transaction(async (tx) => {
    if (!(await tx.queryFirst(sql.beginBuilding({ company_id, watermark, now: toSql(now) })))) return;
    await tx.queryRows(sql.deleteSums({ company_id }));
    await tx.queryRows(sql.build({ company_id, watermark }));
  });

/** Keeps the sums until it is stopped. */
export const keepInvoiceSumsContinuously = (options: Pick<Options, 'db' | 'clock' | 'logger'>): (() => Promise<void>) =>
  periodically({
    intervalMs: INTERVAL_MS,
    work: (signal) => keepInvoiceSums({ ...options, signal }),
    logger: options.logger,
    failureMessage: 'failed to keep the sums of invoices; retrying',
  });
