import type pg from 'pg';

// A timer per statement would keep its values alive (decision 17). Like the sweeps of PipelinedPool, these are counted,
// so a suspended process does not time everything out when it resumes.
const SWEEP_INTERVAL_MS = 500;

/** Sends the statements of transactions, and closes a connection whose server does not answer in time. */
export class SilenceWatch {
  readonly #maxSweeps: number;
  /** For each connection with a statement in flight: the sweep at which the statement was sent. */
  readonly #inFlight = new Map<pg.ClientBase, number>();
  readonly #timer: NodeJS.Timeout;
  #sweeps = 0;

  constructor(responseTimeoutMs: number) {
    this.#maxSweeps = Math.ceil(responseTimeoutMs / SWEEP_INTERVAL_MS);
    this.#timer = setInterval(() => this.#sweep(), SWEEP_INTERVAL_MS).unref();
  }

  /** The connection must have no other statement in flight. */
  async query<Row extends pg.QueryResultRow>(
    client: pg.ClientBase,
    query: string | pg.QueryConfig,
  ): Promise<pg.QueryResult<Row>> {
    this.#inFlight.set(client, this.#sweeps);
    try {
      return await client.query<Row>(query);
    } finally {
      this.#inFlight.delete(client);
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #sweep(): void {
    this.#sweeps++;
    for (const [client, sentAt] of this.#inFlight) {
      if (this.#sweeps - sentAt <= this.#maxSweeps) continue;
      (client as pg.Client).connection.stream.destroy(new Error('Connection terminated: the server is silent.'));
    }
  }
}
