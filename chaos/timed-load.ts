import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { addFault, type Results } from './chaos-test.ts';
import type { Demo } from './deployment.ts';
import type { HttpClient } from './http-client.ts';
import { invoice } from './write-kinds.ts';

/** A write, with the times by the clock of the machine, in milliseconds. */
export type TimedWrite = { stamp: string; sentAt: number; acknowledgedAt: number | undefined };

const INVOICE_INTERVAL = 8;
const PAUSE_AFTER_FAILURE_MS = 250;

/** Several callers that create interactions and invoices as fast as they are answered. */
export class TimedLoad {
  readonly #client: HttpClient;
  readonly #demo: Demo;
  readonly #results: Results;
  readonly #thinkMs: number;
  readonly #writes: TimedWrite[] = [];
  #acknowledged = 0;
  #stopped = false;
  #callers: Promise<void>[] = [];

  constructor(client: HttpClient, demo: Demo, results: Results, thinkMs: number) {
    this.#client = client;
    this.#demo = demo;
    this.#results = results;
    this.#thinkMs = thinkMs;
  }

  start(callers: number): void {
    this.#callers = Array.from({ length: callers }, (_, caller) => this.#run(caller));
  }

  async stop(): Promise<readonly TimedWrite[]> {
    this.#stopped = true;
    await Promise.all(this.#callers);
    return this.#writes;
  }

  /** Returns the acknowledged writes per second while the work runs. */
  async rateDuring(work: () => Promise<unknown>): Promise<number> {
    const [count, startedAt] = [this.#acknowledged, performance.now()];
    await work();
    return (this.#acknowledged - count) / ((performance.now() - startedAt) / 1000);
  }

  async #run(caller: number): Promise<void> {
    const path = `/cases/${this.#demo.case_id}`;
    for (let n = 0; !this.#stopped; n++) {
      const write: TimedWrite = { stamp: `w-${caller}-${n}`, sentAt: Date.now(), acknowledgedAt: undefined };
      this.#writes.push(write);
      this.#results.requests++;
      const { status } = await this.#client.send(
        n % INVOICE_INTERVAL === 0
          ? { method: 'POST', path: `${path}/invoices`, body: invoice(write.stamp) }
          : { method: 'POST', path: `${path}/interactions`, body: { type: 'phone', notes: write.stamp } },
      );
      if (status === 200) {
        write.acknowledgedAt = Date.now();
        this.#acknowledged++;
        this.#results.acknowledged++;
        if (this.#thinkMs > 0) await pause(this.#thinkMs);
        continue;
      }
      if (status === 500) {
        this.#results.serverErrors++;
        addFault(this.#results, `${write.stamp}: 500`);
      }
      await pause(PAUSE_AFTER_FAILURE_MS);
    }
  }
}

/** Compares a restored database with the writes: all that were acknowledged by then, and none that was sent later. */
export async function compareWrites(
  client: pg.Client,
  writes: readonly TimedWrite[],
  at: number,
  results: Results,
): Promise<void> {
  const { rows: interactions } = await client.query(`SELECT notes AS stamp FROM interactions WHERE notes LIKE 'w-%'`);
  const { rows: invoices } = await client.query(
    `SELECT n.invoice_number AS stamp, count(i.*)::int AS items
       FROM invoices n LEFT JOIN invoice_items i ON i.company_id = n.company_id AND i.invoice_id = n.id
      WHERE n.invoice_number LIKE 'w-%' GROUP BY n.id, n.invoice_number`,
  );
  const found = new Map<string, number>();
  for (const { stamp } of [...interactions, ...invoices]) found.set(stamp, (found.get(stamp) ?? 0) + 1);
  results.halfWritten += invoices.filter(({ items }) => items !== 2).length;
  for (const { stamp, sentAt, acknowledgedAt } of writes) {
    const count = found.get(stamp) ?? 0;
    if (count > 1) results.duplicated++;
    if (acknowledgedAt !== undefined && acknowledgedAt <= at && count === 0) {
      results.lost++;
      addFault(results, `${stamp}, acknowledged ${at - acknowledgedAt} ms before the time, is missing`);
    }
    if (sentAt > at && count > 0) addFault(results, `${stamp}, sent ${sentAt - at} ms after the time, is there`);
  }
}
