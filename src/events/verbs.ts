import { type AuditLog, NIL_CASE_ID } from '../kernel/audit/audit-log.ts';
import type { Context } from '../kernel/context.ts';
import type { Executor } from '../kernel/database/database.ts';
import { InvalidValue, notFound } from '../kernel/errors.ts';
import { type Statement, statement } from '../kernel/sql/statement.ts';
import type { Form } from '../kernel/validation/form.ts';
import { eventId, eventPosition } from './event-id.ts';
import { eventTypes, expandTypes } from './event-types.ts';
import { DEFAULT_EVENTS, type EventQuery, MAX_EVENTS } from './schema.ts';
import * as sql from './statements.sql.ts';
import { readWatermark } from './watermark.ts';

/** Some events as JSON, and the id after which the others follow. */
export type Events = { json: string; next: string };

export type EventReader = {
  ofCompany(context: Context, query: Form<EventQuery>): Promise<Events>;
  ofCase(context: Context, caseId: string, query: Form<EventQuery>): Promise<Events>;
  ofRecord(context: Context, log: AuditLog, key: RecordKey, query: Form<EventQuery>): Promise<Events>;
};

type RecordKey = { id: string; caseId: string | undefined };

const MAX_POSITION = 2n ** 63n - 1n;

export function eventReader(logs: readonly AuditLog[]): EventReader {
  const statements = sql.eventStatements(logs);
  const types = eventTypes(logs);
  const exists = new Map(
    logs.map((log) => [
      log.record,
      statement(`history.find_${log.record}`, log.exists({ company_id: '$1', id: '$2', case_id: '$3' })),
    ]),
  );

  return {
    async ofCompany(context, query) {
      const { asked, settled } = await parseRequestAndWatermark(context, query, types);
      query.check();
      return readEvents(context, asked, settled, statements.ofCompany, []);
    },
    async ofCase(context, caseId, query) {
      const { asked, settled } = await parseRequestAndWatermark(context, query, types);
      const events = await readEvents(context, asked, settled, statements.ofCase, [caseId]);
      // What belongs to no case stands in the log under an identifier that is no case either.
      const found = events.count > 0 || (await context.db.queryFirst(sql.findCase, [context.company.id, caseId]));
      if (!found || caseId === NIL_CASE_ID) throw notFound('case');
      query.check();
      return events;
    },
    async ofRecord(context, log, { id, caseId = NIL_CASE_ID }, query) {
      const asked = parseRequest(context, query, types);
      // A change of a record waits for the one before, so its entries are there in their order, without any bound.
      const bound = asked.after === 'latest' ? (await readWatermark(context.db)).position : MAX_POSITION;
      const which = [id, caseId, log.record];
      const events = await readEvents(context, asked, bound, statements.ofRecord, which);
      const found = events.count > 0 || (await context.db.queryFirst(existsIn(log), [context.company.id, id, caseId]));
      if (!found) throw notFound(log.record.replaceAll('_', ' '));
      query.check();
      return events;
    },
  };

  function existsIn({ record }: AuditLog): Statement {
    const found = exists.get(record);
    if (!found) throw new Error(`There is no log of ${record}.`);
    return found;
  }
}

type EventsRequest = { after: bigint | 'latest'; limit: number; types: string[] | null };

function parseRequest({ company }: Context, query: Form<EventQuery>, known: readonly string[]): EventsRequest {
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
      known,
      text.split(',').map((name) => name.trim()),
    ),
  );
  return { after: after ?? 0n, limit: limit ?? DEFAULT_EVENTS, types: types ?? null };
}

/** What is asked for, and how far it can be given. An id from beyond the end is of a log that has been lost. */
async function parseRequestAndWatermark(context: Context, query: Form<EventQuery>, known: readonly string[]) {
  const asked = parseRequest(context, query, known);
  const { position: settled, lastIssued: last } = await readWatermark(context.db);
  if (asked.after !== 'latest' && asked.after > last) {
    query.addFault('after', 'unknown', 'lies beyond the end of the log, which was restored from a backup: begin anew');
  }
  return { asked, settled };
}

async function readEvents(
  { db, company }: Context,
  { after, limit, types }: EventsRequest,
  settled: bigint,
  list: Statement,
  which: unknown[],
): Promise<Events & { count: number }> {
  const from = after === 'latest' ? await lastPosition(db, company.id, settled) : after;
  const values = [company.id, from.toString(), settled.toString(), limit, types, ...which];
  const rows = await db.queryRows<EventRow>(list, values);
  const found = rows.filter((row): row is FoundEvent => row.position !== null);
  const { last = null, chosen = 0 } = rows[0] ?? {};
  // Only ever the position of an event: one that an undone write took can be given again after a crash of the database.
  const cut = found.length === limit || found.length < chosen;
  const next = BigInt((cut ? found.at(-1)?.position : last) ?? from);
  return {
    json: `[${found.map(({ position, json }) => eventJson(company.eventKey, position, json)).join(', ')}]`,
    next: eventId(company.eventKey, next),
    count: found.length,
  };
}

async function lastPosition(db: Executor, company: string, bound: bigint): Promise<bigint> {
  const row = await db.queryFirst<{ position: string }>(sql.lastEvent, [company, bound.toString()]);
  return BigInt(row?.position ?? 0);
}

/** Up to where entries were looked at, and how many of them are of the right types. */
type ScanResult = { last: string | null; chosen: number };
type FoundEvent = ScanResult & { position: string; json: string };
type EventRow = FoundEvent | (ScanResult & { position: null; json: null });

export const eventJson = (key: Buffer, position: string, json: string): string =>
  `{"id": "${eventId(key, BigInt(position))}", ${json.slice(1)}`;
