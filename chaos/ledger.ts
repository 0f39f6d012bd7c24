import type { Answered, Line } from './exchange.ts';
import type { Load, Write } from './load.ts';
import { type Figures, fault } from './proof.ts';
import type { Demo, Site } from './site.ts';
import { pathOf, STAMPED } from './writes.ts';

/** Holds what was answered against what is there: records, events, messages, kept answers. */

type Event = {
  id: string;
  type: string;
  request_id: string | null;
  record: { type: string; id: string };
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
};

const AT_ONCE = 16;
const REPLAYED = 60;
const PATIENCE_MS = 20_000;
const PAGE = 500;

export class Ledger {
  readonly #site: Site;
  readonly #line: Line;
  readonly #demo: Demo;
  readonly #figures: Figures;
  /** By the stamp of the write. */
  readonly #events = new Map<string, Event[]>();
  #last: string | undefined;

  constructor(site: Site, line: Line, demo: Demo, figures: Figures) {
    this.#site = site;
    this.#line = line;
    this.#demo = demo;
    this.#figures = figures;
  }

  /** What a load has written, after everything is up again. */
  async check(load: Load): Promise<void> {
    const { writes } = load;
    await this.#sendAgain(load);
    await this.#readEvents(writes);
    for (const write of writes) this.#checkEvents(write);
    this.#checkOrder(writes);
    await this.#checkTables(writes);
    await this.#checkRecords(writes);
    await this.#checkMessages(writes);
  }

  /** Once more, when nothing is under way any more: also what a killed process had left behind has ended. */
  async checkAll(loads: Load[]): Promise<void> {
    const writes = loads.flatMap((load) => load.writes);
    await this.#readEvents(writes);
    for (const write of writes) this.#checkCount(write);
    await this.#checkTables(writes);
  }

  async #sendAgain(load: Load): Promise<void> {
    const keyed = load.writes.filter(({ key }) => key !== undefined);
    const done = keyed.filter(({ answer }) => answer !== undefined).slice(-REPLAYED);
    await each(done, async (write) => {
      const first = write.answer;
      const outcome = await load.send(write);
      const { text, headers = {} } = outcome as Answered;
      if (outcome.status !== 200 || headers['idempotency-replayed'] !== 'true' || text !== first) {
        this.#figures.lost++;
        fault(this.#figures, `${name(write)}: its kept answer is not there: ${outcome.status} ${text}`);
      }
    });
    // The rest stay as those without a key: done or not done.
    const open = keyed.filter(({ answer }) => answer === undefined).slice(0, REPLAYED);
    await each(open, async (write) => {
      const end = performance.now() + PATIENCE_MS;
      while (write.answer === undefined && performance.now() < end) await load.send(write);
      if (write.answer === undefined) fault(this.#figures, `${name(write)} could not be sent again`);
    });
  }

  async #readEvents(writes: Write[]): Promise<void> {
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      const after = this.#last === undefined ? '' : `&after=${this.#last}`;
      const page: Event[] = await this.#line.get(`/events?limit=${PAGE}${after}`);
      for (const event of page) {
        const stamp = event.request_id?.split('.')[0] ?? '';
        this.#events.set(stamp, [...(this.#events.get(stamp) ?? []), event]);
      }
      this.#last = page.at(-1)?.id ?? this.#last;
      const missing = writes.some((write) => write.answer !== undefined && this.#eventsOf(write).length === 0);
      if (page.length < PAGE && (!missing || performance.now() > end)) return;
    }
  }

  #eventsOf({ stamp, kind }: Write): Event[] {
    return (this.#events.get(stamp) ?? []).filter(({ record }) => record.type === kind.record);
  }

  #checkCount(write: Write): Event | undefined {
    const found = this.#eventsOf(write);
    if (found.length === 0 && write.answer !== undefined) {
      this.#figures.lost++;
      fault(this.#figures, `${name(write)} was acknowledged and is not in the log`);
    }
    if (found.length > 1) {
      this.#figures.twice++;
      fault(this.#figures, `${name(write)} is ${found.length} times in the log`);
    }
    return found[0];
  }

  /** The event tells of this write: its type, its record, and what it wrote. */
  #checkEvents(write: Write): void {
    const event = this.#checkCount(write);
    if (!event) return;
    const { kind, stamp } = write;
    const right =
      event.type === `${kind.record}.${kind.verb}` &&
      (event.before === null) === (kind.makes === true) &&
      (write.recordId === undefined || write.recordId === event.record.id) &&
      (!kind.stamped || JSON.stringify(event.after).includes(stamp));
    if (!right) this.#half(`${name(write)}: its event is ${JSON.stringify(event)}`);
  }

