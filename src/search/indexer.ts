import type { Logger } from 'pino';
import { readWatermark } from '../events/watermark.ts';
import type { Database, Executor } from '../kernel/database/database.ts';
import { eventLoopPauses } from '../kernel/event-loop.ts';
import { periodically } from '../kernel/periodic.ts';
import type { Query } from '../kernel/sql/statement.ts';
import { type Clock, toSql } from '../kernel/time/time.ts';
import { type DocumentRow, tsvector } from './document.ts';
import { type Kind, listCaseDocuments, loadDocuments } from './documents.sql.ts';
import * as sql from './indexing.sql.ts';

/** Raised whenever words are made in another way: all documents are then built anew, while the old ones are found. */
const EDITION = 2;
const MAX_EVENTS = 50;
const MAX_BUILT_CASES = 50;
/** All records of a case are indexed anew when a customer changes. A step is a transaction, which has a minute. */
const MAX_STEP_RECORDS = 200;
/** With so many cases to index anew, the events of their company wait. */
const MAX_WAITING_CASES = 1_000;

/** The kinds of documents by the record of an event. Other records cannot be searched. */
const KINDS_OF_RECORDS: Readonly<Record<string, Kind>> = {
  case: 'case',
  customer: 'customer',
  address_book_entry: 'entry',
  interaction: 'interaction',
  invoice: 'invoice',
  appointment: 'appointment',
};

type Options = {
  db: Database;
  clock: Clock;
  logger: Logger;
  signal?: AbortSignal;
  maxStepRecords?: number;
};
const INTERVAL_MS = 1_000;
type Key = { kind: Kind; case_id: string; id: string };
type Claim = {
  company_id: string;
  company_number: number;
  position: string;
  built_to: string | null;
  phone_region: string;
  cases: string[];
  done_kind: Kind | null;
  done_id: string | null;
};
/** Does a part of what is to be done for a company, and returns what has changed of its progress. */
type Step = (tx: Executor, claim: Claim) => Promise<Partial<Claim>>;

/**
 * Indexes everything that has changed up to now. Each step is a transaction that also advances the progress of its
 * company, so a killed worker leaves nothing half done, and any number of workers can run. New events come before the next
 * part of a case that is indexed anew.
 */
export async function indexChanges(options: Options): Promise<void> {
  const { db, clock, signal, maxStepRecords = MAX_STEP_RECORDS } = options;
  const isStopped = () => signal?.aborted === true;
  let isDone = false;
  while (!isStopped() && !isDone) {
    const watermark = String((await readWatermark(db)).position);
    await db.queryRows(sql.beginBuilding({ edition: EDITION, watermark }));
    const claim = () => ({ edition: EDITION, now: toSql(clock()) });
    const claimEvents = () => sql.claimEvents({ ...claim(), watermark, max_cases: MAX_WAITING_CASES });
    while (!isStopped() && (await indexStep(options, claimEvents(), followEvents(watermark))));
    isDone = !(await indexStep(options, sql.claimCases(claim()), indexCases(maxStepRecords)));
  }
}

/** Indexes what changes until it is stopped. */
export const indexContinuously = (options: Pick<Options, 'db' | 'clock' | 'logger'>): (() => Promise<void>) =>
  periodically({
    intervalMs: INTERVAL_MS,
    work: (signal) => indexChanges({ ...options, signal }),
    logger: options.logger,
    failureMessage: 'failed to index changes for searches; retrying',
  });

/** Returns false if no company could be claimed. A company whose step fails waits, so that the others go on. */
async function indexStep({ db, clock, logger }: Options, claiming: Query, step: Step): Promise<boolean> {
  let companyId: string | undefined;
  try {
    return await db.transaction(async (tx) => {
      const claim = await tx.queryFirst<Claim>(claiming);
      if (!claim) return false;
      companyId = claim.company_id;
      const next = { ...claim, ...(await step(tx, claim)) };
      // A step of the events may succeed while the cases that wait fail again and again.
      const is_mended = next.position === claim.position || (claim.cases.length === 0 && claim.built_to === null);
      await tx.queryRows(sql.advance({ ...next, is_mended }));
      return true;
    });
  } catch (error) {
    if (companyId === undefined) throw error;
    logger.warn({ err: error, company: companyId }, 'failed to index changes of a company for searches; retrying');
    await db.queryRows(sql.postpone({ company_id: companyId, now: toSql(clock()) }));
    return true;
  }
}

