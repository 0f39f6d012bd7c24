import type { Dataset } from '../dataset.ts';
import { OPERATIONS, type Operation, type Request, WITHOUT_DATABASE } from '../operations.ts';
import { Connection } from './connection.ts';

export type DriveTask = { operation: string; port: number; connections: number; seconds: number };

export type DriveResult = {
  requests: number;
  seconds: number;
  /** Latency in milliseconds. */
  p50: number;
  p99: number;
  /** The first response that was not 200. */
  firstFailure?: { status: number; text: string };
};

/** Sends requests of one operation for some seconds; each connection sends the next one when it has the response. */
export class Driver {
  readonly #dataset: Dataset;
  /** The number of the next request by operation. It continues from round to round, so that no request is repeated. */
  readonly #nextNumber = new Map<string, number>();

  constructor(dataset: Dataset) {
    this.#dataset = dataset;
  }

  async drive({ operation: id, port, connections, seconds }: DriveTask): Promise<DriveResult> {
    const operation = [...OPERATIONS, WITHOUT_DATABASE].find((candidate) => candidate.id === id) as Operation;
    const sockets = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)));
    const { pipelineDepth = 1 } = operation;
    const latencies: number[] = [];
    let firstFailure: DriveResult['firstFailure'];
    let n = this.#nextNumber.get(id) ?? 0;
    const last = operation.consumes ? n + this.#dataset[operation.consumes].length : Infinity;
    const startedAt = performance.now();
    const end = startedAt + seconds * 1000;
    const work = async (connection: Connection) => {
      for (let sentAt = performance.now(); sentAt < end && n < last && !firstFailure; ) {
        let requests = '';
        for (let i = 0; i < pipelineDepth; i++) requests += toHttpText(operation.request(this.#dataset, n++));
        const { status, body } = await connection.send(requests, pipelineDepth);
        const receivedAt = performance.now();
        for (let i = 0; i < pipelineDepth; i++) latencies.push(receivedAt - sentAt);
        if (status !== 200) firstFailure ??= { status, text: body.toString('utf8') };
        sentAt = receivedAt;
      }
    };
    await Promise.all(sockets.map(work)).finally(() => {
      for (const connection of sockets) connection.close();
    });
    const elapsed = (performance.now() - startedAt) / 1000;
    this.#nextNumber.set(id, n);
    latencies.sort((a, b) => a - b);
    const quantile = (share: number) =>
      latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
    return {
      requests: latencies.length,
      seconds: elapsed,
      p50: quantile(0.5),
      p99: quantile(0.99),
      ...(firstFailure && { firstFailure }),
    };
  }
}

/** Serialises the request. Both servers receive the same bytes. */
export function toHttpText({ method, path, token, body }: Request): string {
  const head =
    `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n` +
    'Content-Type: application/json\r\n';
  if (body === undefined) return `${head}\r\n`;
  const json = JSON.stringify(body);
  return `${head}Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
}
