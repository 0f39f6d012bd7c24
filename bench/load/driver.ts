import { randomUUID } from 'node:crypto';
import { type Dataset, splitRecords } from '../dataset.ts';
import type { Form, Transport } from '../forms.ts';
import { OPERATIONS, type Operation, type Request, WITHOUT_DATABASE } from '../operations.ts';
import { openHttpSender, openSenders, type Sender, type SentRequest } from './sender.ts';

export type DriveTask = {
  operation: string;
  port: number;
  connections: number;
  seconds: number;
  form?: Form | undefined;
  transport?: Transport | undefined;
  /** Whether to return the slowest requests. */
  traced?: boolean | undefined;
};

/** A request, with its time in milliseconds since 1970. */
export type TimedRequest = { sentAt: number; receivedAt: number };

export type DriveResult = {
  requests: number;
  seconds: number;
  /** Latency in milliseconds. */
  p50: number;
  p99: number;
  /** The slowest hundredth of the requests, if the task is traced. */
  slow?: TimedRequest[];
  /** The first response that was not 200. */
  firstFailure?: { status: number; text: string };
};

/** Sends requests of one operation for some seconds; each sender sends the next one when it has the response. */
export class Driver {
  readonly #dataset: Dataset;
  /** The dataset of the form with If-Match. */
  readonly #taggedDataset: Dataset;
  /** The number of the next request by operation. It continues from round to round, so that no request is repeated. */
  readonly #nextNumber = new Map<string, number>();
  /** The current ETag of each record of `#taggedDataset`, by the record's path. */
  readonly #etags = new Map<string, string>();

  constructor(dataset: Dataset) {
    [this.#dataset, this.#taggedDataset] = splitRecords(dataset);
  }

  /** Reads the tags that the task needs. This is not part of the measured time. */
  async prepare({ operation: id, port, connections, form }: DriveTask): Promise<void> {
    if (form === 'if-match') await this.#readEtags(findOperation(id), port, connections);
  }

  async drive(task: DriveTask): Promise<DriveResult> {
    const { operation: id, port, connections, seconds, form = 'plain', transport = 'http' } = task;
    const operation = findOperation(id);
    const { pipelineDepth = 1, changes, consumes } = operation;
    const isTagged = form === 'if-match';
    const dataset = isTagged ? this.#taggedDataset : this.#dataset;
    const records = changes ? dataset[changes].length : Infinity;
    // Two concurrent requests with the same tag would be one success and one 412.
    if (isTagged && connections > records) {
      throw new Error(`${records} records are too few for ${connections} connections.`);
    }
    const senders = await openSenders(transport, operation, port, connections);
    const numbers = `${id}${isTagged ? ' with If-Match' : ''}`;
    let n = this.#nextNumber.get(numbers) ?? 0;
    const last = consumes ? n + records : Infinity;
    const inFlight = new Set<string>();
    const nextRequest = (): SentRequest => {
      let request = operation.request(dataset, n++);
      if (!isTagged) return { request, headers: form === 'plain' ? {} : { idempotencyKey: randomUUID() } };
      while (inFlight.has(request.path)) request = operation.request(dataset, n++);
      inFlight.add(request.path);
      return { request, headers: { idempotencyKey: randomUUID(), ifMatch: this.#etags.get(request.path) } };
    };
    const times: TimedRequest[] = [];
    let firstFailure: DriveResult['firstFailure'];
    const startedAt = performance.now();
    const end = startedAt + seconds * 1000;
    const work = async (sender: Sender) => {
      for (let sentAt = performance.now(); sentAt < end && n < last && !firstFailure; ) {
        const requests = Array.from({ length: pipelineDepth }, nextRequest);
        const { status, etag, text } = await sender.send(requests);
        const receivedAt = performance.now();
        for (let i = 0; i < pipelineDepth; i++) times.push({ sentAt, receivedAt });
        if (status !== 200) firstFailure ??= { status, text: text() };
        else if (isTagged) firstFailure ??= this.#keepEtag(operation, (requests[0] as SentRequest).request, etag);
        if (isTagged) for (const { request } of requests) inFlight.delete(request.path);
        sentAt = receivedAt;
      }
    };
    await Promise.all(senders.map(work)).finally(() => {
      for (const sender of senders) sender.close();
    });
    const elapsed = (performance.now() - startedAt) / 1000;
    this.#nextNumber.set(numbers, n);
    return { ...summarise(times, task.traced), seconds: elapsed, ...(firstFailure && { firstFailure }) };
  }

  /** Keeps the tag for the next request to the record. A deleted record has none. */
  #keepEtag({ consumes }: Operation, { path }: Request, etag: string | undefined): DriveResult['firstFailure'] {
    if (consumes) this.#etags.delete(path);
    else if (etag === undefined) return { status: 200, text: `${path} was changed, and the response has no ETag.` };
    else this.#etags.set(path, etag);
    return undefined;
  }

  /** Reads the records whose tag is unknown. */
  async #readEtags(operation: Operation, port: number, connections: number): Promise<void> {
    const requests = (this.#taggedDataset[operation.changes ?? 'people'] as unknown[])
      .map((_record, i) => operation.request(this.#taggedDataset, i))
      .filter(({ path }) => !this.#etags.has(path))
      .map(({ path, params, token }) => ({ request: { method: 'GET', path, params, token } as const, headers: {} }));
    const senders = await Promise.all(Array.from({ length: connections }, () => openHttpSender(port)));
    const read = async (sender: Sender) => {
      for (let sent = requests.pop(); sent; sent = requests.pop()) {
        const { status, etag, text } = await sender.send([sent]);
        if (status !== 200 || etag === undefined) {
          throw new Error(`GET ${sent.request.path} answered ${status} with the ETag ${etag}: ${text()}`);
        }
        this.#etags.set(sent.request.path, etag);
      }
    };
    await Promise.all(senders.map(read)).finally(() => {
      for (const sender of senders) sender.close();
    });
  }
}

const findOperation = (id: string): Operation =>
  [...OPERATIONS, WITHOUT_DATABASE].find((candidate) => candidate.id === id) as Operation;

function summarise(times: TimedRequest[], isTraced = false): Pick<DriveResult, 'requests' | 'p50' | 'p99' | 'slow'> {
  const latency = ({ sentAt, receivedAt }: TimedRequest) => receivedAt - sentAt;
  const sorted = times.toSorted((a, b) => latency(a) - latency(b));
  const index = (share: number) => Math.min(sorted.length - 1, Math.floor(sorted.length * share));
  const quantile = (share: number) => (sorted.length === 0 ? 0 : latency(sorted[index(share)] as TimedRequest));
  const toEpoch = ({ sentAt, receivedAt }: TimedRequest) => ({
    sentAt: performance.timeOrigin + sentAt,
    receivedAt: performance.timeOrigin + receivedAt,
  });
  return {
    requests: times.length,
    p50: quantile(0.5),
    p99: quantile(0.99),
    ...(isTraced && sorted.length > 0 && { slow: sorted.slice(index(0.99)).map(toEpoch) }),
  };
}
