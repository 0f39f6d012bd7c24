import type pg from 'pg';
import type { Query } from '../sql/statement.ts';
import { type Database, Executor } from './database.ts';
import type { Row } from './pipelined-transaction.ts';

/**
 * The database for one request. Each statement has a time limit, but a request can send many one after the other, so
 * after the deadline no statement or transaction is started, and an open transaction is rolled back.
 */
export class RequestDatabase extends Executor {
  readonly database: Database;
  readonly #deadline: number;

  /** `elapsedMs` is the time that the request has already waited for the database. */
  constructor(database: Database, elapsedMs = 0) {
    super();
    this.database = database;
    this.#deadline = performance.now() + database.requestDeadlineMs - elapsedMs;
  }

  transaction<T>(work: (executor: Executor) => Promise<T>): Promise<T> {
    return this.database.transaction(work, this.#deadline);
  }

  afterCommit(work: () => void): void {
    this.database.afterCommit(work);
  }

  override queryRow(query: Query): Promise<Row | undefined> {
    return this.database.queryRow(query, this.#deadline);
  }

  override streamRows(query: Query): AsyncGenerator<string> {
    return this.database.streamRows(query, this.#deadline);
  }

  override run<R extends pg.QueryResultRow>(query: Query): Promise<pg.QueryResult<R>> {
    return this.database.runUntil<R>(query, this.#deadline);
  }
}
