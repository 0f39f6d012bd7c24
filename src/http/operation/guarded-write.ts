import type pg from 'pg';
import { type Database, Executor, type ShownRecord } from '../../kernel/database/database.ts';
import type { Row } from '../../kernel/database/pipelined-transaction.ts';
import { violatedConstraint } from '../../kernel/database/postgres-errors.ts';
import { InvalidRequestError, NotFoundError } from '../../kernel/errors.ts';
import type { Guard } from '../../kernel/sql/guard.ts';
import type { Query } from '../../kernel/sql/statement.ts';

/**
 * A write with an Idempotency-Key or If-Match as one guarded statement. It succeeds for a new key and the current
 * version of the record. In every other case nothing is written, and a transaction finds out what to respond.
 */

/** The guard of a request, and the values of its inputs. */
export type GuardedRequest = { guard: Guard; values: Record<string, unknown> };

class NeedsTransaction extends Error {}

/** Returns undefined if nothing was written, because the write needs a transaction or is rejected. */
export async function tryGuarded<T>(
  db: Executor,
  guarded: GuardedRequest,
  work: (db: Executor) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work(new GuardedExecutor(db, guarded));
  } catch (error) {
    const isRejected = error instanceof InvalidRequestError || error instanceof NotFoundError;
    if (isRejected || error instanceof NeedsTransaction) return undefined;
    throw error;
  }
}

/** Runs statements that read as they are, and the one that writes with the guard. */
class GuardedExecutor extends Executor {
  readonly database: Database;
  readonly #db: Executor;
  readonly #guarded: GuardedRequest;
  #written = false;

  constructor(db: Executor, guarded: GuardedRequest) {
    super();
    this.database = db.database;
    this.#db = db;
    this.#guarded = guarded;
  }

  override async queryRecord(query: Query): Promise<ShownRecord | undefined> {
    const { guard, values } = this.#guarded;
    if (!query.statement.guarded) this.#refuse();
    const statement = query.statement.guarded(guard);
    const added = Object.keys(guard.inputs).map((name) => values[name]);
    const record = await this.#db
      .queryRecord({ statement, values: [...query.values, ...added] })
      .catch((error: unknown) => {
        // Another request with the same key was faster, or the write violates a constraint, which is a rejection.
        throw violatedConstraint(error) === undefined ? error : new NeedsTransaction();
      });
    if (!record) this.#refuse();
    this.#written = true;
    return record;
  }

  override async queryRow(query: Query): Promise<Row | undefined> {
    if (this.#written || !query.statement.readOnly) this.#refuse();
    return this.#db.queryRow(query);
  }

  transaction(): never {
    return this.#refuse();
  }

  afterCommit(work: () => void): void {
    work();
  }

  override async run<R extends pg.QueryResultRow>(query: Query): Promise<pg.QueryResult<R>> {
    if (this.#written || !query.statement.readOnly) this.#refuse();
    return this.#db.run<R>(query);
  }

  #refuse(): never {
    if (this.#written)
      throw new Error('A guarded write must be the last statement of its request: its answer is stored.');
    throw new NeedsTransaction();
  }
}
