import type pg from 'pg';
import { UnavailableError } from '../errors.ts';
import type { PreparedStatement, Query } from '../sql/statement.ts';
import { type PlannedStatement, planTransactions } from './batching.ts';
import { assertNotPast } from './deadline.ts';
import { PipelinedTransaction, type Row } from './pipelined-transaction.ts';
import { isConnectionError, isDeadlock, isServerError } from './postgres-errors.ts';
import { QueryWithSettings } from './query-with-settings.ts';

/** The row that answers a request, or undefined if there is none. */
type Answer = Row | undefined;
type PooledConnection = {
  client: pg.Client;
  /** For each statement in flight, oldest first: the sweep at which it was reserved. */
  readonly inFlight: number[];
  opening: Promise<unknown> | undefined;
  /** The sweep at which the connection was told to end. */
  ending: number | undefined;
  readonly ended: Promise<void>;
  /** When it last answered, or got a statement while it was idle. */
  answeredAt: number;
  /** The names of the statements that it has answered, and so has prepared. */
  readonly prepared: Set<string>;
  /** Statements that are sent together at the end of this event-loop turn. */
  pendingBatch: PendingStatement[];
};
type PendingStatement = { query: Query; resolve: (answer: Answer) => void; reject: (error: unknown) => void };
type Waiter = {
  /** Waiters for the same statement can be batched. Undefined if the statement cannot be batched. */
  batchable: PreparedStatement | undefined;
  start: (connection: PooledConnection) => void;
  reject: (error: Error) => void;
  since: number;
};

type PipelinedPoolOptions = {
  size: number;
  /**
   * Maximum statements in flight per connection; a slow one delays those behind it. A batch that is taken from the wait
   * queue may exceed it.
   */
  maxInFlight: number;
  /** A connection that does not answer for so long is closed, and all its statements fail. */
  responseTimeoutMs: number;
  connect: () => pg.Client;
  /**
   * The prepared statement that each transaction begins with, if a pooler may give each one another session; connecting
   * has prepared it.
   */
  transactionSettings?: string | undefined;
  onError: (error: Error) => void;
  /** Called for every batched statement. */
  onBatch?: OnBatch;
};
export type OnBatch = (statement: string, requests: number, succeeded: boolean) => void;

// A connection whose oldest statement takes longer gets no further statement.
const STUCK_MS = 250;
const MAX_WAIT_MS = 5_000;
// Interval of the timeout sweep. A timer per statement kept its values alive past two scavenges and promoted them
// (decision 17). Timeouts count sweeps, so a suspended process does not time everything out when it resumes.
const SWEEP_INTERVAL_MS = 500;
/** Rejection value: the batch or transaction failed because of another statement, or of an unknown one in it. */
const RETRY_SINGLY = Symbol('retry singly');
const MAX_BATCH_SIZE = 8;
// With fewer busy connections a statement is answered sooner on a connection of its own than in a batch.
const MIN_BUSY_TO_BATCH = 2;

/**
 * A pool of connections with pipelining: a statement is sent before the previous one is answered, each in a transaction
 * of its own, on the connection with the fewest statements in flight (1.1 to 1.45 times the throughput of a pool
 * without). Short statements of the same event-loop turn share a transaction (decision 18) or a statement (decision 21).
 */
export class PipelinedPool {
  readonly #options: PipelinedPoolOptions;
  readonly #connections = new Set<PooledConnection>();
  /** Connections whose socket is open, also those that take no further statement. */
  readonly #open = new Set<PooledConnection>();
  #waiters: Waiter[] = [];
  readonly #timer: NodeJS.Timeout;
  #sweeps = 0;
  #closed = false;

  constructor(options: PipelinedPoolOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#sweep(), SWEEP_INTERVAL_MS).unref();
  }

