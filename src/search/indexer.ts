import type { Logger } from 'pino';
import { readWatermark } from '../events/watermark.ts';
import type { Database, Executor } from '../kernel/database/database.ts';
import { periodically } from '../kernel/periodic.ts';
import { type ContextRow, type DocumentRow, tsvector } from './document.ts';
import { type Kind, listCaseDocuments, loadContexts, loadDocuments } from './documents.sql.ts';
import * as sql from './indexing.sql.ts';

/** Raised whenever words are made in another way: all documents are then built anew, while the old ones are found. */
const EDITION = 2;
// A change of a customer indexes all records of the case again, and a step has a minute.
const MAX_EVENTS = 50;
const MAX_BUILT_CASES = 50;
const MAX_CHUNK_RECORDS = 500;

/** The kinds of documents by the record of an event. Other records cannot be searched. */
const KINDS_OF_RECORDS: Readonly<Record<string, Kind>> = {
  case: 'case',
  customer: 'customer',
  address_book_entry: 'entry',
  interaction: 'interaction',
  invoice: 'invoice',
  appointment: 'appointment',
};

type Options = { db: Database; signal?: AbortSignal };
const INTERVAL_MS = 1_000;
type Claim = {
  company_id: string;
  company_number: number;
  position: string;
  built_to: string | null;
  phone_region: string;
};
type Key = { kind: Kind; case_id: string; id: string };

/**
 * Indexes everything that has changed up to now. Each step is a transaction that also advances the progress of its
 * company, so a killed worker leaves nothing half done, and any number of workers can run.
 */
export async function indexChanges({ db, signal }: Options): Promise<void> {
  const watermark = String((await readWatermark(db)).position);
  await db.queryRows(sql.beginBuilding({ edition: EDITION, watermark }));
  while (!signal?.aborted && (await indexStep(db, watermark)));
}

/** Indexes what changes until it is stopped. */
export const indexContinuously = ({ db, logger }: { db: Database; logger: Logger }): (() => Promise<void>) =>
  periodically({
    intervalMs: INTERVAL_MS,
    work: (signal) => indexChanges({ db, signal }),
    logger,
    failureMessage: 'failed to index changes for searches; retrying',
  });

/** Returns false if there is nothing to do for any company. */
const indexStep = (db: Database, watermark: string): Promise<boolean> =>
  db.transaction(async (tx) => {
    const claim = await tx.queryFirst<Claim>(sql.claimCompany({ edition: EDITION, watermark }));
    if (!claim) return false;
    if (claim.built_to === null) await followEvents(tx, claim, watermark);
    else await buildCases(tx, claim, claim.built_to);
    return true;
  });

type ChangedRecord = {
  record: string;
  case_id: string;
  record_id: string;
  last_position: string;
  events: number;
  has_renamed_kind: boolean;
};

async function followEvents(tx: Executor, claim: Claim, watermark: string): Promise<void> {
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
    else if (kind) keys.push({ kind, case_id, id: record_id });
  }
  await indexRecords(
    tx,
    claim,
    keys.filter(({ case_id }) => !cases.has(case_id)),
  );
  await indexCases(tx, claim, [...cases]);
  const [first] = changed;
  const reached = first && first.events === MAX_EVENTS ? first.last_position : watermark;
  // All cases of a kind are found by its name.
  const builtTo = first?.has_renamed_kind ? sql.NOTHING_BUILT_ID : null;
  await tx.queryRows(sql.advance({ company_id, position: reached, built_to: builtTo }));
}

async function buildCases(tx: Executor, claim: Claim, after: string): Promise<void> {
  const { company_id, position } = claim;
  const next = await tx.queryRows<{ id: string }>(sql.nextCases({ company_id, after, limit: MAX_BUILT_CASES }));
  await indexCases(
    tx,
    claim,
    next.map(({ id }) => id),
  );
  const builtTo = next.length === MAX_BUILT_CASES ? next.at(-1)?.id : null;
  await tx.queryRows(sql.advance({ company_id, position, built_to: builtTo }));
}

async function indexCases(tx: Executor, claim: Claim, caseIds: string[]): Promise<void> {
  if (caseIds.length === 0) return;
  const { company_id } = claim;
  await indexRecords(tx, claim, await tx.queryRows<Key>(listCaseDocuments({ company_id, case_ids: caseIds })));
}

async function indexRecords(tx: Executor, claim: Claim, keys: readonly Key[]): Promise<void> {
  for (let start = 0; start < keys.length; start += MAX_CHUNK_RECORDS) {
    await indexChunk(tx, claim, keys.slice(start, start + MAX_CHUNK_RECORDS));
  }
}

async function indexChunk(tx: Executor, claim: Claim, keys: readonly Key[]): Promise<void> {
  const { company_id, company_number, phone_region } = claim;
  const columns = columnsOf(keys);
  const rows = await tx.queryRows<DocumentRow>(loadDocuments({ company_id, ...columns }));
  const caseIds = [...new Set(columns.case_ids)];
  const contexts = await tx.queryRows<ContextRow>(loadContexts({ company_id, case_ids: caseIds }));
  const contextByCase = new Map(contexts.map((context) => [context.case_id, context]));
  const found = new Map(rows.map((row) => [`${row.kind} ${row.id}`, row]));
  const documents = keys.map(({ kind, case_id, id }) => {
    const row = found.get(`${kind} ${id}`);
    return {
      at: row?.at ?? null,
      words: row ? tsvector(row, contextByCase.get(case_id), company_number, phone_region) : null,
    };
  });
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
