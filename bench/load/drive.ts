import { OPERATIONS, type Operation, type Request, WITHOUT_DATABASE } from '../operations.ts';
import type { World } from '../world.ts';
import { Connection } from './connection.ts';

export type Task = { operation: string; port: number; connections: number; seconds: number };

export type Driven = {
  requests: number;
  seconds: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** What was answered first that was not 200. */
  fault?: { status: number; text: string };
};

/** Drives one operation for some seconds, each connection as fast as it is answered. */
export class Driver {
  readonly #world: World;
  /** Goes on from round to round, so that no request is sent twice. */
  readonly #next = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
  }

  async drive({ operation: id, port, connections, seconds }: Task): Promise<Driven> {
    const operation = [...OPERATIONS, WITHOUT_DATABASE].find((one) => one.id === id) as Operation;
    const opened = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)));
    const { ahead = 1 } = operation;
    const took: number[] = [];
    let fault: Driven['fault'];
    let n = this.#next.get(id) ?? 0;
    const last = operation.once ? n + this.#world[operation.once].length : Infinity;
    const begun = performance.now();
    const end = begun + seconds * 1000;
    const work = async (connection: Connection) => {
      for (let sent = performance.now(); sent < end && n < last && !fault; ) {
        let requests = '';
        for (let i = 0; i < ahead; i++) requests += httpText(operation.request(this.#world, n++));
        const { status, body } = await connection.send(requests, ahead);
        const answered = performance.now();
        for (let i = 0; i < ahead; i++) took.push(answered - sent);
        if (status !== 200) fault ??= { status, text: body.toString('utf8') };
        sent = answered;
      }
    };
    await Promise.all(opened.map(work)).finally(() => {
      for (const connection of opened) connection.close();
    });
    const elapsed = (performance.now() - begun) / 1000;
    this.#next.set(id, n);
    took.sort((a, b) => a - b);
    const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? 0;
    return { requests: took.length, seconds: elapsed, p50: at(0.5), p99: at(0.99), ...(fault && { fault }) };
  }
}

/** Exactly the same bytes for both servers. */
export function httpText({ method, path, token, body }: Request): string {
  const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
  if (body === undefined) return `${head}\r\n`;
  const json = JSON.stringify(body);
  return `${head}Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
}
