import type pg from 'pg';
import { assertNotPast, isPast } from './deadline.ts';
import { isConnectionError } from './postgres-errors.ts';
import type { SilenceWatch } from './silence-watch.ts';

/** A connection of a pool during one transaction. Past the deadline it sends nothing, not even COMMIT. */
export class TransactionConnection {
  readonly #client: pg.PoolClient;
  readonly #watch: SilenceWatch;
  deadline: number;

  constructor(client: pg.PoolClient, watch: SilenceWatch, deadline: number) {
    this.#client = client;
    this.#watch = watch;
    this.deadline = deadline;
  }

  async send<Row extends pg.QueryResultRow>(query: string | pg.QueryConfig): Promise<pg.QueryResult<Row>> {
    assertNotPast(this.deadline);
    return this.#watch.query<Row>(this.#client, query);
  }

  async commit(): Promise<void> {
    await this.send('COMMIT');
    this.#client.release();
  }

  /**
   * Also closes a connection that cannot roll back, so that no other request meets its state. The server rolls back
   * when a connection is closed, so past the deadline no answer is waited for.
   */
  async rollBack(failure: unknown): Promise<void> {
    const unusable = isPast(this.deadline) || (failure !== undefined && isConnectionError(failure));
    if (unusable) return this.#client.release(true);
    await this.send('ROLLBACK').then(
      () => this.#client.release(),
      () => this.#client.release(true),
    );
  }
}
