import { type AuditLog, NIL_CASE_ID } from '../kernel/audit/audit-log.ts';
import type { Context } from '../kernel/context.ts';
import type { Executor } from '../kernel/database/database.ts';
import { InvalidValue, notFound } from '../kernel/errors.ts';
import type { Query } from '../kernel/sql/statement.ts';
import type { Form } from '../kernel/validation/form.ts';
import { eventId, eventPosition } from './event-id.ts';
import { eventTypes, expandTypes } from './event-types.ts';
import { type CompanyEventQuery, DEFAULT_EVENTS, type EventQuery, MAX_EVENTS } from './schema.ts';
import * as sql from './statements.sql.ts';
import { readWatermark } from './watermark.ts';

/** A page of events as JSON, and the id that the next page starts after; undefined if there is no next page. */
export type EventPage = { json: string; next: string | undefined };

type EventReader = {
  one(context: Context, id: string): Promise<string>;
  ofCompany(context: Context, query: Form<CompanyEventQuery>): Promise<EventPage>;
  ofCase(context: Context, caseId: string, query: Form<EventQuery>): Promise<EventPage>;
  ofRecord(context: Context, log: AuditLog, key: RecordKey, query: Form<EventQuery>): Promise<EventPage>;
};

type RecordKey = { id: string; caseId: string | undefined };

const MAX_POSITION = 2n ** 63n - 1n;

export function eventReader(auditLogs: readonly AuditLog[]): EventReader {
  const statements = sql.eventStatements(auditLogs);
  const types = eventTypes(auditLogs);
  const existsByRecord = new Map(auditLogs.map((log) => [log.record, sql.existsStatement(log)]));

  return {
    async one({ db, company }, id) {
      const position = eventPosition(company.eventKey, id);
      if (position === undefined) throw notFound('event');
      const json = await db.queryJson(statements.one({ company_id: company.id, position: String(position) }));
      if (json === undefined) throw notFound('event');
      return eventJson(company.eventKey, String(position), json);
    },
    async ofCompany(context, query) {
      const { request, watermark } = await parseRequestAndWatermark(context, query, types);
      const isNewestFirst = query.body.order === 'newest';
      if (isNewestFirst && request.after === 'latest') {
        query.addFault('after', 'not_allowed', 'must be the id of an event if the newest comes first');
      }
      query.check();
      if (!isNewestFirst) return readEvents(context, request, watermark, statements.ofCompany);
      const newest = { ...request, after: query.body.after === undefined ? MAX_POSITION : request.after };
      const page = await readEvents(context, newest, watermark, statements.ofCompanyNewestFirst);
      return page.isLast ? { ...page, next: undefined } : page;
    },
    async ofCase(context, caseId, query) {
      const { request, watermark } = await parseRequestAndWatermark(context, query, types);
      const events = await readEvents(context, request, watermark, (page) =>
        statements.ofCase({ ...page, case_id: caseId }),
      );
      // Events of records outside any case have the nil case id, which is not a case.
      const findCase = sql.findCase({ company_id: context.company.id, case_id: caseId });
      const found = events.count > 0 || (await context.db.queryFirst(findCase));
      if (!found || caseId === NIL_CASE_ID) throw notFound('case');
      query.check();
      return events;
    },
    async ofRecord(context, log, { id, caseId = NIL_CASE_ID }, query) {
      const request = parseRequest(context, query, types);
      // Changes of one record wait for one another, so its events are complete and in order without the watermark.
      const bound = request.after === 'latest' ? (await readWatermark(context.db)).position : MAX_POSITION;
      const events = await readEvents(context, request, bound, (page) =>
        statements.ofRecord({ ...page, id, case_id: caseId, record_type: log.record }),
      );
      const findRecord = existsStatement(log)({ company_id: context.company.id, id, case_id: caseId });
      const found = events.count > 0 || (await context.db.queryFirst(findRecord));
      if (!found) throw notFound(log.record.replaceAll('_', ' '));
      query.check();
      return events;
    },
  };

  function existsStatement({ record }: AuditLog) {
    const found = existsByRecord.get(record);
    if (!found) throw new Error(`There is no audit log of ${record}.`);
    return found;
  }
}

