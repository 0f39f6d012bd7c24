import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Connection, Database } from '../database/database.ts';
import { Listener } from '../database/listener.ts';
import { type Clock, toSql } from '../time/time.ts';
import type { JobKey, JobQueue, Lease } from './job-queue.ts';
import { CHANNEL } from './notify-workers.ts';

/**
 * Everything that is due later runs on this: rows that wait in the database are taken with a lease, worked, and free
 * again when the lease of a dead worker has run out. Any number of workers may run beside one another.
 */

export type DueWorkerOptions = {
  db: Database;
  connection: Connection;
  clock: Clock;
  logger: Logger;
  queues: readonly JobQueue[];
  /** How much of a queue may be under way at once, and how much of that for one company. */
  slots?: number;
  slotsPerCompany?: number;
  /** How long nobody looks where nothing is heard. */
  pollMs?: number;
};

const LEASE = { seconds: 45 };
const RENEW_MS = 15_000;
// Found by asking: what falls due later than the statement that wrote it would notify, and what a lost lease set free.
const POLL_MS = 20_000;
const POLL_DEAF_MS = 3_000;
const AFTER_FAULT_MS = 2_000;
// What is due and was not taken: another worker had its hands on it.
const AFTER_CONTEST_MS = 50;
// Slots that become free within a moment of one another are filled by one claim.
const GATHER_MS = 20;
// What has come to its end may be due again: it was leased when what happened to it was heard of.
const AFTER_END_MS = 100;
const PATIENCE_MS = 25_000;
// Of the slots: for companies that have nothing under way, so that a few whose work hangs never have them all.
const KEPT = 1 / 4;

type UnderWay = { queue: JobQueue; key: JobKey; claim: Lease; done: Promise<void>; takenAgain: boolean };

export class JobWorker {
  readonly #options: Required<DueWorkerOptions>;
  readonly #listener: Listener;
  readonly #underWay = new Map<string, UnderWay>();
  readonly #abort = new AbortController();
  #running: Promise<void> | undefined;
  #renewing: NodeJS.Timeout | undefined;
  #stopping = false;
  /** Something was left waiting because every slot that it could have taken was in use. */
  #hungry = false;
  #woken = false;
  #looking: NodeJS.Timeout | undefined;
  #wake: () => void = () => {};

  constructor(options: DueWorkerOptions) {
    this.#options = { slots: 32, slotsPerCompany: 8, pollMs: POLL_MS, ...options };
    this.#listener = new Listener(options.connection, CHANNEL, () => this.wake());
  }

  async start(): Promise<void> {
    await this.#listener.open();
    this.#keepLeases();
    this.#running = this.#run();
  }

