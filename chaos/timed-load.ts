import { setTimeout as pause } from 'node:timers/promises';
import { addFault, type Results } from './chaos-test.ts';
import type { Demo } from './deployment.ts';
import type { HttpClient } from './http-client.ts';

/** A write, with the times by the clock of the machine, in milliseconds. */
export type TimedWrite = { stamp: string; sentAt: number; acknowledgedAt: number | undefined };

const invoice = (stamp: string) => ({
  invoice_number: stamp,
  sender_id: '0b6ff6ea-3b8e-4d0e-9e5c-1a8f6b1f3c77',
  date_created: '2026-03-01 09:00:00',
  date_due: '2026-03-31 09:00:00',
  vat: 20,
  sub_total: 200,
  total: 240,
  items: [1, 2].map((n) => ({ description: `${stamp} ${n}`, quantity: '1', rate: '100', amount: '120' })),
});
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