type EventsRequest = { after: bigint | 'latest'; limit: number; types: string[] | null };

function parseRequest({ company }: Context, query: Form<EventQuery>, knownTypes: readonly string[]): EventsRequest {
  const { body } = query;
  const after = query.read('after', body.after, (id) => {
    if (id === 'latest') return id;
    const position = eventPosition(company.eventKey, id);
    if (position === undefined) throw new InvalidValue('unknown', 'is not the id of an event of the company');
    return position;
  });
  const limit = query.read('limit', body.limit, (value) => {
    if (Number(value) > MAX_EVENTS) throw new InvalidValue('out_of_range', `must not be more than ${MAX_EVENTS}`);
    return Number(value);
  });
  const types = query.read('types', body.types, (text) =>
    expandTypes(
      knownTypes,
      text.split(',').map((name) => name.trim()),
    ),
  );
  return { after: after ?? 0n, limit: limit ?? DEFAULT_EVENTS, types: types ?? null };
}

const RESTORED = 'was restored from a backup: start again without it';

const existsEvent = async ({ db, company }: Context, position: bigint): Promise<boolean> =>
  (await db.queryFirst(sql.findEvent({ company_id: company.id, position: String(position) }))) !== undefined;

/** Rejects an id of an event that is lost, because the database was restored from a backup. */
async function parseRequestAndWatermark(context: Context, query: Form<EventQuery>, knownTypes: readonly string[]) {
  const request = parseRequest(context, query, knownTypes);
  const { position: watermark, lastIssued, isRestored } = await readWatermark(context.db);
  const { after } = request;
  if (after === 'latest') return { request, watermark };
  if (after > lastIssued) {
    query.addFault('after', 'unknown', `is beyond the end of the log, which ${RESTORED}`);
  } else if (isRestored && after > 0n && !(await existsEvent(context, after))) {
    // Positions of lost events can be below those of others, because transactions commit in another order.
    query.addFault('after', 'unknown', `names an event that is lost: the log ${RESTORED}`);
  }
  return { request, watermark };
}

async function readEvents(
  { db, company }: Context,
  { after, limit, types }: EventsRequest,
  bound: bigint,
  list: (page: sql.EventPageInputs) => Query,
): Promise<EventPage & { count: number; isLast: boolean }> {
  const from = after === 'latest' ? await lastPosition(db, company.id, bound) : after;
  const page = { company_id: company.id, after: from.toString(), bound: bound.toString(), limit, types };
  const rows = await db.queryRows<EventRow>(list(page));
  const found = rows.filter((row): row is FoundEvent => row.position !== null);
  const { last_scanned = null, scanned = 0, matching = 0 } = rows[0] ?? {};
  // A page must start after a stored event: the position of a rolled-back write can be issued again after a crash.
  const isCut = found.length === limit || found.length < matching;
  const next = BigInt((isCut ? found.at(-1)?.position : last_scanned) ?? from);
  return {
    json: `[${found.map(({ position, json }) => eventJson(company.eventKey, position, json)).join(', ')}]`,
    next: eventId(company.eventKey, next),
    count: found.length,
    isLast: !isCut && scanned < (types === null ? limit : sql.MAX_SCANNED_EVENTS),
  };
}

async function lastPosition(db: Executor, companyId: string, bound: bigint): Promise<bigint> {
  const row = await db.queryFirst<{ position: string }>(
    sql.findLastPosition({ company_id: companyId, bound: bound.toString() }),
  );
  return BigInt(row?.position ?? 0);
}

/** The last position that was scanned, how many events were, and how many of them have a requested type. */
type ScanResult = { last_scanned: string | null; scanned: number; matching: number };
type FoundEvent = ScanResult & { position: string; json: string };
type EventRow = FoundEvent | (ScanResult & { position: null; json: null });

/** Adds the id to the JSON of an event. It is not a column: it is the position, encrypted with the company's key. */
export const eventJson = (key: Buffer, position: string, json: string): string =>
  `{"id": "${eventId(key, BigInt(position))}", ${json.slice(1)}`;
