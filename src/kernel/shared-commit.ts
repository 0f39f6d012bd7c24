import pg from 'pg';
import type { Query } from './pipelines.ts';

/** The first column of the first row: null where that is null, undefined where there is no row. */
export type Text = string | null | undefined;

/** What `pg` works with when it sends a statement; it has no types for these. */
type Wire = { sync(): void; stream: { cork(): void; uncork(): void; destroy(error: Error): void } };
type Sendable = pg.Query & { prepare(wire: Wire): void };

/** As `pg` calls it, which puts its own around it: with two values at most, and with an error alone. */
type Callback = (error: Error | null, texts?: Text[]) => void;

/**
 * One statement, or several that are sent as one transaction: each as if it had come alone, with one commit for all and
 * one write to the connection. Where one fails, none has happened. Several must be prepared on the connection before:
 * of what comes behind one that fails nothing is read, not even what would prepare it.
 */
export class SharedCommit extends pg.Query {
  readonly name: string | undefined;
  readonly text: string | undefined;
  declare callback: Callback;
  readonly #statements: readonly Query[];
  readonly #texts: Text[];
  #at = 0;

  constructor(statements: readonly Query[], callback: Callback) {
    super({ text: '' });
    const [one, other] = statements;
    // By these `pg` keeps what is prepared.
    this.name = other ? undefined : one?.name;
    this.text = other ? undefined : one?.text;
    this.callback = callback;
    this.#statements = statements;
    this.#texts = statements.map(() => undefined);
  }

  override submit = (wire: unknown): void => {
    const whole = wire as Wire;
    // The transaction ends where the server is told to synchronise: once, after the last.
    const unfinished: Wire = Object.create(whole, { sync: { value: () => {} } });
    whole.stream.cork();
    try {
      for (const statement of this.#statements) (new pg.Query(statement) as Sendable).prepare(unfinished);
      whole.sync();
    } catch (error) {
      // A value that cannot be sent, in the middle of what is: the connection is of no use any more.
      whole.stream.destroy(error as Error);
    } finally {
      whole.stream.uncork();
    }
  };

  /** The place of the one that is being answered, so of the one that failed; behind the last where it was the commit. */
  get at(): number {
    return this.#at;
  }

  handleRowDescription(): void {}

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    if (this.#texts[this.#at] === undefined) this.#texts[this.#at] = fields[0];
  }

  handleCommandComplete(): void {
    this.#at++;
  }

  handleError(error: Error): void {
    this.callback(error);
  }

  /** The commit is done: until then an error would take back everything. */
  handleReadyForQuery(): void {
    this.callback(null, this.#texts);
  }
}
