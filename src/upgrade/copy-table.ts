import pg from 'pg';
import type { Table } from './tables.ts';

/** The part of a connection that its types leave out. */
type CopyConnection = pg.Connection & {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
};

type Callback = (error: Error | null) => void;

/** `COPY … TO STDOUT`: passes on what the server sends. */
class CopyOut extends pg.Query {
  readonly #onChunk: (chunk: Buffer, from: CopyConnection) => void;

  constructor(sql: string, onChunk: (chunk: Buffer, from: CopyConnection) => void, callback: Callback) {
    super(sql, callback as never);
    this.#onChunk = onChunk;
  }

  handleCopyData({ chunk }: { chunk: Buffer }, connection: CopyConnection): void {
    this.#onChunk(chunk, connection);
  }
}

/** `COPY … FROM STDIN`: says when the server is ready to receive. */
class CopyIn extends pg.Query {
  readonly #onReady: (connection: CopyConnection) => void;

  constructor(sql: string, onReady: (connection: CopyConnection) => void, callback: Callback) {
    super(sql, callback as never);
    this.#onReady = onReady;
  }

  handleCopyInResponse(connection: CopyConnection): void {
    this.#onReady(connection);
  }
}

/**
 * Copies the rows of one table to the same table of another server. The table must have been truncated in the same
 * transaction: then its rows are written once, without WAL, and count as old (FREEZE).
 */
export async function copyTable(
  from: pg.Client,
  to: pg.Client,
  { name, columns }: Table,
  onBytes: (count: number) => void,
): Promise<void> {
  const target = Promise.withResolvers<CopyConnection>();
  const written = Promise.withResolvers<void>();
  const settle =
    ({ resolve, reject }: PromiseWithResolvers<void>): Callback =>
    (error) =>
      error ? reject(error) : resolve();
  written.promise.catch(target.reject);
  to.query(new CopyIn(`COPY ${name} (${columns}) FROM STDIN (FREEZE)`, target.resolve, settle(written)) as never);
  const receiver = await target.promise;
  const read = Promise.withResolvers<void>();
  const pass = (chunk: Buffer, source: CopyConnection) => {
    send(receiver, chunk);
    onBytes(chunk.length);
    waitForReader(source, receiver);
  };
  from.query(new CopyOut(`COPY ${name} (${columns}) TO STDOUT`, pass, settle(read)) as never);
  // If the receiver fails, the reader would go on to the end of the table.
  await Promise.race([read.promise, written.promise]);
  receiver.endCopyFrom();
  await written.promise;
}

/** Each row is a message of its own: those that arrive together are sent together. */
function send(receiver: CopyConnection, chunk: Buffer): void {
  const { stream } = receiver;
  if (stream.writableCorked === 0) {
    stream.cork();
    process.nextTick(() => stream.uncork());
  }
  receiver.sendCopyFromChunk(chunk);
}

/** Keeps the rows in the servers and not in the memory of this process. */
function waitForReader(source: CopyConnection, receiver: CopyConnection): void {
  if (!receiver.stream.writableNeedDrain || source.stream.isPaused()) return;
  source.stream.pause();
  receiver.stream.once('drain', () => source.stream.resume());
}
