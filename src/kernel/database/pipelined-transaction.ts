import pg from 'pg';
import { isServerError } from './postgres-errors.ts';

export type Row = (string | null)[];
type SentStatement = { statement: { name: string; text: string }; values: unknown[] };

/** The parts of pg's connection that are used here; pg has no types for them. */
type Connection = {
  sync(): void;
  describe(): void;
  stream: { cork(): void; uncork(): void; destroy(error: Error): void };
  bind(config: { portal: string; statement: string; values: [] }): void;
  execute(config: { portal: string; rows: number }): void;
  on(event: 'readyForQuery' | 'end', listener: () => void): void;
  off(event: 'readyForQuery' | 'end', listener: () => void): void;
};

/** pg wraps this callback and forwards at most two arguments, or only the error. */
type Callback = (error: Error | null, results?: Row[][]) => void;

/**
 * Suppresses Sync and Describe. A single Sync after the last statement ends the implicit transaction, and results are
 * read as text, so no row description is needed.
 */
const withoutSync = (connection: Connection): Connection =>
  Object.create(connection, { sync: { value: () => {} }, describe: { value: () => {} } });
const withoutSyncOf = new WeakMap<Connection, Connection>();

/** Executes a statement without values that has been prepared on the connection. No Sync follows it. */
export function executePrepared(connection: Pick<Connection, 'bind' | 'execute'>, statement: string): void {
  connection.bind({ portal: '', statement, values: [] });
  connection.execute({ portal: '', rows: 0 });
}

/**
 * A pg query that sends one or more statements as one transaction, in one write to the connection. If one statement
 * fails, none has happened. Two or more must have been prepared on the connection before: after an error the server
 * skips everything up to the Sync, also the Parse of a later statement.
 */
export class PipelinedTransaction extends pg.Query {
  declare callback: Callback;
  /** The statement that is being sent. pg records prepared statements by name and text. */
  declare name: string | undefined;
  declare text: string | undefined;
  declare values: unknown[] | undefined;
  /** pg's own method: sends Parse (if needed), Bind, Describe, Execute and Sync. */
  declare prepare: (connection: Connection) => void;
  readonly #statements: readonly SentStatement[];
  readonly #settings: string | undefined;
  readonly #onRow: ((row: Row) => void) | undefined;
  readonly #results: Row[][] = [];
  /** Negative until the settings have been made. */
  #completed: number;
  #sending = false;

  /**
   * `settings` is the name of a prepared statement that comes first, or undefined. `onRow` gets the rows of a single
   * statement as they arrive, instead of `callback`.
   */
  constructor(
    statements: readonly SentStatement[],
    settings: string | undefined,
    onRow: ((row: Row) => void) | undefined,
    callback: Callback,
  ) {
    super('');
    this.#onRow = onRow;
    this.callback = callback;
    this.#statements = statements;
    this.#settings = settings;
    this.#completed = settings === undefined ? 0 : -1;
  }

  override submit = (pgConnection: unknown): void => {
    const connection = pgConnection as Connection;
    const muted = withoutSyncOf.get(connection) ?? withoutSync(connection);
    withoutSyncOf.set(connection, muted);
    connection.stream.cork();
    this.#sending = true;
    try {
      if (this.#settings !== undefined) executePrepared(connection, this.#settings);
      for (const { statement, values } of this.#statements) {
        this.name = statement.name;
        this.text = statement.text;
        this.values = values;
        this.prepare(muted);
      }
      connection.sync();
    } catch (error) {
      // A value that pg cannot convert: earlier statements are already in the stream, so the connection is lost.
      connection.stream.destroy(new Error('Connection terminated: a statement could not be sent.', { cause: error }));
    } finally {
      this.#sending = false;
      connection.stream.uncork();
    }
  };

  /** After an error: the position of the statement that failed, or the number of statements if the commit did. */
  get failedIndex(): number {
    return this.#completed;
  }

  handleDataRow({ fields }: { fields: Row }): void {
    if (this.#completed < 0) return;
    const rows = this.#results[this.#completed];
    if (this.#onRow) this.#onRow(fields);
    else if (rows) rows.push(fields);
    else this.#results[this.#completed] = [fields];
  }

  handleCommandComplete(): void {
    this.#completed++;
  }

  /**
   * The server reports an error before it rolls back. A caller that tries again immediately would still meet the locks
   * of the failed transaction, so it hears of the error when the server is ready.
   */
  handleError(error: Error, connection: Connection): void {
    if (this.#sending) throw error;
    if (!isServerError(error)) {
      this.callback(error);
      return;
    }
    const report = () => {
      connection.off('readyForQuery', report);
      connection.off('end', report);
      this.callback(error);
    };
    connection.on('readyForQuery', report);
    connection.on('end', report);
  }

  /** The server has committed. An error before this message would have rolled back everything. */
  handleReadyForQuery(): void {
    this.callback(null, this.#results);
  }
}
