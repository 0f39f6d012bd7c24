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

type DeliveryRow = { id: string; position: string | null; json: string };

/** Returns the id of the event. A ping is not in the log, so its delivery's id is used. */
export const deliveryEventId = (key: Buffer, { id, position }: Pick<DeliveryRow, 'id' | 'position'>): string =>
  position === null ? id : eventId(key, BigInt(position));

const withEventId = ({ company }: Context, row: DeliveryRow): string =>
  `{"event_id" : "${deliveryEventId(company.eventKey, row)}", ${row.json.slice(1)}`;

export async function listDeliveries(
  context: Context,
  endpointId: string,
  query: Form<DeliveryQuery>,
  { limit, offset }: Page,
): Promise<PageOfJson> {
  const { db, company } = context;
  const { state, type } = query.body;
  const [from, to] = (['from', 'to'] as const).map((field) =>
    query.read(field, query.body[field], (text) => toSql(parseTime(text, company.timeZone))),
  );
  await showEndpoint(context, endpointId);
  query.check();
  const filters = { company_id: company.id, endpoint_id: endpointId, state, type, from, to };
  const rows = await db.queryRows<DeliveryRow>(sql.listDeliveries({ ...filters, limit, offset }));
  const total = (await db.queryFirst<{ total: number }>(sql.countDeliveries(filters)))?.total ?? 0;
  return { json: `[${rows.map((row) => withEventId(context, row)).join(', ')}]`, total };
}

export async function showDelivery(context: Context, endpointId: string, id: string): Promise<string> {
  return withEventId(context, await findDelivery(context, endpointId, id));
}

async function findDelivery(
  context: Context,
  endpointId: string,
  id: string,
): Promise<DeliveryRow & { state: string }> {
  const { db, company } = context;
  await showEndpoint(context, endpointId);
  const row = await db.queryFirst<DeliveryRow & { state: string }>(
    sql.showDelivery({ company_id: company.id, endpoint_id: endpointId, id }),
  );
  if (!row) throw notFound('delivery');
  return row;
}

/** Queues a ping, or returns the one that is already waiting. */
export async function pingEndpoint(context: Context, endpointId: string): Promise<string> {
  const { db, company, clock } = context;
  const endpoint = { company_id: company.id, endpoint_id: endpointId };
  const ping = await retryOnConflict(
    async () => {
      const insert = sql.insertPing({ ...endpoint, id: newId(), now: toSql(clock()) });
      const inserted = await db.queryFirst<DeliveryRow>(insert);
      const row = inserted ?? (await db.queryFirst<DeliveryRow>(sql.findWaitingPing(endpoint)));
      return row && withEventId(context, row);
    },
    async () => {
      await showEndpoint(context, endpointId);
    },
  );
  notifyWorkers(db);
  return ping;
}

/** Sends the event again, as a new delivery. */
export async function replayDelivery(context: Context, endpointId: string, id: string): Promise<string> {
  const { company, clock } = context;
  const found = await findDelivery(context, endpointId, id);
  await assertMayReadEvents(context, endpointId);
  if (found.position === null) throw invalidState('event_type', 'a ping cannot be replayed; send a new one');
  if (found.state === 'waiting') throw alreadyWaiting();
  const insert = sql.insertReplay({
    company_id: company.id,
    endpoint_id: endpointId,
    replayed_id: id,
    id: newId(),
    now: toSql(clock()),
  });
  const row = await queueReplays(context, endpointId, (tx) => tx.queryFirst<DeliveryRow & Reordered>(insert));
  if (!row) throw alreadyWaiting();
  return withEventId(context, row);
}

const alreadyWaiting = () => invalidState('state', 'the event is already waiting to be sent');

/** The records that got a delivery ahead of others that were waiting. */
type Reordered = { records: string[] | null };
type QueuedReplays = Reordered & { queued: number; last: string | null };

/** Sends the events of a range again, up to the limit of one request. */
export async function replayRange(
  context: Context,
  endpointId: string,
  form: Form<ReplayBody>,
  { eventTypes }: WebhookSettings,
): Promise<string> {
  const { company, clock } = context;
  await assertMayReadEvents(context, endpointId);
  const after = form.read('after', form.body.after, (text) => parseBound(context, text));
  const until = form.read('until', form.body.until, (text) => parseBound(context, text));
  const requestedTypes = form.body.types;
  for (const [i, name] of (form.hasFault('types') ? [] : (requestedTypes ?? [])).entries()) {
    form.read(`types[${i}]`, name, () => expandTypes(eventTypes, [name]));
  }
  const { types } = JSON.parse(await showEndpoint(context, endpointId));
  form.check();
  const insert = sql.insertReplays({
    company_id: company.id,
    endpoint_id: endpointId,
    now: toSql(clock()),
    types: requestedTypes ?? types,
    after_position: after?.position,
    until_position: until?.position,
    from: after?.at,
    to: until?.at,
    max_events: MAX_REPLAYED_EVENTS,
  });
  const found = await queueReplays(context, endpointId, (tx) => tx.queryFirst<QueuedReplays>(insert));
  const { queued = 0, last = null } = found ?? {};
  const next = queued === MAX_REPLAYED_EVENTS && last !== null ? eventId(company.eventKey, BigInt(last)) : null;
  return JSON.stringify({ queued, next });
}

/**
 * Runs `queue` while the endpoint is locked, so no other worker or request changes its deliveries. A replay comes
 * before later events of its record, so the first delivery of each record is determined again.
 */
async function queueReplays<T extends Reordered>(
  { db, company }: Context,
  endpointId: string,
  queue: (tx: Executor) => Promise<T | undefined>,
): Promise<T | undefined> {
  const endpoint = { company_id: company.id, endpoint_id: endpointId };
  const count = sql.countWaiting({ ...endpoint, max: MAX_WAITING_DELIVERIES + 1 });
  const found = await db.queryFirst<{ waiting: number }>(count);
  if (found && found.waiting > MAX_WAITING_DELIVERIES) {
    throw invalidState(
      'deliveries',
      `more than ${MAX_WAITING_DELIVERIES} are already waiting; try again when fewer are`,
    );
  }
  const result = await db.transaction(async (tx) => {
    if (!(await tx.queryFirst(sql.lockEndpoint(endpoint)))) throw notFound('webhook endpoint');
    const queued = await queue(tx);
    if (queued?.records) await tx.queryRows(sql.reorderDeliveries({ ...endpoint, record_ids: queued.records }));
    return queued;
  });
  notifyWorkers(db);
  return result;
}

/** Parses the id of an event, or a time. */
function parseBound({ company }: Context, text: string): { position?: string; at?: string } {
  if (!text.startsWith('evt_')) return { at: toSql(parseTime(text, company.timeZone)) };
  const position = eventPosition(company.eventKey, text);
  if (position === undefined) throw new InvalidValue('unknown', 'is not the id of an event of the company');
  return { position: position.toString() };
}
