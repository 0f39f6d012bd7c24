import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Connection, Database } from '../database/database.ts';
import { Listener } from '../database/listener.ts';
import { isMissingObject } from '../database/postgres-errors.ts';
import { type Clock, toSql } from '../time/time.ts';
import type { ClaimValues } from './job-queue.sql.ts';
import type { JobKey, JobQueue, Lease } from './job-queue.ts';
import { CHANNEL } from './notify-workers.ts';

type JobWorkerOptions = {
  db: Database;
  connection: Connection;
  clock: Clock;
  logger: Logger;
  queues: readonly JobQueue[];
  /** How many jobs of a queue may run concurrently. */
  slots?: number;
  /** How many of them may belong to one company. */
  slotsPerCompany?: number;
  /** How often the worker polls while it can be notified. */
  pollMs?: number;
};

const LEASE = { seconds: 45 };
const RENEW_INTERVAL_MS = 15_000;
// Polling finds jobs that fell due after their notification, and jobs whose lease expired.
const POLL_INTERVAL_MS = 20_000;
const POLL_WITHOUT_LISTENER_MS = 3_000;
const RETRY_DELAY_MS = 2_000;
// A due job that could not be claimed is locked by another worker for a moment.
const MIN_DELAY_MS = 50;
// Slots that become free within this time are filled by one claim.
const CLAIM_DELAY_MS = 20;
// A job may have become due again while it was leased, so the worker checks once more after the job ends.
const CHECK_DELAY_MS = 100;
const STOP_TIMEOUT_MS = 25_000;
// Slots for companies without a running job, so that a few companies whose jobs hang never occupy all slots.
const RESERVED_SLOT_SHARE = 1 / 4;

type RunningJob = {
  queue: JobQueue;
  key: JobKey;
  lease: Lease;
  done: Promise<void>;
  /** This worker claimed the job a second time while it was running. */
  reclaimed: boolean;
};

/**
 * Runs the jobs of all queues. A job is claimed with a lease, so that another worker can claim it after this one died.
 * Any number of workers may run concurrently.
 */
export class JobWorker {
  readonly #options: Required<JobWorkerOptions>;
  readonly #listener: Listener;
  readonly #runningJobs = new Map<string, RunningJob>();
  readonly #abort = new AbortController();
  #loop: Promise<void> | undefined;
  #renewTimer: NodeJS.Timeout | undefined;
  #stopping = false;
  /** A due job may be waiting for a slot that is in use. */
  #starved = false;
  #woken = false;
  #scheduledCheck: NodeJS.Timeout | undefined;
  #wake: () => void = () => {};

  constructor(options: JobWorkerOptions) {
    this.#options = { slots: 32, slotsPerCompany: 8, pollMs: POLL_INTERVAL_MS, ...options };
    this.#listener = new Listener(options.connection, CHANNEL, () => this.wake());
  }

  async start(): Promise<void> {
    await this.#listener.open();
    this.#renewLeases();
    this.#loop = this.#run();
  }

  /** Runs all jobs that are due now, and returns their number. For tests. */
  async runOnce(): Promise<number> {
    for (let handled = 0; ; ) {
      // The jobs that ran before the claim: one that ends during it frees a slot that the claim does not know of.
      const running = [...this.#runningJobs.values()].map(({ done }) => done);
      const claimed = await this.#claimAll();
      handled += claimed;
      if (claimed > 0) continue;
      if (running.length === 0) return handled;
      await Promise.race(running);
    }
  }

  wake(): void {
    this.#woken = true;
    this.#wake();
  }

  get busy(): number {
    return this.#runningJobs.size;
  }

  /** Claims no more jobs, and waits for the running ones. After the timeout their signal is aborted. */
  async stop(timeoutMs = STOP_TIMEOUT_MS): Promise<void> {
    this.#stopping = true;
    this.wake();
    await this.#listener.close();
    await this.#loop;
    const timeout = setTimeout(() => this.#abort.abort(new Error('The worker stops.')), timeoutMs);
    await Promise.all([...this.#runningJobs.values()].map(({ done }) => done));
    clearTimeout(timeout);
    clearInterval(this.#renewTimer);
  }

  async #run(): Promise<void> {
    const { logger } = this.#options;
    while (!this.#stopping) {
      this.#woken = false;
      let delay = RETRY_DELAY_MS;
      try {
        await this.#claimAll();
        delay = await this.#nextDelay();
      } catch (error) {
        logger.warn({ err: error }, 'failed to claim jobs; retrying');
      }
      await this.#sleep(delay);
    }
  }

  async #claimAll(): Promise<number> {
    // A job that ends during the claim frees a slot that the claim does not know of.
    this.#starved = true;
    let claimed = 0;
    let starved = false;
    for (const queue of this.#options.queues) {
      claimed += await this.#claim(queue).catch((error: unknown) => this.#skipIfMissing(queue, error));
      const { busy, saturated } = this.#loadOf(queue);
      starved ||= busy >= this.#options.slots || saturated.length > 0;
    }
    this.#starved = starved;
    return claimed;
  }

  async #claim(queue: JobQueue): Promise<number> {
    const { db, clock, slots, slotsPerCompany } = this.#options;
    const { busy, companies } = this.#loadOf(queue);
    if (busy >= slots) return 0;
    const now = clock();
    const leaseId = randomUUID();
    const values: ClaimValues = {
      now: toSql(now),
      lease: leaseId,
      lease_until: toSql(now.add(LEASE)),
      limit: slots - busy,
      busy_companies: [...companies.keys()],
      busy_counts: [...companies.values()],
      max_per_company: slotsPerCompany,
      reserved: Math.floor(slots * RESERVED_SLOT_SHARE),
    };
    const keys = await db.queryRows<JobKey>(queue.statements.claim(values));
    for (const key of keys) this.#start(queue, key, leaseId);
    return keys.length;
  }

  /** Before the migrations of its release, a worker may have a queue without a table. The other queues go on. */
  #skipIfMissing({ name }: JobQueue, error: unknown): 0 {
    if (!isMissingObject(error)) throw error;
    this.#options.logger.warn({ err: error, queue: name }, 'the queue has no table yet; retrying');
    return 0;
  }

  #loadOf(queue: JobQueue): { busy: number; companies: Map<string, number>; saturated: string[] } {
    const companies = new Map<string, number>();
    let busy = 0;
    for (const { key, ...job } of this.#runningJobs.values()) {
      if (job.queue !== queue) continue;
      busy++;
      companies.set(key.company_id, (companies.get(key.company_id) ?? 0) + 1);
    }
    const { slots, slotsPerCompany } = this.#options;
    const maxPerCompany = busy < slots - Math.floor(slots * RESERVED_SLOT_SHARE) ? slotsPerCompany : 1;
    return {
      busy,
      companies,
      saturated: [...companies].flatMap(([id, count]) => (count >= maxPerCompany ? [id] : [])),
    };
  }

