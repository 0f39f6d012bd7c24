import type { Context } from '../kernel/context.ts';
import { InvalidValue, notFound } from '../kernel/errors.ts';
import type { Form } from '../kernel/form.ts';
import type { RecordLog } from '../kernel/record-log.ts';
import { type Statement, statement } from '../kernel/sql.ts';
import { eventId, positionOf } from './event-id.ts';
import { meantTypes, typesOf } from './event-types.ts';
import { type EventQuery, MOST_EVENTS, USUAL_EVENTS } from './events.schema.ts';
import * as sql from './events.sql.ts';

/** Some events as JSON, and the id after which the others follow. */
export type Events = { json: string; next: string };

export type EventReader = {
  ofCompany(context: Context, query: Form<EventQuery>): Promise<Events>;
  ofCase(context: Context, caseId: string, query: Form<EventQuery>): Promise<Events>;
  ofRecord(context: Context, log: RecordLog, key: RecordKey, query: Form<EventQuery>): Promise<Events>;
};

type RecordKey = { id: string; caseId: string | null };

export function eventReader(logs: readonly RecordLog[]): EventReader {
  const statements = sql.eventStatements(logs);
  const types = typesOf(logs);
  const exists = new Map(logs.map((log) => [log.record, statement(`events.find_${log.record}`, log.exists)]));
  const read = (context: Context, query: Form<EventQuery>, list: Statement, which: unknown[]) =>
    readEvents(context, readAsked(context, query, types), list, which);

  return {
    ofCompany(context, query) {
      const asked = readAsked(context, query, types);
      query.check();
      return readEvents(context, asked, statements.ofCompany, []);
    },
    async ofCase(context, caseId, query) {
      const events = await read(context, query, statements.ofCase, [caseId]);
      if (events.count === 0 && !(await context.db.first(sql.findCase, [context.company.id, caseId]))) {
        throw notFound('case');
      }
      query.check();
      return events;
    },
    async ofRecord(context, log, { id, caseId }, query) {
      const events = await read(context, query, statements.ofRecord, [id, caseId, log.record]);
      const found = events.count > 0 || (await context.db.first(existsIn(log), [context.company.id, id, caseId]));
      if (!found) throw notFound(log.record.replaceAll('_', ' '));
      query.check();
      return events;
    },
  };

  function existsIn({ record }: RecordLog): Statement {
    const found = exists.get(record);
    if (!found) throw new Error(`There is no log of ${record}.`);
    return found;
  }
}

type Asked = { after: bigint | 'latest'; limit: number; types: string[] | null };

function readAsked({ company }: Context, query: Form<EventQuery>, known: readonly string[]): Asked {
  const { body } = query;
  const after = query.read('after', body.after, (id) => {
    if (id === 'latest') return id;
    const position = positionOf(company.eventKey, id);
    if (position === undefined) throw new InvalidValue('unknown', 'is not the id of an event of the company');
    return position;
  });
  const limit = query.read('limit', body.limit, (value) => {
    if (Number(value) > MOST_EVENTS) throw new InvalidValue('out_of_range', `must not be more than ${MOST_EVENTS}`);
    return Number(value);
  });
  const types = query.read('types', body.types, (text) =>
    meantTypes(
      known,
      text.split(',').map((name) => name.trim()),
    ),
  );
  return { after: after ?? 0n, limit: limit ?? USUAL_EVENTS, types: types ?? null };
}

async function readEvents(
  { db, company }: Context,
  { after, limit, types }: Asked,
  list: Statement,
  which: unknown[],
): Promise<Events & { count: number }> {
  const settled = BigInt((await db.first<{ position: string }>(sql.settledEvents, [company.id]))?.position ?? 0);
  const from = after === 'latest' ? settled : after;
  const values = [company.id, from.toString(), settled.toString(), limit, types, ...which];
  const rows = await db.rows<{ position: string; json: string }>(list, values);
  const last = rows.length === limit ? rows.at(-1) : undefined;
  // Where nothing is left, what follows is looked for from where everything has been seen.
  const next = last ? BigInt(last.position) : from > settled ? from : settled;
  return {
    json: `[${rows.map(({ position, json }) => withId(company.eventKey, position, json)).join(', ')}]`,
    next: eventId(company.eventKey, next),
    count: rows.length,
  };
}

export const withId = (key: Buffer, position: string, json: string): string =>
  `{"id": "${eventId(key, BigInt(position))}", ${json.slice(1)}`;