  queryRows<Row extends pg.QueryResultRow>({ statement, values }: Query): Promise<pg.QueryResult<Row>> {
    const { name, text } = statement;
    const { transactionSettings } = this.#options;
    return this.#withConnection(
      () => this.#leastBusy(),
      ({ client }) =>
        new Promise((resolve, reject) => {
          const callback = (error: Error, result: pg.QueryResult<Row>) => (error ? reject(error) : resolve(result));
          const query = { name, text, values };
          if (transactionSettings === undefined) client.query<Row>(query, callback);
          else client.query(new QueryWithSettings(query, transactionSettings, callback));
        }),
    );
  }

  /** After the deadline a statement whose batch failed is not sent singly. */
  queryRow(query: Query, deadline = Infinity): Promise<Answer> {
    const { statement } = query;
    const singly = (connection: PooledConnection) => this.#sendSingly(connection, query);
    const isShort = statement.pool === 'short';
    if (!isShort && !statement.batch) return this.#withConnection(() => this.#leastBusy(), singly);
    return this.#withConnection(
      // Two connections finish two lists sooner than one does.
      () => (isShort ? (this.#batching() ?? this.#leastBusy()) : this.#leastBusy()),
      (connection) => this.#addToBatch(connection, query),
      singly,
      statement.batch && statement,
      deadline,
    );
  }

  /** Runs `work`; if that is rejected with RETRY_SINGLY, runs `singly` on a free connection after releasing its place. */
  async #withConnection<T>(
    find: () => PooledConnection | undefined,
    work: (connection: PooledConnection) => Promise<T>,
    singly = work,
    batchable?: PreparedStatement,
    deadline = Infinity,
  ): Promise<T> {
    // A new request does not overtake those that wait.
    const free = this.#waiters.length === 0 ? find() : undefined;
    const connection = free ? this.#reserve(free) : await this.#enqueue(batchable);
    try {
      if (connection.opening) await connection.opening;
      return await work(connection);
    } catch (error) {
      if (error !== RETRY_SINGLY) {
        // Removed before the caller retries: the client may report its end later, or stay open and be unusable.
        if (isConnectionError(error)) this.#drop(connection);
        throw error;
      }
    } finally {
      connection.inFlight.shift();
      connection.answeredAt = performance.now();
      this.#serveWaiters();
    }
    assertNotPast(deadline);
    return this.#withConnection(() => this.#leastBusy(), singly);
  }

  get counts(): { idle: number; busy: number; waiting: number } {
    const busy = [...this.#connections].filter(({ inFlight }) => inFlight.length > 0).length;
    return { idle: this.#connections.size - busy, busy, waiting: this.#waiters.length };
  }

  /** Waits for the statements in flight. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { reject } of this.#waiters.splice(0)) reject(poolClosed());
    for (const connection of this.#connections) this.#drop(connection);
    await Promise.all([...this.#open].map(({ ended }) => ended));
    clearInterval(this.#timer);
  }

  #leastBusy(): PooledConnection | undefined {
    if (this.#closed) throw poolClosed();
    const now = performance.now();
    let best: PooledConnection | undefined;
    for (const connection of this.#connections) {
      const { inFlight, answeredAt } = connection;
      const stuck = inFlight.length > 0 && now - answeredAt > STUCK_MS;
      if (!stuck && (!best || inFlight.length < best.inFlight.length)) best = connection;
    }
    if ((!best || best.inFlight.length > 0) && this.#connections.size < this.#options.size) return this.#connect();
    return best && best.inFlight.length < this.#options.maxInFlight ? best : undefined;
  }

  /** A connection with a pending batch that has room. */
  #batching(): PooledConnection | undefined {
    let found: PooledConnection | undefined;
    let busy = 0;
    for (const connection of this.#connections) {
      const { inFlight, pendingBatch } = connection;
      if (inFlight.length > 0) busy++;
      const { length } = pendingBatch;
      if (length > 0 && length < MAX_BATCH_SIZE && inFlight.length < this.#options.maxInFlight) found ??= connection;
    }
    return busy < MIN_BUSY_TO_BATCH ? undefined : found;
  }

  #addToBatch(connection: PooledConnection, query: Query): Promise<Answer> {
    if (!connection.prepared.has(query.statement.name)) return this.#sendSingly(connection, query);
    if (connection.pendingBatch.length === MAX_BATCH_SIZE) this.#sendBatch(connection);
    return new Promise((resolve, reject) => {
      connection.pendingBatch.push({ query, resolve, reject });
      // After all input of this event-loop turn has been read.
      if (connection.pendingBatch.length === 1) setImmediate(() => this.#sendBatch(connection));
    });
  }

  #sendSingly(connection: PooledConnection, query: Query): Promise<Answer> {
    return new Promise((resolve, reject) =>
      this.#send(connection, [{ ...query, requests: [{ query, resolve, reject }] }]),
    );
  }

  #sendBatch(connection: PooledConnection): void {
    const { pendingBatch } = connection;
    connection.pendingBatch = [];
    if (pendingBatch.length === 0) return;
    try {
      for (const transaction of planTransactions(pendingBatch)) this.#send(connection, transaction);
    } catch (error) {
      for (const { reject } of pendingBatch) reject(error);
    }
  }

  #send(connection: PooledConnection, planned: PlannedStatement<PendingStatement>[]): void {
    const requests = planned[0]?.requests ?? [];
    // A list is valid without a commit, so each request is answered as soon as its row arrives.
    const isListBatch = requests.length > 1 && requests[0]?.query.statement.pool !== 'short';
    const onRow = isListBatch ? (row: Row) => resolveNth(requests, row) : undefined;
    const { transactionSettings } = this.#options;
    const transaction = new PipelinedTransaction(planned, transactionSettings, onRow, (error, results) => {
      for (const [i, { statement, requests }] of planned.entries()) {
        const [first] = requests;
        if (first && requests.length > 1) this.#options.onBatch?.(first.query.statement.name, requests.length, !error);
        if (!error) {
          connection.prepared.add(statement.name);
          resolveAll(requests, results?.[i] ?? []);
        } else {
          const isFinal =
            !isServerError(error) || isConnectionError(error) || isAtFault(error, planned, i, transaction.failedIndex);
          for (const { reject } of requests) reject(isFinal ? error : RETRY_SINGLY);
        }
      }
    });
    connection.client.query(transaction);
  }

  #connect(): PooledConnection {
    const client = this.#options.connect();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const connection: PooledConnection = {
      client,
      inFlight: [],
      opening: undefined,
      ending: undefined,
      ended,
      answeredAt: performance.now(),
      prepared: new Set(),
      pendingBatch: [],
    };
    const drop = () => this.#drop(connection);
    // pg's connect() stays pending when the client is ended meanwhile.
    const endedEarly = ended.then(() => {
      throw new Error('Connection terminated before it was open.');
    });
    connection.opening = Promise.race([client.connect(), endedEarly]).then(
      () => {
        connection.opening = undefined;
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
      this.#open.delete(connection);
      end();
    });
    this.#connections.add(connection);
    this.#open.add(connection);
    return connection;
  }

  /** Takes the connection out of the pool. It ends when its statements in flight are answered. */
  #drop(connection: PooledConnection): void {
    if (!this.#connections.delete(connection)) return;
    connection.ending = this.#sweeps;
    void connection.client.end();
  }

  #enqueue(batchable: PreparedStatement | undefined): Promise<PooledConnection> {
    return new Promise((start, reject) => this.#waiters.push({ batchable, start, reject, since: this.#sweeps }));
  }

  /** Ends connections that do not answer, and rejects requests that have waited too long for one. */
  #sweep(): void {
    this.#sweeps++;
    const sweepBefore = (ms: number) => this.#sweeps - Math.ceil(ms / SWEEP_INTERVAL_MS) - 1;
    for (const { client, inFlight, ending = this.#sweeps } of this.#open) {
      const [oldest] = inFlight;
      const timedOut =
        oldest === undefined
          ? ending <= sweepBefore(MAX_WAIT_MS)
          : oldest <= sweepBefore(this.#options.responseTimeoutMs);
      if (timedOut) client.connection.stream.destroy(new Error('Connection terminated: the server is silent.'));
    }
    while ((this.#waiters[0]?.since ?? this.#sweeps) <= sweepBefore(MAX_WAIT_MS))
      this.#waiters.shift()?.reject(new UnavailableError('Too many requests wait for the database.'));
  }

  #serveWaiters(): void {
    while (this.#waiters.length > 0 && !this.#closed) {
      const connection = this.#leastBusy();
      if (!connection) return;
      for (const { start } of this.#dequeue()) start(this.#reserve(connection));
    }
  }

  /** Removes the oldest waiter, and others for the same statement up to a fair share for each connection. */
  #dequeue(): Waiter[] {
    const share = Math.min(Math.ceil(this.#waiters.length / this.#options.size), MAX_BATCH_SIZE);
    const batchable = this.#waiters[0]?.batchable;
    const dequeued = this.#waiters.filter((one) => one.batchable === batchable).slice(0, batchable ? share : 1);
    this.#waiters = this.#waiters.filter((one) => !dequeued.includes(one));
    return dequeued;
  }

  #reserve(connection: PooledConnection): PooledConnection {
    if (connection.inFlight.push(this.#sweeps) === 1) connection.answeredAt = performance.now();
    return connection;
  }
}

const poolClosed = () => new UnavailableError('The connections to the database are closed.');

/** A row of a batch starts with the position of its request. */
function resolveNth(requests: PendingStatement[], row: Row): void {
  requests[Number(row[0]) - 1]?.resolve(row);
}

/** A request without a row gets undefined; resolving a request again has no effect. */
function resolveAll(requests: PendingStatement[], rows: Row[]): void {
  if (requests.length === 1) requests[0]?.resolve(rows[0]);
  else for (const row of rows) resolveNth(requests, row);
  for (const { resolve } of requests) resolve(undefined);
}

/**
 * True if the i-th statement caused the error, which its request then gets. In a batch the culprit is unknown until each
 * request is sent singly; a deadlock has no culprit.
 */
function isAtFault(
  error: unknown,
  planned: PlannedStatement<PendingStatement>[],
  i: number,
  failedIndex: number,
): boolean {
  if (planned[i]?.requests.length !== 1) return false;
  return planned.length === 1 || (i === failedIndex && !isDeadlock(error));
}
