import type pg from 'pg';
import { UnavailableError } from '../errors.ts';
import type { Statement } from '../sql/statement.ts';
import { type PlannedStatement, planTransactions } from './batching.ts';
import { PipelinedTransaction, type Row } from './pipelined-transaction.ts';
import { isConnectionError, isDeadlock, isServerError } from './postgres-errors.ts';

export type Query = Statement & { values: unknown[]; rowMode?: 'array' };

/** The first column of the first row: null where that is null, undefined where there is no row. */
type Text = string | null | undefined;
type PooledConnection = {
  client: pg.Client;
  /** Those that are under way, the first of them first: at which look each got its place. */
  readonly inFlight: number[];
  opening: Promise<unknown> | undefined;
  /** At which look it was told to end. */
  ending: number | undefined;
  readonly ended: Promise<void>;
  /** When it last answered, or was asked something with nothing under way. */
  answeredAt: number;
  /** What it has answered before, and so has prepared. */
  readonly prepared: Set<string>;
  /** What goes out together when everything that has come by now was looked at. */
  pendingBatch: PendingStatement[];
};
type PendingStatement = { query: Query; resolve: (text: Text) => void; reject: (error: unknown) => void };
type Waiter = {
  /** What one statement could do for, with others of the same. */
  several: Query['several'];
  go: (lane: PooledConnection) => void;
  refuse: (error: Error) => void;
  since: number;
};

export type PipelinedPoolOptions = {
  size: number;
  /**
   * A connection with so many under way gets no more: one that takes long holds up those behind it. Those who wait for the same
   * go to one with less in shares, with which it may have more.
   */
  maxInFlight: number;
  /** A connection that leaves one unanswered for so long is given up, with all that is under way on it. */
  responseTimeoutMs: number;
  connect: () => pg.Client;
  onError: (error: Error) => void;
  /** Told of every statement that was sent for several, and whether it did for them. */
  onBatch?: OnBatch;
};
export type OnBatch = (name: string, count: number, done: boolean) => void;

// Nothing more is sent behind one that takes longer than this.
const STUCK_MS = 250;
const MAX_WAIT_MS = 5_000;
// How often it is looked who has waited too long. A timer for each would cost more than it seems: what it holds is still
// there when V8 clears away what is young, and grows old. In looks a process that stood still has waited for one.
const SWEEP_INTERVAL_MS = 500;
/** What those are told who are to try again by themselves: one of them may wait for somebody's lock. */
const RETRY_SINGLY = Symbol('alone');
const MAX_BATCH_SIZE = 8;
const MIN_BUSY_TO_BATCH = 2;

/**
 * Connections on which a statement is sent before the one ahead of it is answered: each is a transaction of its own, and
 * whoever comes takes the connection with the least under way. 1.1 to 1.45 times the pace of a pool. Short ones that
 * come at the same moment while others are under way share a transaction: docs/decisions/0018.
 */
export class PipelinedPool {
  readonly #options: PipelinedPoolOptions;
  readonly #connections = new Set<PooledConnection>();
  /** Those that have not ended yet, also where they get nothing more. */
  readonly #open = new Set<PooledConnection>();
  #waiting: Waiter[] = [];
  readonly #timer: NodeJS.Timeout;
  #sweeps = 0;
  #closed = false;

  constructor(options: PipelinedPoolOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#sweep(), SWEEP_INTERVAL_MS).unref();
  }