  #start(queue: JobQueue, key: JobKey, leaseId: string): void {
    const { logger } = this.#options;
    const name = [queue.name, ...queue.key.map((column) => key[column])].join(' ');
    const running = this.#runningJobs.get(name);
    if (running) {
      // Either the lease expired while the job ran here, for example because the database was away, and the job must
      // not run twice. Or the job fell due again just as its handler ended; then it is released below.
      running.lease.id = leaseId;
      running.reclaimed = true;
      return;
    }
    const lease = { id: leaseId, signal: this.#abort.signal };
    const done = queue
      .handle(key, lease)
      .catch((error) => logger.error({ err: error, queue: queue.name, ...key }, 'job failed'))
      .then(async () => {
        // The job may be claimed once more while it is being released.
        while (job.reclaimed) await this.#release(job);
        this.#runningJobs.delete(name);
        if (this.#starved) setTimeout(() => this.wake(), CLAIM_DELAY_MS);
        else this.#scheduleCheck();
      });
    const job: RunningJob = { queue, key, lease, done, reclaimed: false };
    this.#runningJobs.set(name, job);
  }

  #scheduleCheck(): void {
    this.#scheduledCheck ??= setTimeout(() => {
      this.#scheduledCheck = undefined;
      this.wake();
    }, CHECK_DELAY_MS).unref();
  }

  async #release(job: RunningJob): Promise<void> {
    const { db, logger } = this.#options;
    const { queue, key, lease } = job;
    job.reclaimed = false;
    await db
      .queryRows(queue.statements.release(lease.id, key))
      .catch((error) => logger.warn({ err: error }, 'failed to release a job that was claimed twice'));
    this.wake();
  }

  async #nextDelay(): Promise<number> {
    const { db, clock, queues, slots, pollMs } = this.#options;
    let delay = this.#listener.listening ? pollMs : POLL_WITHOUT_LISTENER_MS;
    for (const queue of queues) {
      const { busy, saturated } = this.#loadOf(queue);
      if (busy >= slots) continue;
      const next = await db
        .queryFirst<{ at: string | null }>(queue.statements.nextDue({ excluded_companies: saturated }))
        .catch((error: unknown) => void this.#skipIfMissing(queue, error));
      if (!next?.at) continue;
      const ms = Math.ceil(clock().until(Temporal.Instant.from(next.at)).total('milliseconds'));
      delay = Math.min(delay, Math.max(ms, MIN_DELAY_MS));
    }
    return delay;
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

  #renewLeases(): void {
    const { db, clock, logger, queues } = this.#options;
    this.#renewTimer = setInterval(async () => {
      for (const queue of queues) {
        const jobs = [...this.#runningJobs.values()].filter((job) => job.queue === queue);
        if (jobs.length === 0) continue;
        const leases = jobs.map(({ lease, key }) => ({ id: lease.id, key }));
        await db
          .queryRows(queue.statements.renew(toSql(clock().add(LEASE)), leases))
          .catch((error) => logger.warn({ err: error }, 'failed to renew leases; retrying'));
      }
    }, RENEW_INTERVAL_MS);
  }
}
