import pg from 'pg';
import type { Query } from './pipelined-pool.ts';

export type Row = (string | null)[];

/** What `pg` works with when it sends a statement; it has no types for these. */
type Wire = {
  sync(): void;
  describe(): void;
  stream: { cork(): void; uncork(): void; destroy(error: Error): void };
};

/** As `pg` calls it, which puts its own around it: with two values at most, and with an error alone. */
type Callback = (error: Error | null, answers?: Row[][]) => void;

/**
 * The transaction ends where the server is told to synchronise: once, after the last. What its columns are nobody asks:
 * they are read as text.
 */
const withoutSync = (wire: Wire): Wire =>
  Object.create(wire, { sync: { value: () => {} }, describe: { value: () => {} } });
const withoutSyncOf = new WeakMap<Wire, Wire>();

/**
 * One statement, or several that are sent as one transaction: each as if it had come alone, with one commit for all and
 * one write to the connection. Where one fails, none has happened. Several must be prepared on the connection before:
 * of what comes behind one that fails nothing is read, not even what would prepare it.
 */
export class PipelinedTransaction extends pg.Query {
  declare callback: Callback;
  /** Those of the statement that is sent. By the first two `pg` keeps what is prepared. */
  declare name: string | undefined;
  declare text: string | undefined;
  declare values: unknown[] | undefined;
  /** Sends it, as `pg` does. */
  declare prepare: (wire: Wire) => void;
  readonly #statements: readonly Query[];
  readonly #onRow: ((row: Row) => void) | undefined;
  readonly #answers: Row[][] = [];
  #at = 0;
  #sending = false;

  /** `onRow`: told of the rows of a single statement as they come, and keeps them. */
  constructor(statements: readonly Query[], onRow: ((row: Row) => void) | undefined, callback: Callback) {
    super('');
    this.#onRow = onRow;
    this.callback = callback;
    this.#statements = statements;
  }

  override submit = (wire: unknown): void => {
    const whole = wire as Wire;
    const open = withoutSyncOf.get(whole) ?? withoutSync(whole);
    withoutSyncOf.set(whole, open);
    whole.stream.cork();
    this.#sending = true;
    try {
      for (const { name, text, values } of this.#statements) {
        this.name = name;
        this.text = text;
        this.values = values;
        this.prepare(open);
      }
      whole.sync();
    } catch (error) {
      // A value that cannot be sent, in the middle of what is: the connection is of no use any more.
      whole.stream.destroy(new Error('Connection terminated: a statement could not be sent.', { cause: error }));
    } finally {
      this.#sending = false;
      whole.stream.uncork();
    }
  };

  /** The place of the one that is being answered, so of the one that failed; behind the last where it was the commit. */
  get at(): number {
    return this.#at;
  }

  handleDataRow({ fields }: { fields: Row }): void {
    const rows = this.#answers[this.#at];
    if (this.#onRow) this.#onRow(fields);
    else if (rows) rows.push(fields);
    else this.#answers[this.#at] = [fields];
  }

  handleCommandComplete(): void {
    this.#at++;
  }

  handleError(error: Error): void {
    if (this.#sending) throw error;
    this.callback(error);
  }

  /** The commit is done: until then an error would take back everything. */
  handleReadyForQuery(): void {
    this.callback(null, this.#answers);
  }
}
