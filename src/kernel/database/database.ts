import pg from 'pg';
import { UnavailableError } from '../errors.ts';
import type { Statement } from '../sql/statement.ts';
import { type OnBatch, PipelinedPool, type Query } from './pipelined-pool.ts';
import { isConnectionError, isMissingPreparedStatement, isTransient } from './postgres-errors.ts';
import { PrimaryClient, type PrimaryClientConfig } from './primary-client.ts';
import { WITH_SAFE_COMMITS } from './safe-commits.ts';
import { sessionLimits } from './session-settings.ts';

export type Connection = { connectionString: string } | { host: string; user: string; database: string };

export type DatabaseOptions = {
  connection: Connection;
  poolSize: number;
  onError?: (error: Error) => void;
};

const CONNECT_MS = 5_000;
const STATEMENT_MS = 15_000;
// A server that does not even say that: whatever waits on that connection is told so, and it goes.
const RESPONSE_TIMEOUT_MS = 20_000;
const IDLE_MS = 10_000;
// Longer than the statements of one commit take one after the other, and than a transaction of many short ones.
const SHARED_COMMIT_MS = 30_000;
const TRANSACTION_MS = 60_000;
const STREAM_CONNECTIONS = 4;
const SHORT_MAX_IN_FLIGHT = 16;
// Enough that a connection need not wait for this process. Whoever waits here goes to whichever connection is done first, and
// not behind one whose server process has lost its turn, and shares a statement with others who wait.
const LIST_MAX_IN_FLIGHT = 3;
const SEARCH_MAX_IN_FLIGHT = 4;
// What is found by its keys needs one plan. Where cases differ in size the server would plan a list anew each time, which
// takes longer than the list.
// Nor is that compiled: on a server that has no statistics yet, one plan for several seems to be worth it, and is not.
const GENERIC_PLAN_SQL = 'SET plan_cache_mode = force_generic_plan; SET jit = off; ';

/** Runs statements: the database itself, or one transaction on it. */
export abstract class Executor {
  abstract readonly database: Database;

  /** All of what `work` does, or nothing. */
  abstract transaction<T>(work: (executor: Executor) => Promise<T>): Promise<T>;

  /** Does what only makes sense once others can see what was written. */
  abstract afterCommit(work: () => void): void;

  protected abstract run<Row extends pg.QueryResultRow>(query: Query): Promise<pg.QueryResult<Row>>;

  async queryRows<Row extends pg.QueryResultRow>(statement: Statement, values: unknown[]): Promise<Row[]> {
    return (await this.run<Row>({ ...statement, values })).rows;
  }

  async queryFirst<Row extends pg.QueryResultRow>(statement: Statement, values: unknown[]): Promise<Row | undefined> {
    return (await this.queryRows<Row>(statement, values))[0];
  }

  /** The one JSON document that the statement builds, as text; undefined where it found or wrote nothing. */
  async queryJson(statement: Statement, values: unknown[]): Promise<string | undefined> {
    return (await this.run<string[]>({ ...statement, values, rowMode: 'array' })).rows[0]?.[0];
  }
}

/** A statement that fails does not end it: what the verbs learn from a broken constraint they learn here too. */
class Transaction extends Executor {
  readonly database: Database;
  readonly #client: pg.PoolClient;
  readonly #afterwards: (() => void)[] = [];
  #depth = 0;

  constructor(database: Database, client: pg.PoolClient) {
    super();
    this.database = database;
    this.#client = client;
  }

  async transaction<T>(work: (executor: Executor) => Promise<T>): Promise<T> {
    const savepoint = `s${++this.#depth}`;
    await this.#client.query(`SAVEPOINT ${savepoint}`);
    try {
      const result = await work(this);
      await this.#client.query(`RELEASE ${savepoint}`);
      return result;
    } catch (error) {
      // A connection that is silent would be waited for once more.
      if (!isConnectionError(error)) await this.#client.query(`ROLLBACK TO ${savepoint}`).catch(() => {});
      throw error;
    } finally {
      this.#depth--;
    }
  }

