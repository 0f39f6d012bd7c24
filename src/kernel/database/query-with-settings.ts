import pg from 'pg';
import { executePrepared } from './pipelined-transaction.ts';

type Connection = Parameters<typeof executePrepared>[0];
/** pg's own methods, for which it has no types. */
type Methods = {
  prepare(connection: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: unknown): void;
};
const methods = pg.Query.prototype as unknown as Methods;

/** A query whose transaction begins with a prepared statement that makes its settings. */
export class QueryWithSettings<Row extends pg.QueryResultRow> extends pg.Query<Row> {
  readonly #settings: string;
  #hasSettings = false;

  constructor(query: pg.QueryConfig, settings: string, callback: (error: Error, result: pg.QueryResult<Row>) => void) {
    super(query, callback as never);
    this.#settings = settings;
  }

  prepare(connection: Connection): void {
    executePrepared(connection, this.#settings);
    methods.prepare.call(this, connection);
  }

  handleDataRow(message: unknown): void {
    if (this.#hasSettings) methods.handleDataRow.call(this, message);
  }

  handleCommandComplete(message: unknown, connection: unknown): void {
    if (this.#hasSettings) methods.handleCommandComplete.call(this, message, connection);
    this.#hasSettings = true;
  }
}