  /** What an event has as before is what the write before it has written. */
  #checkOrder(writes: Write[]): void {
    const latest = new Map<string, string>();
    for (const write of writes) {
      const [event] = this.#eventsOf(write);
      if (!event) continue;
      const before = latest.get(event.record.id);
      if (before !== undefined && !JSON.stringify(event.before).includes(before))
        this.#half(`${name(write)}: its event does not follow on ${before}`);
      if (write.kind.stamped) latest.set(event.record.id, write.stamp);
    }
  }

  async #checkTables(writes: Write[]): Promise<void> {
    for (const [table, statement] of Object.entries(STAMPED)) {
      const made = writes.filter(({ kind }) => (table === 'payment' ? kind.name : kind.record) === table);
      const rows = await this.#site.sql<{ stamp: string }>(statement, [made.map(({ stamp }) => stamp)]);
      const counts = new Map<string, number>();
      for (const { stamp } of rows) counts.set(stamp, (counts.get(stamp) ?? 0) + 1);
      for (const write of made) {
        const count = counts.get(write.stamp) ?? 0;
        if (count > 1) {
          this.#figures.twice++;
          fault(this.#figures, `${name(write)} is ${count} times in its table`);
        }
        const inLog = this.#eventsOf(write).length > 0;
        if (count === 1 && !inLog) this.#half(`${name(write)} is in its table and not in the log`);
        if (count === 0 && inLog && table === 'payment') this.#half(`${name(write)} is in the log only`);
      }
    }
  }

  /** Each record is what the last write has made of it. */
  async #checkRecords(writes: Write[]): Promise<void> {
    const last = new Map<string, { write: Write; stamp: string | undefined }>();
    for (const write of writes) {
      const [event] = this.#eventsOf(write);
      if (!event) continue;
      const stamp =
        write.kind.stamped && write.kind.name !== 'payment' ? write.stamp : last.get(event.record.id)?.stamp;
      last.set(event.record.id, { write, stamp });
    }
    await each([...last], async ([id, { write, stamp }]) => {
      const path = pathOf(this.#demo, write.kind.record, id);
      const answer = (await this.#line.send({ method: 'GET', path })) as Answered;
      const there = answer.status === 200 && (stamp === undefined || answer.text.includes(stamp));
      if (write.kind.ends ? answer.status !== 404 : !there) {
        this.#figures.lost++;
        fault(this.#figures, `${name(write)}: the record is ${answer.status} ${answer.text}`);
      }
    });
  }

  /** Four messages of an appointment, and none that waits for one that is gone. */
  async #checkMessages(writes: Write[]): Promise<void> {
    const made = new Map<string, Write>();
    for (const write of writes.filter(({ kind }) => kind.record === 'appointment')) {
      const [event] = this.#eventsOf(write);
      if (event) made.set(event.record.id, write);
    }
    const rows = await this.#site.sql<{ id: string; kinds: string; waiting: number }>(
      `SELECT a.id, string_agg(DISTINCT m.channel || ' ' || m.kind, ', ' ORDER BY m.channel || ' ' || m.kind)
                FILTER (WHERE m.kind = 'confirmation' OR m.start_at = a.start_at) AS kinds,
              count(*) FILTER (WHERE m.state = 'scheduled' AND m.kind IN ('confirmation', 'reminder'))::int AS waiting
         FROM appointments a LEFT JOIN messages m ON m.appointment_id = a.id WHERE a.id = ANY ($1) GROUP BY a.id`,
      [[...made.keys()]],
    );
    for (const { id, kinds, waiting } of rows) {
      const write = made.get(id) as Write;
      if (write.kind.ends) {
        if (waiting > 0) this.#half(`${name(write)}: ${waiting} of its messages still wait`);
      } else if (kinds !== 'email confirmation, email reminder, sms confirmation, sms reminder')
        this.#half(`${name(write)}: its messages are ${kinds}`);
    }
  }

  #half(text: string): void {
    this.#figures.halfWritten++;
    fault(this.#figures, text);
  }
}

const name = ({ kind, stamp }: Write) => `${kind.name} ${stamp}`;

export async function each<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const item of left) await work(item);
    }),
  );
}
