import { setTimeout as pause } from 'node:timers/promises';
import { addFault, type Results } from './chaos-test.ts';
import type { Demo, Deployment } from './deployment.ts';
import type { HttpClient, HttpResponse } from './http-client.ts';
import { FIND_STAMPS, recordPath } from './write-kinds.ts';
import type { Write, WriteLoad } from './write-load.ts';

/** Compares acknowledged writes with the database: records, events, messages and stored responses. */

type Event = {
  id: string;
  type: string;
  request_id: string | null;
  record: { type: string; id: string };
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
};

const MAX_CONCURRENT = 16;
const MAX_REPLAYS = 60;
const RETRY_TIMEOUT_MS = 20_000;
const RETRY_INTERVAL_MS = 50;
const PAGE_SIZE = 500;

export class WriteVerifier {
  readonly #deployment: Deployment;
  readonly #client: HttpClient;
  readonly #demo: Demo;
  readonly #results: Results;
  readonly #eventsByStamp = new Map<string, Event[]>();
  #lastEventId: string | undefined;

  constructor(deployment: Deployment, client: HttpClient, demo: Demo, results: Results) {
    this.#deployment = deployment;
    this.#client = client;
    this.#demo = demo;
    this.#results = results;
  }

  /** Verifies the writes of a load after the service has recovered. */
  async check(load: WriteLoad): Promise<void> {
    const { writes } = load;
    await this.#checkReplays(load);
    await this.#readEvents(writes);
    for (const write of writes) this.#checkEvents(write);
    this.#checkOrder(writes);
    await this.#checkTables(writes);
    await this.#checkRecords(writes);
    await this.#checkMessages(writes);
  }

  /** Verifies all writes again at the end, when transactions of killed processes have ended as well. */
  async checkAll(loads: WriteLoad[]): Promise<void> {
    const writes = loads.flatMap((load) => load.writes);
    await this.#readEvents(writes);
    for (const write of writes) this.#checkCount(write);
    await this.#checkTables(writes);
  }

  async #checkReplays(load: WriteLoad): Promise<void> {
    const keyed = load.writes.filter(({ idempotencyKey }) => idempotencyKey !== undefined);
    const acknowledged = keyed.filter(({ response }) => response !== undefined).slice(-MAX_REPLAYS);
    await forEachConcurrently(acknowledged, async (write) => {
      const first = write.response;
      const outcome = await load.send(write);
      const { text, headers = {} } = outcome as HttpResponse;
      if (outcome.status !== 200 || headers['idempotency-replayed'] !== 'true' || text !== first) {
        this.#results.lost++;
        addFault(this.#results, `${describeWrite(write)}: its stored response is missing: ${outcome.status} ${text}`);
      }
    });
    // Writes beyond the limit may or may not have been performed, like those without a key.
    const unacknowledged = keyed.filter(({ response }) => response === undefined).slice(0, MAX_REPLAYS);
    await forEachConcurrently(unacknowledged, async (write) => {
      const deadline = performance.now() + RETRY_TIMEOUT_MS;
      while (write.response === undefined && performance.now() < deadline) {
        await load.send(write);
        if (write.response === undefined) await pause(RETRY_INTERVAL_MS);
      }
      if (write.response === undefined) addFault(this.#results, `${describeWrite(write)} could not be retried`);
    });
  }

  async #readEvents(writes: Write[]): Promise<void> {
    const deadline = performance.now() + RETRY_TIMEOUT_MS;
    for (;;) {
      const after = this.#lastEventId === undefined ? '' : `&after=${this.#lastEventId}`;
      const page: Event[] = await this.#client.get(`/events?limit=${PAGE_SIZE}${after}`);
      for (const event of page) {
        const stamp = event.request_id?.split('.')[0] ?? '';
        this.#eventsByStamp.set(stamp, [...(this.#eventsByStamp.get(stamp) ?? []), event]);
      }
      this.#lastEventId = page.at(-1)?.id ?? this.#lastEventId;
      const missing = writes.some((write) => write.response !== undefined && this.#eventsOf(write).length === 0);
      if (page.length === PAGE_SIZE) continue;
      if (!missing || performance.now() > deadline) return;
      await pause(RETRY_INTERVAL_MS);
    }
  }

  #eventsOf({ stamp, kind }: Write): Event[] {
    return (this.#eventsByStamp.get(stamp) ?? []).filter(({ record }) => record.type === kind.record);
  }

  #checkCount(write: Write): Event | undefined {
    const events = this.#eventsOf(write);
    if (events.length === 0 && write.response !== undefined) {
      this.#results.lost++;
      addFault(this.#results, `${describeWrite(write)} was acknowledged and has no event`);
    }
    if (events.length > 1) {
      this.#results.duplicated++;
      addFault(this.#results, `${describeWrite(write)} has ${events.length} events`);
    }
    return events[0];
  }

  /** The event must describe this write: its type, its record and the values that it wrote. */
  #checkEvents(write: Write): void {
    const event = this.#checkCount(write);
    if (!event) return;
    const { kind, stamp } = write;
    const matches =
      event.type === `${kind.record}.${kind.verb}` &&
      (event.before === null) === (kind.creates === true) &&
      (write.recordId === undefined || write.recordId === event.record.id) &&
      (!kind.stamped || JSON.stringify(event.after).includes(stamp));
    if (!matches) this.#addHalfWritten(`${describeWrite(write)}: its event is ${JSON.stringify(event)}`);
  }

  /** The state before an event must be what the previous write of the record has written. */
  #checkOrder(writes: Write[]): void {
    const latest = new Map<string, string>();
    for (const write of writes) {
      const [event] = this.#eventsOf(write);
      if (!event) continue;
      const before = latest.get(event.record.id);
      if (before !== undefined && !JSON.stringify(event.before).includes(before))
        this.#addHalfWritten(`${describeWrite(write)}: the state before its event is not that of ${before}`);
      if (write.kind.stamped) latest.set(event.record.id, write.stamp);
    }
  }