type ChangedRecord = {
  record: string;
  case_id: string;
  record_id: string;
  last_position: string;
  events: number;
  has_renamed_kind: boolean;
};

const followEvents =
  (watermark: string): Step =>
  async (tx, claim) => {
    const { company_id, position } = claim;
    const changed = await tx.queryRows<ChangedRecord>(
      sql.changedRecords({ company_id, after: position, watermark, limit: MAX_EVENTS }),
    );
    const keys: Key[] = [];
    const cases = new Set<string>();
    for (const { record, case_id, record_id } of changed) {
      const kind = KINDS_OF_RECORDS[record];
      // All records of a case are found by its reference and by the names of its customers.
      if (kind === 'case') cases.add(record_id);
      else if (kind === 'customer') cases.add(case_id);
      if (kind) keys.push({ kind, case_id: kind === 'case' ? record_id : case_id, id: record_id });
    }
    await indexRecords(tx, claim, keys);
    const [first] = changed;
    return {
      position: first && first.events === MAX_EVENTS ? first.last_position : watermark,
      // All cases of a kind are found by its name.
      built_to: first?.has_renamed_kind ? sql.NOTHING_BUILT_ID : claim.built_to,
      cases: [...claim.cases, ...notWaiting(cases, claim)],
    };
  };

/** The first of the waiting cases may be half done, so it waits a second time if it changes. */
const notWaiting = (cases: ReadonlySet<string>, { cases: waiting, done_id }: Claim): string[] => [
  ...cases.difference(new Set(done_id === null ? waiting : waiting.slice(1))),
];

/** Indexes the next records of the cases that wait. If there are none, the next cases of an index that is built wait. */
const indexCases =
  (maxRecords: number): Step =>
  async (tx, claim) => {
    const { company_id } = claim;
    let { built_to, cases, done_kind, done_id } = claim;
    if (cases.length === 0 && built_to !== null) {
      const next = await tx.queryRows<{ id: string }>(
        sql.nextCases({ company_id, after: built_to, limit: MAX_BUILT_CASES }),
      );
      cases = next.map(({ id }) => id);
      built_to = cases.at(-1) ?? null;
    }
    const keys: Key[] = [];
    // A half-done case that has changed since waits twice, and a step cannot store a record twice.
    const begun = new Set<string>();
    for (let [case_id] = cases; case_id !== undefined && keys.length < maxRecords; [case_id] = cases) {
      if (begun.has(case_id)) break;
      begun.add(case_id);
      const after = { after_kind: done_kind ?? '', after_id: done_id ?? sql.NOTHING_BUILT_ID };
      const limit = maxRecords - keys.length;
      const page = await tx.queryRows<Key>(listCaseDocuments({ company_id, case_id, ...after, limit }));
      keys.push(...page);
      const last = page.length === limit ? page.at(-1) : undefined;
      if (!last) cases = cases.slice(1);
      [done_kind, done_id] = [last?.kind ?? null, last?.id ?? null];
    }
    await indexRecords(tx, claim, keys);
    return { built_to, cases, done_kind, done_id };
  };

async function indexRecords(tx: Executor, claim: Claim, keys: readonly Key[]): Promise<void> {
  if (keys.length === 0) return;
  const { company_id, company_number, phone_region } = claim;
  const columns = columnsOf(keys);
  const rows = await tx.queryRows<DocumentRow>(loadDocuments({ company_id, ...columns, with_cases: true }));
  const found = new Map(rows.map((row) => [`${row.kind} ${row.id}`, row]));
  const documents: { at: string | null; words: string | null }[] = [];
  const pause = eventLoopPauses();
  for (const { kind, id } of keys) {
    await pause();
    const row = found.get(`${kind} ${id}`);
    documents.push({
      at: row?.since ?? null,
      words: row ? tsvector(row, company_number, phone_region) : null,
    });
  }
  await tx.queryRows(
    sql.storeDocuments({
      company_id,
      ...columns,
      times: documents.map(({ at }) => at),
      words: documents.map(({ words }) => words),
    }),
  );
}

export const columnsOf = (keys: readonly Key[]) => ({
  kinds: keys.map(({ kind }) => kind),
  case_ids: keys.map(({ case_id }) => case_id),
  ids: keys.map(({ id }) => id),
});
