import { eventId, eventPosition } from '../../events/event-id.ts';
import { expandTypes } from '../../events/event-types.ts';
import type { Context } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/database/database.ts';
import { retryOnConflict } from '../../kernel/database/optimistic-retry.ts';
import { InvalidValue, invalidState, notFound } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { notifyWorkers } from '../../kernel/jobs/notify-workers.ts';
import { parseTime, toSql } from '../../kernel/time/time.ts';
import type { Form } from '../../kernel/validation/form.ts';
import type { Page, PageOfJson } from '../../kernel/validation/paging.ts';
import { assertMayReadEvents, showEndpoint, type WebhookSettings } from '../endpoints/verbs.ts';
import type { DeliveryQuery, ReplayBody } from './schema.ts';
import * as sql from './statements.sql.ts';

const MAX_REPLAYED_EVENTS = 10_000;
const MAX_WAITING_DELIVERIES = 50_000;

type Row = { id: string; position: string | null; json: string };

/** A ping is its own event. */
export const deliveryEventId = (key: Buffer, { id, position }: Pick<Row, 'id' | 'position'>): string =>
  position === null ? id : eventId(key, BigInt(position));

const withEventId = ({ company }: Context, row: Row): string =>
  `{"event_id" : "${deliveryEventId(company.eventKey, row)}", ${row.json.slice(1)}`;

export async function listDeliveries(
  context: Context,
  endpointId: string,
  query: Form<DeliveryQuery>,
  { limit, offset }: Page,
): Promise<PageOfJson> {
  const { db, company } = context;
  const { state = null, type = null } = query.body;
  const [from, to] = (['from', 'to'] as const).map((field) =>
    query.read(field, query.body[field], (text) => toSql(parseTime(text, company.timeZone))),
  );
  await showEndpoint(context, endpointId);
  query.check();
  const values = [company.id, endpointId, state, type, from ?? null, to ?? null];
  const rows = await db.queryRows<Row>(sql.listDeliveries, [...values, limit, offset]);
  const total = (await db.queryFirst<{ total: number }>(sql.countDeliveries, values))?.total ?? 0;
  return { json: `[${rows.map((row) => withEventId(context, row)).join(', ')}]`, total };
}

export async function showDelivery(context: Context, endpointId: string, id: string): Promise<string> {
  return withEventId(context, await findDelivery(context, endpointId, id));
}

async function findDelivery(context: Context, endpointId: string, id: string): Promise<Row & { state: string }> {
  const { db, company } = context;
  await showEndpoint(context, endpointId);
  const row = await db.queryFirst<Row & { state: string }>(sql.showDelivery, [company.id, endpointId, id]);
  if (!row) throw notFound('delivery');
  return row;
}

/** Goes out soon, whatever state the endpoint is in. One that waits already is as good. */
export async function pingEndpoint(context: Context, endpointId: string): Promise<string> {
  const { db, company, clock } = context;
  const endpoint = [company.id, endpointId];
  const ping = await retryOnConflict(
    async () => {
      const made = await db.queryFirst<Row>(sql.insertPing, [...endpoint, newId(), toSql(clock())]);
      const row = made ?? (await db.queryFirst<Row>(sql.findWaitingPing, endpoint));
      return row && withEventId(context, row);
    },
    async () => {
      await showEndpoint(context, endpointId);
    },
  );
  notifyWorkers(db);
  return ping;
}

/** Once more, as a delivery of its own of the same event. */
export async function replayDelivery(context: Context, endpointId: string, id: string): Promise<string> {
  const { company, clock } = context;
  const found = await findDelivery(context, endpointId, id);
  await assertMayReadEvents(context, endpointId);
  if (found.position === null) throw invalidState('event_type', 'a ping is not repeated; send another one');
  if (found.state === 'waiting') throw alreadyWaiting();
  const values = [company.id, endpointId, id, newId(), toSql(clock())];
  const row = await queueReplays(context, endpointId, (held) =>
    held.queryFirst<Row & Reordered>(sql.insertReplay, values),
  );
  if (!row) throw alreadyWaiting();
  return withEventId(context, row);
}

const alreadyWaiting = () => invalidState('state', 'the event is waiting to go out already');

/** Of which records something was put before others. */
type Reordered = { records: string[] | null };
type Queued = Reordered & { queued: number; last: string | null };

/** Everything in a range once more, as far as one request does it. */
export async function replayRange(
  context: Context,
  endpointId: string,
  form: Form<ReplayBody>,
  { eventTypes: known }: WebhookSettings,
): Promise<string> {
  const { company, clock } = context;
  await assertMayReadEvents(context, endpointId);
  const after = form.read('after', form.body.after, (text) => parseBound(context, text));
  const until = form.read('until', form.body.until, (text) => parseBound(context, text));
  const named = form.body.types;
  for (const [i, name] of (form.hasFault('types') ? [] : (named ?? [])).entries()) {
    form.read(`types[${i}]`, name, () => expandTypes(known, [name]));
  }
  const { types } = JSON.parse(await showEndpoint(context, endpointId));
  form.check();
  const bounds = [after?.position ?? null, until?.position ?? null, after?.at ?? null, until?.at ?? null];
  const values = [company.id, endpointId, toSql(clock()), named ?? types, ...bounds, MAX_REPLAYED_EVENTS];
  const found = await queueReplays(context, endpointId, (held) => held.queryFirst<Queued>(sql.insertReplays, values));
  const { queued = 0, last = null } = found ?? {};
  const next = queued === MAX_REPLAYED_EVENTS && last !== null ? eventId(company.eventKey, BigInt(last)) : null;
  return JSON.stringify({ queued, next });
}

/** Queues while nobody else does anything with the endpoint's deliveries, and gives each record its first one. */
async function queueReplays<T extends Reordered>(
  { db, company }: Context,
  endpointId: string,
  queue: (held: Executor) => Promise<T | undefined>,
): Promise<T | undefined> {
  const endpoint = [company.id, endpointId];
  const found = await db.queryFirst<{ waiting: number }>(sql.countWaiting, [...endpoint, MAX_WAITING_DELIVERIES + 1]);
  if (found && found.waiting > MAX_WAITING_DELIVERIES) {
    throw invalidState('deliveries', `more than ${MAX_WAITING_DELIVERIES} are waiting to go out already`);
  }
  const done = await db.transaction(async (held) => {
    if (!(await held.queryFirst(sql.lockEndpoint, endpoint))) throw notFound('webhook endpoint');
    const queued = await queue(held);
    if (queued?.records) await held.queryRows(sql.reorderDeliveries, [...endpoint, queued.records]);
    return queued;
  });
  notifyWorkers(db);
  return done;
}

/** The id of an event, or a time. */
function parseBound({ company }: Context, text: string): { position?: string; at?: string } {
  if (!text.startsWith('evt_')) return { at: toSql(parseTime(text, company.timeZone)) };
  const position = eventPosition(company.eventKey, text);
  if (position === undefined) throw new InvalidValue('unknown', 'is not the id of an event of the company');
  return { position: position.toString() };
}
