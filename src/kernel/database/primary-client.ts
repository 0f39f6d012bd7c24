import pg from 'pg';

/** `sessionSql` is a part of connecting: the pool's time limit for a new connection covers it as well. */
export type PrimaryClientConfig = pg.ClientConfig & { sessionSql?: string };

/**
 * A connection to write on. A standby shows what was and takes nothing: whoever reaches one is told that the connection
 * has ended. So is whoever waits for a commit that somebody kept from waiting for its standby: PostgreSQL reports it as
 * done, with a notice beside it, and it may be lost with the primary.
 */
export class PrimaryClient extends pg.Client {
  readonly #sessionSql: string | undefined;

  constructor(config?: PrimaryClientConfig) {
    super(config);
    this.#sessionSql = config?.sessionSql;
    // A connection that breaks fails its statements. Without a listener its error would also end the process.
    this.on('error', () => {});
    const { connection } = this;
    connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
      if (parameterName !== 'in_hot_standby' || parameterValue !== 'on') return;
      connection.stream.destroy(new Error('Connection terminated: the server is a standby.'));
    });
    this.on('notice', ({ routine }) => {
      if (routine !== 'SyncRepWaitForLSN') return;
      // At once: what reports it as done may be in the same packet.
      connection.emit('error', new Error('Connection terminated: a commit did not wait for its standby.'));
      connection.stream.destroy();
    });
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    const connected = super.connect().then(async () => {
      try {
        if (this.#sessionSql !== undefined) await this.query(this.#sessionSql);
      } catch (error) {
        // The pool forgets a connection that could not be made, and would leave this one open.
        this.connection.stream.destroy();
        throw error;
      }
      return this;
    });
    if (!callback) return connected;
    connected.then(() => callback(undefined as never), callback);
    return undefined;
  }
}
