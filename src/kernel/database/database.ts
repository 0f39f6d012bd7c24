import pg from 'pg';
import { UnavailableError } from '../errors.ts';
import type { Query } from '../sql/statement.ts';
import { type Connection, sharesSessions } from './connection.ts';
import { assertNotPast, deadlineError, isPast } from './deadline.ts';
import { type OnBatch, PipelinedPool } from './pipelined-pool.ts';
import type { Row } from './pipelined-transaction.ts';
import { isConnectionError, isMissingPreparedStatement, isStatementTimeout, isTransient } from './postgres-errors.ts';
import { PrimaryClient, type PrimaryClientConfig } from './primary-client.ts';
import { settingsSql } from './session-settings.ts';
import { SilenceWatch } from './silence-watch.ts';
import { TransactionConnection } from './transaction-connection.ts';

export type { Connection };

type DatabaseOptions = {
  connection: Connection;
  poolSize: number;
  onError?: (error: Error) => void;
  /** By default RESPONSE_TIMEOUT_MS. */
  responseTimeoutMs?: number;
  /** By default REQUEST_DEADLINE_MS. */
  requestDeadlineMs?: number;
};

const CONNECT_TIMEOUT_MS = 5_000;
const TIMEOUTS_MS = {
  statement_timeout: 15_000,
  // A process that is suspended inside a transaction would block others by its locks, and followers of the event log.
  idle_in_transaction_session_timeout: 10_000,
};
// If the server sends nothing for this long, not even its statement timeout, the connection is dropped.
const RESPONSE_TIMEOUT_MS = 20_000;
// A request starts no statement later than this. A statement ends within 26 s: 5 for a connection, RESPONSE_TIMEOUT_MS,
// and a sweep for each. So every request is answered within 45 s, which docs/operations.md promises.
const REQUEST_DEADLINE_MS = 17_000;
// Longer than the statements of one pipelined transaction take one after the other.
const PIPELINED_TRANSACTION_TIMEOUT_MS = 30_000;
const TRANSACTION_TIMEOUT_MS = 60_000;
const STREAM_CONNECTIONS = 4;
const SHORT_MAX_IN_FLIGHT = 16;
// Enough to hide the latency of this process. Other lists wait here and go to the first free connection instead of
// queuing behind a descheduled backend; meanwhile they can be batched.
const LIST_MAX_IN_FLIGHT = 3;
const SEARCH_MAX_IN_FLIGHT = 4;
// Statements that find rows by key need one plan. Custom plans for cases of different sizes cost more than the list
// itself (decision 19). Without statistics the planner overestimates generic plans and would compile them.
const GENERIC_PLANS = { plan_cache_mode: 'force_generic_plan', jit: 'off' };
// A table that was empty when a connection planned its statements, such as that of the idempotency keys after a quiet
// day, would be read from end to end for every row, however large it becomes.
const SHORT_PLANS = { ...GENERIC_PLANS, enable_seqscan: 'off' };
// Of a company of unknown size PostgreSQL would rather sort all records than read the newest ones from an index.
const INDEX_PLANS = { ...SHORT_PLANS, enable_sort: 'off' };

/** A record as JSON text. `version` changes whenever the text does; undefined if the text shows no record. */
export type ShownRecord = { json: string; version: string | undefined };

/** Runs statements: the database itself, or one transaction on it. */
export abstract class Executor {
  abstract readonly database: Database;

  /** Commits everything that `work` does, or nothing. */
  abstract transaction<T>(work: (executor: Executor) => Promise<T>): Promise<T>;

  /** Calls `work` once the changes are visible to others. */
  abstract afterCommit(work: () => void): void;

  /** Yields the first column row by row, as fast as it is consumed, from one snapshot outside this transaction. */
  streamRows(query: Query): AsyncGenerator<string> {
    return this.database.streamRows(query);
  }

  abstract run<Row extends pg.QueryResultRow>(query: Query, rowMode?: 'array'): Promise<pg.QueryResult<Row>>;

  async queryRows<Row extends pg.QueryResultRow>(query: Query): Promise<Row[]> {
    return (await this.run<Row>(query)).rows;
  }

  async queryFirst<Row extends pg.QueryResultRow>(query: Query): Promise<Row | undefined> {
    return (await this.queryRows<Row>(query))[0];
  }

  /** Returns the columns of the first row as text, or undefined if there is no row. */
  async queryRow(query: Query): Promise<Row | undefined> {
    return (await this.run<Row>(query, 'array')).rows[0];
  }

  /** Returns the last column of the first row, JSON text that the statement built, or undefined if there is no row. */
  async queryJson(query: Query): Promise<string | undefined> {
    return (await this.queryRow(query))?.at(-1) as string | undefined;
  }

  /** Returns the last two columns of the first row: the version of a record, and JSON text that shows it. */
  async queryRecord(query: Query): Promise<ShownRecord | undefined> {
    const row = await this.queryRow(query);
    return row && { json: row.at(-1) as string, version: row.at(-2) ?? undefined };
  }
}

