import pg from 'pg';
import { CodedError } from './errors.ts';
import type { Statement } from './sql.ts';

export type Connection = { connectionString: string } | { host: string; user: string; database: string };

export type DatabaseOptions = {
  connection: Connection;
  poolSize: number;
  onError?: (error: Error) => void;
};

const CONNECT_MS = 5_000;
const STATEMENT_MS = 15_000;

/** Runs statements: the database itself, or one transaction on it. */
export abstract class Executor {
  protected abstract run<Row extends pg.QueryResultRow>(query: Query): Promise<pg.QueryResult<Row>>;

  async rows<Row extends pg.QueryResultRow>(statement: Statement, values: unknown[]): Promise<Row[]> {
    return (await this.run<Row>({ ...statement, values })).rows;
  }

  async first<Row extends pg.QueryResultRow>(statement: Statement, values: unknown[]): Promise<Row | undefined> {
    return (await this.rows<Row>(statement, values))[0];
  }

  /** The one JSON document that the statement builds, as text; undefined where it found or wrote nothing. */
  async json(statement: Statement, values: unknown[]): Promise<string | undefined> {
    return (await this.run<string[]>({ ...statement, values, rowMode: 'array' })).rows[0]?.[0];
  }
}

type Query = { name: string; text: string; values: unknown[]; rowMode?: 'array' };

class Transaction extends Executor {
  readonly #client: pg.PoolClient;

  constructor(client: pg.PoolClient) {
    super();
    this.#client = client;
  }

  protected override run<Row extends pg.QueryResultRow>(query: Query): Promise<pg.QueryResult<Row>> {
    return this.#client.query<Row>(query);
  }
}

/** PostgreSQL through named prepared statements. Opened once per process and handed to whoever needs it. */
export class Database extends Executor {
  readonly pool: pg.Pool;
  /** Told of every statement, for the metrics. */
  onStatement: (name: string, seconds: number) => void = () => {};

  constructor(options: DatabaseOptions) {
    super();
    this.pool = new pg.Pool({
      ...options.connection,
      max: options.poolSize,
      connectionTimeoutMillis: CONNECT_MS,
      statement_timeout: STATEMENT_MS,
      application_name: 'case-records',
    });
    // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
    this.pool.on('error', options.onError ?? (() => {}));
  }

  /** All of what `work` does, or nothing. */
  async transaction<T>(work: (executor: Executor) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    try {
      await client.query('BEGIN');
      const result = await work(new Transaction(client));
      await client.query('COMMIT');
      client.release();
      return result;
    } catch (error) {
      // The connection goes with it: whatever state it is in, nobody will meet it again.
      client.release(true);
      throw error;
    }
  }

  close(): Promise<void> {
    return this.pool.end();
  }

  protected override async run<Row extends pg.QueryResultRow>(query: Query): Promise<pg.QueryResult<Row>> {
    const begun = performance.now();
    try {
      return await this.pool.query<Row>(query);
    } catch (error) {
      throw isUnavailable(error) ? new CodedError('unavailable', 'The database cannot be reached.', [], error) : error;
    } finally {
      this.onStatement(query.name, (performance.now() - begun) / 1000);
    }
  }
}

/** Which constraint refused a statement, if one did. */
export const brokenConstraint = (error: unknown): string | undefined =>
  error instanceof pg.DatabaseError ? error.constraint : undefined;

/** No connection, a connection that broke, or a server that is starting or stopping (classes 08 and 57P). */
function isUnavailable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return /^(08|57P|53300)/.test(error.code ?? '');
  const { code = '', message = '' } = error as { code?: string; message?: string };
  return /^E[A-Z]+$/.test(code) || /timeout exceeded when trying to connect|Connection terminated/i.test(message);
}