  query<Row extends pg.QueryResultRow>(query: Query): Promise<pg.QueryResult<Row>> {
    return this.#withConnection(
      () => this.#leastBusy(),
      (lane) =>
        new Promise((resolve, reject) => {
          lane.client.query<Row>(query, (error, result) => (error ? reject(error) : resolve(result)));
        }),
    );
  }

  text(query: Query): Promise<Text> {
    const alone = (lane: PooledConnection) => this.#sendSingly(lane, query);
    if (query.takesTime && !query.several) return this.#withConnection(() => this.#leastBusy(), alone);
    return this.#withConnection(
      // What takes its time is done sooner by two connections than by one.
      () => (query.takesTime ? this.#leastBusy() : (this.#batching() ?? this.#leastBusy())),
      (lane) => this.#addToBatch(lane, query),
      alone,
      query.several,
    );
  }

  /** `alone`: what is done on another one where `work` ends with ALONE, when others can have its place. */
  async #withConnection<T>(
    find: () => PooledConnection | undefined,
    work: (lane: PooledConnection) => Promise<T>,
    alone = work,
    several?: Query['several'],
  ): Promise<T> {
    // Whoever comes later does not pass those who wait.
    const free = this.#waiting.length === 0 ? find() : undefined;
    const lane = free ? this.#reserve(free) : await this.#enqueue(several);
    try {
      if (lane.opening) await lane.opening;
      return await work(lane);
    } catch (error) {
      if (error !== RETRY_SINGLY) {
        // Before anybody tries again: the connection itself may tell of its end later, or live on and be of no use.
        if (isConnectionError(error)) this.#drop(lane);
        throw error;
      }
    } finally {
      lane.inFlight.shift();
      lane.answeredAt = performance.now();
      this.#serveWaiting();
    }
    return this.#withConnection(() => this.#leastBusy(), alone);
  }

  get counts(): { idle: number; busy: number; waiting: number } {
    const busy = [...this.#connections].filter(({ inFlight: underWay }) => underWay.length > 0).length;
    return { idle: this.#connections.size - busy, busy, waiting: this.#waiting.length };
  }

  /** What was sent is answered first, where the server answers. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { refuse } of this.#waiting.splice(0)) refuse(closed());
    for (const lane of this.#connections) this.#drop(lane);
    await Promise.all([...this.#open].map(({ ended }) => ended));
    clearInterval(this.#timer);
  }

  #leastBusy(): PooledConnection | undefined {
    if (this.#closed) throw closed();
    const now = performance.now();
    let best: PooledConnection | undefined;
    for (const lane of this.#connections) {
      const stuck = lane.inFlight.length > 0 && now - lane.answeredAt > STUCK_MS;
      if (!stuck && (!best || lane.inFlight.length < best.inFlight.length)) best = lane;
    }
    if ((!best || best.inFlight.length > 0) && this.#connections.size < this.#options.size) return this.#connect();
    return best && best.inFlight.length < this.#options.maxInFlight ? best : undefined;
  }

  /** One where some are being gathered. As long as hardly anything is under way, another connection answers sooner. */
  #batching(): PooledConnection | undefined {
    let found: PooledConnection | undefined;
    let busy = 0;
    for (const lane of this.#connections) {
      const { inFlight: underWay, pendingBatch: gathered } = lane;
      if (underWay.length > 0) busy++;
      const { length } = gathered;
      if (length > 0 && length < MAX_BATCH_SIZE && underWay.length < this.#options.maxInFlight) found ??= lane;
    }
    return busy < MIN_BUSY_TO_BATCH ? undefined : found;
  }

  #addToBatch(lane: PooledConnection, query: Query): Promise<Text> {
    if (!lane.prepared.has(query.name)) return this.#sendSingly(lane, query);
    if (lane.pendingBatch.length === MAX_BATCH_SIZE) this.#sendBatch(lane);
    return new Promise((resolve, reject) => {
      lane.pendingBatch.push({ query, resolve, reject });
      // After the input of this moment has been read, whosever it is.
      if (lane.pendingBatch.length === 1) setImmediate(() => this.#sendBatch(lane));
    });
  }

  #sendSingly(lane: PooledConnection, query: Query): Promise<Text> {
    return new Promise((resolve, reject) => this.#commit(lane, [{ query, asked: [{ query, resolve, reject }] }]));
  }

  #sendBatch(lane: PooledConnection): void {
    const { pendingBatch: gathered } = lane;
    lane.pendingBatch = [];
    if (gathered.length === 0) return;
    try {
      for (const sent of planTransactions(gathered)) this.#commit(lane, sent);
    } catch (error) {
      for (const { reject } of gathered) reject(error);
    }
  }

  #commit(lane: PooledConnection, sent: PlannedStatement<PendingStatement>[]): void {
    const queries = sent.map(({ query }) => query);
    const first = sent[0]?.asked ?? [];
    // What was read holds without a commit, and those behind it may take their time.
    const onRow = first.length > 1 && first[0]?.query.takesTime ? (row: Row) => answerOne(first, row) : undefined;
    const shared = new PipelinedTransaction(queries, onRow, (error, answers) => {
      for (const [i, { query, asked }] of sent.entries()) {
        if (asked.length > 1) this.#options.onBatch?.((asked[0] as PendingStatement).query.name, asked.length, !error);
        if (!error) {
          lane.prepared.add(query.name);
          answer(asked, answers?.[i] ?? []);
        } else if (!isServerError(error) || isConnectionError(error) || isItsOwn(error, sent, i, shared.at)) {
          for (const { reject } of asked) reject(error);
        } else {
          for (const { reject } of asked) reject(RETRY_SINGLY);
        }
      }
    });
    lane.client.query(shared);
  }

  #connect(): PooledConnection {
    const client = this.#options.connect();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const lane: PooledConnection = {
      client,
      inFlight: [],
      opening: undefined,
      ending: undefined,
      ended,
      answeredAt: performance.now(),
      prepared: new Set(),
      pendingBatch: [],
    };
    const drop = () => this.#drop(lane);
    // `pg` tells nobody who opens it that it was ended meanwhile.
    const early = ended.then(() => {
      throw new Error('Connection terminated before it was open.');
    });
    lane.opening = Promise.race([client.connect(), early]).then(
      () => {
        lane.opening = undefined;
      },
      (error: unknown) => {
        drop();
        throw error;
      },
    );
    client.on('error', (error) => {
      drop();
      this.#options.onError(error);
    });
    client.on('end', () => {
      drop();
      this.#open.delete(lane);
      end();
    });
    this.#connections.add(lane);
    this.#open.add(lane);
    return lane;
  }

  /** What is under way on it is answered first, where it answers. */
  #drop(lane: PooledConnection): void {
    if (!this.#connections.delete(lane)) return;
    lane.ending = this.#sweeps;
    void lane.client.end();
  }

  #enqueue(several: Query['several']): Promise<PooledConnection> {
    return new Promise((go, refuse) => this.#waiting.push({ several, go, refuse, since: this.#sweeps }));
  }

  #sweep(): void {
    this.#sweeps++;
    const since = (ms: number) => this.#sweeps - Math.ceil(ms / SWEEP_INTERVAL_MS) - 1;
    for (const { client, inFlight: underWay, ending = this.#sweeps } of this.#open) {
      const [first] = underWay;
      const silent =
        first === undefined ? ending <= since(MAX_WAIT_MS) : first <= since(this.#options.responseTimeoutMs);
      if (silent) client.connection.stream.destroy(new Error('Connection terminated: the server is silent.'));
    }
    while ((this.#waiting[0]?.since ?? this.#sweeps) <= since(MAX_WAIT_MS))
      this.#waiting.shift()?.refuse(new UnavailableError('Too many requests wait for the database.'));
  }

  #serveWaiting(): void {
    while (this.#waiting.length > 0 && !this.#closed) {
      const lane = this.#leastBusy();
      if (!lane) return;
      for (const { go } of this.#dequeue()) go(this.#reserve(lane));
    }
  }

  /** The first of those who wait, and others for whom one statement may do: as many as each connection would get of all. */
  #dequeue(): Waiter[] {
    const share = Math.min(Math.ceil(this.#waiting.length / this.#options.size), MAX_BATCH_SIZE);
    const several = this.#waiting[0]?.several;
    const going = this.#waiting.filter((one) => one.several === several).slice(0, several ? share : 1);
    this.#waiting = this.#waiting.filter((one) => !going.includes(one));
    return going;
  }

  #reserve(lane: PooledConnection): PooledConnection {
    if (lane.inFlight.push(this.#sweeps) === 1) lane.answeredAt = performance.now();
    return lane;
  }
}

const closed = () => new UnavailableError('The connections to the database are closed.');

/** One of several has a row with which of them it is, and theirs. */
function answerOne(asked: PendingStatement[], [nth, text]: Row): void {
  asked[Number(nth) - 1]?.resolve(text);
}

/** A row has one column where it was asked for alone. Who has been answered already is not answered again. */
function answer(asked: PendingStatement[], rows: Row[]): void {
  if (asked.length === 1) asked[0]?.resolve(rows[0]?.[0]);
  else for (const row of rows) answerOne(asked, row);
  for (const { resolve } of asked) resolve(undefined);
}

/**
 * Whether it is the fault of the one that asked for the i-th. Whether a broken connection has committed nobody knows;
 * otherwise the others have done nothing yet, and who of several it was shows when each is asked for alone.
 */
function isItsOwn(error: unknown, sent: PlannedStatement<PendingStatement>[], i: number, at: number): boolean {
  if (sent[i]?.asked.length !== 1) return false;
  return sent.length === 1 || (i === at && !isDeadlock(error));
}
