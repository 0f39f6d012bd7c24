import pg from 'pg';

/** `firstStatement` is run as part of connecting, so the pool's connection timeout covers it. */
export type PrimaryClientConfig = pg.ClientConfig & { firstStatement?: { name?: string; text: string } | undefined };

/**
 * A connection to the primary. Ends when the server turns out to be a standby, which rejects writes and may return old
 * rows. Also ends when a commit stops waiting for its synchronous standby (for example by pg_cancel_backend):
 * PostgreSQL reports success and sends a notice, but the write may be lost with the primary.
 */
export class PrimaryClient extends pg.Client {
  readonly #firstStatement: PrimaryClientConfig['firstStatement'];

  constructor(config?: PrimaryClientConfig) {
    super(config);
    this.#firstStatement = config?.firstStatement;
    // The statements of a broken connection fail. Without a listener its error would also end the process.
    this.on('error', () => {});
    const { connection } = this;
    connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
      if (parameterName !== 'in_hot_standby' || parameterValue !== 'on') return;
      connection.stream.destroy(new Error('Connection terminated: the server is a standby.'));
    });
    this.on('notice', ({ routine }) => {
      if (routine !== 'SyncRepWaitForLSN') return;
      // The report of success may be in the same packet, so the statements must fail immediately.
      connection.emit('error', new Error('Connection terminated: a commit did not wait for its standby.'));
      connection.stream.destroy();
    });
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    const connected = super.connect().then(async () => {
      try {
        if (this.#firstStatement) await this.query(this.#firstStatement);
      } catch (error) {
        // The pool forgets a connection that it could not open, and would leave this one open.
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