/** A failed statement does not end the transaction, so that verbs can react to a violated constraint here too. */
class Transaction extends Executor {
  readonly database: Database;
  readonly #connection: TransactionConnection;
  readonly #afterCommit: (() => void)[] = [];
  #depth = 0;

  constructor(database: Database, connection: TransactionConnection) {
    super();
    this.database = database;
    this.#connection = connection;
  }

  async transaction<T>(work: (executor: Executor) => Promise<T>): Promise<T> {
    const savepoint = `s${++this.#depth}`;
    await this.#connection.send(`SAVEPOINT ${savepoint}`);
    try {
      const result = await work(this);
      await this.#connection.send(`RELEASE ${savepoint}`);
      return result;
    } catch (error) {
      // On a broken connection the rollback would only wait for another timeout. Past the deadline it is not sent,
      // because the whole transaction will be rolled back.
      if (!isConnectionError(error)) await this.#connection.send(`ROLLBACK TO ${savepoint}`).catch(() => {});
      throw error;
    } finally {
      this.#depth--;
    }
  }

  afterCommit(work: () => void): void {
    this.#afterCommit.push(work);
  }

  committed(): void {
    for (const work of this.#afterCommit) work();
  }

  override run<Row extends pg.QueryResultRow>(
    { statement: { name, text }, values }: Query,
    rowMode?: 'array',
  ): Promise<pg.QueryResult<Row>> {
    const query = { name, text, values, ...(rowMode && { rowMode }) };
    return this.transaction(() => this.database.measure(name, () => this.#connection.send<Row>(query)));
  }
}

/** PostgreSQL through named prepared statements. Each process has one. */
export class Database extends Executor {
  readonly database = this;
  readonly #pools: Record<Query['statement']['pool'], PipelinedPool>;
  /** Transactions, each on a connection of its own. */
  readonly pool: pg.Pool;
  /** Streams, which a slow client can hold up. */
  readonly #streamPool: pg.Pool;
  /** SQL that follows BEGIN; empty if the session has the settings already. */
  readonly #transactionSettings: string;
  readonly #streamSettings: string;
  readonly #silenceWatch: SilenceWatch;
  readonly requestDeadlineMs: number;
  /** Called after every statement, for the metrics. */
  onStatement: (name: string, seconds: number) => void = () => {};
  onBatch: OnBatch = () => {};
  /** While this count stays the same, the server has neither crashed nor been replaced. */
  connectionFailures = 0;
  /** A pooler that shares sessions also hides that the server has crashed. */
  readonly noticesFailures: boolean;

  constructor(options: DatabaseOptions) {
    super();
    const { connection, poolSize, onError: reportError = () => {} } = options;
    const { responseTimeoutMs = RESPONSE_TIMEOUT_MS, requestDeadlineMs = REQUEST_DEADLINE_MS } = options;
    this.requestDeadlineMs = requestDeadlineMs;
    this.#silenceWatch = new SilenceWatch(responseTimeoutMs);
    const onError = (error: Error) => {
      this.connectionFailures++;
      reportError(error);
    };
    const settings = {
      ...connection,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      application_name: 'case-records',
    };
    const isShared = sharesSessions(connection);
    this.noticesFailures = !isShared;
    const pipelinedPool = (name: string, size: number, maxInFlight: number, plans: Record<string, string>) => {
      const values = { ...plans, ...TIMEOUTS_MS, transaction_timeout: PIPELINED_TRANSACTION_TIMEOUT_MS };
      // Connecting prepares it; if sessions are shared, each transaction then begins with it.
      const firstStatement = { name: `settings.${name}`, text: settingsSql(values, { isShared }) };
      return new PipelinedPool({
        size,
        maxInFlight,
        responseTimeoutMs,
        connect: () => new PrimaryClient({ ...settings, pipeline: true, firstStatement }),
        transactionSettings: isShared ? firstStatement.name : undefined,
        onError,
        onBatch: (...batch) => this.onBatch(...batch),
      });
    };
    const pool = (max: number, sql: string) => {
      const config: PrimaryClientConfig & pg.PoolConfig = {
        ...settings,
        firstStatement: isShared ? undefined : { text: sql },
        max,
        Client: PrimaryClient,
      };
      const opened = new pg.Pool(config);
      // The pool replaces an idle connection that breaks; without a listener the error would end the process.
      opened.on('error', onError);
      return opened;
    };
    const half = Math.ceil(poolSize / 2);
    this.#pools = {
      short: pipelinedPool('short', poolSize, SHORT_MAX_IN_FLIGHT, SHORT_PLANS),
      list: pipelinedPool('list', half, LIST_MAX_IN_FLIGHT, GENERIC_PLANS),
      search: pipelinedPool('search', half, SEARCH_MAX_IN_FLIGHT, {}),
      index: pipelinedPool('index', Math.ceil(poolSize / 4), SEARCH_MAX_IN_FLIGHT, INDEX_PLANS),
    };
    const transactionSql = settingsSql({ ...TIMEOUTS_MS, transaction_timeout: TRANSACTION_TIMEOUT_MS }, { isShared });
    this.pool = pool(poolSize, transactionSql);
    this.#transactionSettings = isShared ? `; ${transactionSql}` : '';
    // Without transaction_timeout: a stream may take as long as its reader does.
    const streamSql = settingsSql(TIMEOUTS_MS, { isShared });
    this.#streamPool = pool(STREAM_CONNECTIONS, streamSql);
    this.#streamSettings = isShared ? `; ${streamSql}` : '';
  }

  /** The number of connections, and of requests that wait for one. */
  get connections(): { idle: number; busy: number; waiting: number } {
    const pooled = [this.pool, this.#streamPool].map(({ idleCount: idle, totalCount, waitingCount: waiting }) => ({
      idle,
      busy: totalCount - idle,
      waiting,
    }));
    const all = [...Object.values(this.#pools).map(({ counts }) => counts), ...pooled];
    const sum = (state: 'idle' | 'busy' | 'waiting') => all.reduce((total, counts) => total + counts[state], 0);
    return { idle: sum('idle'), busy: sum('busy'), waiting: sum('waiting') };
  }

  /** The deadline applies to the first row. The others may take as long as the consumer does. */
  override async *streamRows({ statement, values }: Query, deadline = Infinity): AsyncGenerator<string> {
    const connection = await this.#connect(this.#streamPool, deadline);
    let failure: unknown;
    try {
      await connection.send(`BEGIN READ ONLY${this.#streamSettings}`);
      await connection.send({ text: `DECLARE entries NO SCROLL CURSOR FOR ${statement.text}`, values });
      for (;;) {
        const { rows } = await this.measure(statement.name, () => connection.send<[string]>(FETCH));
        connection.deadline = Infinity;
        if (!rows[0]) break;
        yield rows[0][0];
      }
    } catch (error) {
      failure = error;
      rethrowAsUnavailable(error);
    } finally {
      // Also runs if the consumer stops early; the cursor ends with its transaction.
      await connection.rollBack(failure);
    }
  }

  async transaction<T>(work: (executor: Executor) => Promise<T>, deadline = Infinity): Promise<T> {
    const connection = await this.#connect(this.pool, deadline);
    try {
      await connection.send(`BEGIN${this.#transactionSettings}`);
      const transaction = new Transaction(this, connection);
      const result = await work(transaction);
      await connection.commit();
      transaction.committed();
      return result;
    } catch (error) {
      await connection.rollBack(error);
      return rethrowAsUnavailable(error);
    }
  }

  async #connect(pool: pg.Pool, deadline: number): Promise<TransactionConnection> {
    assertNotPast(deadline);
    const client = await pool.connect().catch(rethrowAsUnavailable);
    return new TransactionConnection(client, this.#silenceWatch, deadline);
  }

  afterCommit(work: () => void): void {
    work();
  }

  async measure<T>(name: string, work: () => Promise<T>): Promise<T> {
    const start = performance.now();
    try {
      return await work();
    } finally {
      this.onStatement(name, (performance.now() - start) / 1000);
    }
  }

  async close(): Promise<void> {
    const pipelined = Object.values(this.#pools).map((pool) => pool.close());
    await Promise.all([...pipelined, this.pool.end(), this.#streamPool.end()]);
    this.#silenceWatch.stop();
  }

  override queryRow(query: Query, deadline = Infinity): Promise<Row | undefined> {
    return this.#send(query, sendForRow, deadline);
  }

  runUntil<Row extends pg.QueryResultRow>(query: Query, deadline: number): Promise<pg.QueryResult<Row>> {
    return this.#send(query, sendForRows<Row>, deadline);
  }

  override run<Row extends pg.QueryResultRow>(query: Query): Promise<pg.QueryResult<Row>> {
    return this.runUntil<Row>(query, Infinity);
  }

  /** Like `measure`, with as few promises as possible: most requests pass here once. */
  async #send<T>(
    query: Query,
    send: (pool: PipelinedPool, query: Query, deadline: number) => Promise<T>,
    deadline: number,
  ): Promise<T> {
    const { name, pool: poolName, readOnly } = query.statement;
    const pool = this.#pools[poolName];
    const start = performance.now();
    if (start > deadline) throw deadlineError();
    try {
      return await send(pool, query, deadline);
    } catch (error) {
      if (isConnectionError(error)) this.connectionFailures++;
      // An idle connection may have broken unnoticed. A statement that only reads is sent again on another one.
      const retryable = isMissingPreparedStatement(error) || (isConnectionError(error) && readOnly);
      if (!retryable || isPast(deadline)) return rethrowAsUnavailable(error);
      return await send(pool, query, deadline).catch(rethrowAsUnavailable);
    } finally {
      this.onStatement(name, (performance.now() - start) / 1000);
    }
  }
}

const FETCH = { text: 'FETCH entries', rowMode: 'array' } as const;

const sendForRow = (pool: PipelinedPool, query: Query, deadline: number) => pool.queryRow(query, deadline);
const sendForRows = <Row extends pg.QueryResultRow>(pool: PipelinedPool, query: Query) => pool.queryRows<Row>(query);

function rethrowAsUnavailable(error: unknown): never {
  if (isStatementTimeout(error)) throw deadlineError(error);
  throw isTransient(error) ? new UnavailableError('The database cannot be reached.', error) : error;
}