  /** Works everything that is due now, and gives how much it was. For tests, which have no need to wait. */
  async runOnce(): Promise<number> {
    for (let handled = 0; ; ) {
      const idle = this.#underWay.size === 0;
      const taken = await this.#claimAll();
      handled += taken;
      if (taken === 0 && idle) return handled;
      if (taken === 0 && this.#underWay.size > 0)
        await Promise.race([...this.#underWay.values()].map(({ done }) => done));
    }
  }

  wake(): void {
    this.#woken = true;
    this.#wake();
  }

  get busy(): number {
    return this.#underWay.size;
  }

  /** Takes nothing more and waits for what is under way, but not for ever. */
  async stop(patienceMs = PATIENCE_MS): Promise<void> {
    this.#stopping = true;
    this.wake();
    await this.#listener.close();
    await this.#running;
    const impatient = setTimeout(() => this.#abort.abort(new Error('The worker stops.')), patienceMs);
    await Promise.all([...this.#underWay.values()].map(({ done }) => done));
    clearTimeout(impatient);
    clearInterval(this.#renewing);
  }

  async #run(): Promise<void> {
    const { logger } = this.#options;
    while (!this.#stopping) {
      this.#woken = false;
      let wait = AFTER_FAULT_MS;
      try {
        await this.#claimAll();
        wait = await this.#untilNext();
      } catch (error) {
        logger.warn({ err: error }, 'due work could not be looked up');
      }
      await this.#sleep(wait);
    }
  }

  async #claimAll(): Promise<number> {
    // What ends while the claim is being made frees a slot that the claim does not know of.
    this.#hungry = true;
    let taken = 0;
    let hungry = false;
    for (const queue of this.#options.queues) {
      taken += await this.#claim(queue);
      const { busy, saturated } = this.#loadOf(queue);
      hungry ||= busy >= this.#options.slots || saturated.length > 0;
    }
    this.#hungry = hungry;
    return taken;
  }

  async #claim(queue: JobQueue): Promise<number> {
    const { db, clock, slots, slotsPerCompany } = this.#options;
    const { busy, companies } = this.#loadOf(queue);
    if (busy >= slots) return 0;
    const now = clock();
    const claim = randomUUID();
    const keys = await db.queryRows<JobKey>(queue.statements.claim, [
      toSql(now),
      claim,
      toSql(now.add(LEASE)),
      slots - busy,
      [...companies.keys()],
      [...companies.values()],
      slotsPerCompany,
      Math.floor(slots * KEPT),
    ]);
    for (const key of keys) this.#work(queue, key, claim);
    return keys.length;
  }

  #loadOf(queue: JobQueue): { busy: number; companies: Map<string, number>; saturated: string[] } {
    const companies = new Map<string, number>();
    let busy = 0;
    for (const { key, queue: its } of this.#underWay.values()) {
      if (its !== queue) continue;
      busy++;
      companies.set(key.company_id, (companies.get(key.company_id) ?? 0) + 1);
    }
    const { slots, slotsPerCompany } = this.#options;
    const full = busy < slots - Math.floor(slots * KEPT) ? slotsPerCompany : 1;
    return { busy, companies, saturated: [...companies].flatMap(([id, count]) => (count >= full ? [id] : [])) };
  }

  #work(queue: JobQueue, key: JobKey, claimId: string): void {
    const { logger } = this.#options;
    const name = [queue.name, ...queue.key.map((column) => key[column])].join(' ');
    const known = this.#underWay.get(name);
    if (known) {
      // Its lease ran out while it was worked here, as when the database was away: no reason to do it twice. Or it fell
      // due again just as its handler came to an end: then it is given back.
      known.claim.id = claimId;
      known.takenAgain = true;
      return;
    }
    const claim = { id: claimId, signal: this.#abort.signal };
    const done = queue
      .handle(key, claim)
      .catch((error) => logger.error({ err: error, queue: queue.name, ...key }, 'due work failed'))
      .then(async () => {
        // It may be taken once more while it is being given back.
        while (work.takenAgain) await this.#giveBack(work);
        this.#underWay.delete(name);
        if (this.#hungry) setTimeout(() => this.wake(), GATHER_MS);
        else this.#lookAgain();
      });
    const work: UnderWay = { queue, key, claim, done, takenAgain: false };
    this.#underWay.set(name, work);
  }

  #lookAgain(): void {
    this.#looking ??= setTimeout(() => {
      this.#looking = undefined;
      this.wake();
    }, AFTER_END_MS).unref();
  }

  async #giveBack(work: UnderWay): Promise<void> {
    const { db, logger } = this.#options;
    const { queue, key, claim } = work;
    work.takenAgain = false;
    await db
      .queryRows(queue.statements.giveBack, [claim.id, ...queue.key.map((column) => key[column])])
      .catch((error) => logger.warn({ err: error }, 'what was taken again could not be given back'));
    this.wake();
  }

  async #untilNext(): Promise<number> {
    const { db, clock, queues, slots, pollMs } = this.#options;
    let wait = this.#listener.listening ? pollMs : POLL_DEAF_MS;
    for (const queue of queues) {
      const { busy, saturated } = this.#loadOf(queue);
      if (busy >= slots) continue;
      const next = await db.queryFirst<{ at: string | null }>(queue.statements.nextDue, [saturated]);
      if (!next?.at) continue;
      const ms = Math.ceil(clock().until(Temporal.Instant.from(next.at)).total('milliseconds'));
      wait = Math.min(wait, Math.max(ms, AFTER_CONTEST_MS));
    }
    return wait;
  }

  #sleep(ms: number): Promise<void> {
    if (this.#woken) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#wake(), ms);
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = () => {};
        resolve();
      };
    });
  }

  #keepLeases(): void {
    const { db, clock, logger, queues } = this.#options;
    this.#renewing = setInterval(async () => {
      for (const queue of queues) {
        const works = [...this.#underWay.values()].filter((work) => work.queue === queue);
        if (works.length === 0) continue;
        const claims = works.map(({ claim }) => claim.id);
        const keys = queue.key.map((column) => works.map(({ key }) => key[column]));
        await db
          .queryRows(queue.statements.renew, [toSql(clock().add(LEASE)), claims, ...keys])
          .catch((error) => logger.warn({ err: error }, 'leases could not be renewed'));
      }
    }, RENEW_MS);
  }
}