  afterCommit(work: () => void): void {
    this.#afterwards.push(work);
  }

  committed(): void {
    for (const work of this.#afterwards) work();
  }

  protected override run<Row extends pg.QueryResultRow>(query: Query): Promise<pg.QueryResult<Row>> {
    return this.transaction(() => this.database.measure(query.name, () => this.#client.query<Row>(query)));
  }
}

/** PostgreSQL through named prepared statements. Opened once per process and handed to whoever needs it. */
export class Database extends Executor {
  readonly database = this;
  /** Single statements, and by themselves those that take their time. */
  readonly #short: PipelinedPool;
  readonly #lists: PipelinedPool;
  readonly #searches: PipelinedPool;
  /** Transactions, each with a connection to itself. */
  readonly pool: pg.Pool;
  /** For what a slow reader can hold up: it never keeps a short statement waiting. */
  readonly #readerPool: pg.Pool;
  /** Told of every statement, for the metrics. */
  onStatement: (name: string, seconds: number) => void = () => {};
  onBatch: OnBatch = () => {};
  /** How many connections have broken. While it stays the same, the server has not crashed and not been replaced. */
  connectionFailures = 0;

  constructor({ connection, poolSize, onError: tell = () => {} }: DatabaseOptions) {
    super();
    const onError = (error: Error) => {
      this.connectionFailures++;
      tell(error);
    };
    const settings = {
      ...connection,
      connectionTimeoutMillis: CONNECT_MS,
      statement_timeout: STATEMENT_MS,
      // A process that stands still in the middle keeps others waiting for its locks, and followers for its events.
      idle_in_transaction_session_timeout: IDLE_MS,
      application_name: 'case-records',
    };
    const beginning = (transactionMs?: number) => `${WITH_SAFE_COMMITS}; ${sessionLimits(transactionMs)}`;
    const pipelines = (size: number, ahead: number, planning: string) => {
      const sessionSql = `${planning}${beginning(SHARED_COMMIT_MS)}`;
      return new PipelinedPool({
        size,
        maxInFlight: ahead,
        responseTimeoutMs: RESPONSE_TIMEOUT_MS,
        connect: () => new PrimaryClient({ ...settings, pipeline: true, sessionSql }),
        onError,
        onBatch: (...told) => this.onBatch(...told),
      });
    };
    const pool = (max: number, transactionMs?: number) => {
      const config: PrimaryClientConfig & pg.PoolConfig = {
        ...settings,
        sessionSql: beginning(transactionMs),
        query_timeout: RESPONSE_TIMEOUT_MS,
        max,
        Client: PrimaryClient,
      };
      const made = new pg.Pool(config);
      // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
      made.on('error', onError);
      return made;
    };
    this.#short = pipelines(poolSize, SHORT_MAX_IN_FLIGHT, GENERIC_PLAN_SQL);
    this.#lists = pipelines(Math.ceil(poolSize / 2), LIST_MAX_IN_FLIGHT, GENERIC_PLAN_SQL);
    this.#searches = pipelines(Math.ceil(poolSize / 2), SEARCH_MAX_IN_FLIGHT, '');
    this.pool = pool(poolSize, TRANSACTION_MS);
    this.#readerPool = pool(STREAM_CONNECTIONS);
  }

  /** How many connections there are, and how many wait for one. */
  get connections(): { idle: number; busy: number; waiting: number } {
    const pooled = [this.pool, this.#readerPool].map(({ idleCount: idle, totalCount, waitingCount: waiting }) => ({
      idle,
      busy: totalCount - idle,
      waiting,
    }));
    const all = [this.#short.counts, this.#lists.counts, this.#searches.counts, ...pooled];
    const sum = (state: 'idle' | 'busy' | 'waiting') => all.reduce((total, counts) => total + counts[state], 0);
    return { idle: sum('idle'), busy: sum('busy'), waiting: sum('waiting') };
  }

  /** The first column, row by row: as fast as it is taken, and as everything stood at the beginning. */
  async *streamRows({ name, text }: Statement, values: unknown[]): AsyncGenerator<string> {
    const client = await this.#readerPool.connect().catch(rethrowAsUnavailable);
    let failure: unknown;
    try {
      await client.query('BEGIN READ ONLY');
      await client.query({ text: `DECLARE entries NO SCROLL CURSOR FOR ${text}`, values });
      for (;;) {
        const { rows } = await this.measure(name, () =>
          client.query<[string]>({ text: 'FETCH entries', rowMode: 'array' }),
        );
        if (!rows[0]) break;
        yield rows[0][0];
      }
    } catch (error) {
      failure = error;
      rethrowAsUnavailable(error);
    } finally {
      // Also where nobody takes the rest: the cursor ends with its transaction.
      await rollBack(client, failure);
    }
  }

  async transaction<T>(work: (executor: Executor) => Promise<T>): Promise<T> {
    const client = await this.pool.connect().catch(rethrowAsUnavailable);
    try {
      await client.query('BEGIN');
      const transaction = new Transaction(this, client);
      const result = await work(transaction);
      await client.query('COMMIT');
      client.release();
      transaction.committed();
      return result;
    } catch (error) {
      await rollBack(client, error);
      return rethrowAsUnavailable(error);
    }
  }

  afterCommit(work: () => void): void {
    work();
  }

  async measure<T>(name: string, work: () => Promise<T>): Promise<T> {
    const begun = performance.now();
    try {
      return await work();
    } finally {
      this.onStatement(name, (performance.now() - begun) / 1000);
    }
  }

  async close(): Promise<void> {
    const lanes = [this.#short, this.#lists, this.#searches].map((pipelines) => pipelines.close());
    await Promise.all([...lanes, this.pool.end(), this.#readerPool.end()]);
  }

  override queryJson(statement: Statement, values: unknown[]): Promise<string | undefined> {
    return this.#ask({ ...statement, values }, askText) as Promise<string | undefined>;
  }

  protected override run<Row extends pg.QueryResultRow>(query: Query): Promise<pg.QueryResult<Row>> {
    return this.#ask(query, askRows<Row>);
  }

  /** As `timed`, but with as few promises as there can be: most requests come by here once. */
  async #ask<T>(query: Query, ask: (pipelines: PipelinedPool, query: Query) => Promise<T>): Promise<T> {
    const { takesTime } = query;
    const pipelines = takesTime === undefined ? this.#short : takesTime === 'list' ? this.#lists : this.#searches;
    const begun = performance.now();
    try {
      return await ask(pipelines, query);
    } catch (error) {
      if (isConnectionError(error)) this.connectionFailures++;
      // Nobody may have noticed yet that an idle connection broke. What only reads can be asked again on another.
      const again = isMissingPreparedStatement(error) || (isConnectionError(error) && READS.test(query.text));
      return await (again ? ask(pipelines, query).catch(rethrowAsUnavailable) : rethrowAsUnavailable(error));
    } finally {
      this.onStatement(query.name, (performance.now() - begun) / 1000);
    }
  }
}

const askText = (pipelines: PipelinedPool, query: Query) => pipelines.text(query);
const askRows = <Row extends pg.QueryResultRow>(pipelines: PipelinedPool, query: Query) => pipelines.query<Row>(query);

/** A connection that cannot even do that goes: whatever state it is in, nobody will meet it again. */
async function rollBack(client: pg.PoolClient, failure: unknown): Promise<void> {
  if (failure !== undefined && isConnectionError(failure)) return client.release(true);
  await client.query('ROLLBACK').then(
    () => client.release(),
    () => client.release(true),
  );
}

function rethrowAsUnavailable(error: unknown): never {
  throw isTransient(error) ? new UnavailableError('The database cannot be reached.', error) : error;
}

const READS = /^\s*SELECT\b/;