  async #checkTables(writes: Write[]): Promise<void> {
    for (const [table, statement] of Object.entries(FIND_STAMPS)) {
      const stamped = writes.filter(({ kind }) => (table === 'payment' ? kind.name : kind.record) === table);
      const rows = await this.#deployment.sql<{ stamp: string }>(statement, [stamped.map(({ stamp }) => stamp)]);
      const counts = new Map<string, number>();
      for (const { stamp } of rows) counts.set(stamp, (counts.get(stamp) ?? 0) + 1);
      for (const write of stamped) {
        const count = counts.get(write.stamp) ?? 0;
        if (count > 1) {
          this.#results.duplicated++;
          addFault(this.#results, `${describeWrite(write)} is ${count} times in its table`);
        }
        const hasEvent = this.#eventsOf(write).length > 0;
        if (count === 1 && !hasEvent) this.#addHalfWritten(`${describeWrite(write)} is in its table and has no event`);
        if (count === 0 && hasEvent && table === 'payment')
          this.#addHalfWritten(`${describeWrite(write)} has an event and is not in its table`);
      }
    }
  }

  /** Each record must have the values of its last write. */
  async #checkRecords(writes: Write[]): Promise<void> {
    const last = new Map<string, { write: Write; stamp: string | undefined }>();
    for (const write of writes) {
      const [event] = this.#eventsOf(write);
      if (!event) continue;
      const stamp =
        write.kind.stamped && write.kind.name !== 'payment' ? write.stamp : last.get(event.record.id)?.stamp;
      last.set(event.record.id, { write, stamp });
    }
    await forEachConcurrently([...last], async ([id, { write, stamp }]) => {
      const path = recordPath(this.#demo, write.kind.record, id);
      const outcome = (await this.#client.send({ method: 'GET', path })) as HttpResponse;
      const isCurrent = outcome.status === 200 && (stamp === undefined || outcome.text.includes(stamp));
      if (write.kind.deletes ? outcome.status !== 404 : !isCurrent) {
        this.#results.lost++;
        addFault(this.#results, `${describeWrite(write)}: the record is ${outcome.status} ${outcome.text}`);
      }
    });
  }

  /** An appointment must have four messages; a deleted one must have no scheduled message. */
  async #checkMessages(writes: Write[]): Promise<void> {
    const lastWrites = new Map<string, Write>();
    for (const write of writes.filter(({ kind }) => kind.record === 'appointment')) {
      const [event] = this.#eventsOf(write);
      if (event) lastWrites.set(event.record.id, write);
    }
    const rows = await this.#deployment.sql<{ id: string; kinds: string; waiting: number }>(
      `SELECT a.id, string_agg(DISTINCT m.channel || ' ' || m.kind, ', ' ORDER BY m.channel || ' ' || m.kind)
                FILTER (WHERE m.kind = 'confirmation' OR m.start_at = a.start_at) AS kinds,
              count(*) FILTER (WHERE m.state = 'scheduled' AND m.kind IN ('confirmation', 'reminder'))::int AS waiting
         FROM appointments a LEFT JOIN messages m ON m.appointment_id = a.id WHERE a.id = ANY ($1) GROUP BY a.id`,
      [[...lastWrites.keys()]],
    );
    for (const { id, kinds, waiting } of rows) {
      const write = lastWrites.get(id) as Write;
      if (write.kind.deletes) {
        if (waiting > 0)
          this.#addHalfWritten(`${describeWrite(write)}: ${waiting} of its messages are still scheduled`);
      } else if (kinds !== 'email confirmation, email reminder, sms confirmation, sms reminder')
        this.#addHalfWritten(`${describeWrite(write)}: its messages are ${kinds}`);
    }
  }

  #addHalfWritten(text: string): void {
    this.#results.halfWritten++;
    addFault(this.#results, text);
  }
}

const describeWrite = ({ kind, stamp }: Write) => `${kind.name} ${stamp}`;

export async function forEachConcurrently<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const remaining = items.values();
  await Promise.all(
    Array.from({ length: MAX_CONCURRENT }, async () => {
      for (const item of remaining) await work(item);
    }),
  );
}
