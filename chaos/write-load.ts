import { setTimeout as pause } from 'node:timers/promises';
import { CaseRecordsError, type ErrorCode } from '../packages/client/src/errors.ts';
import { retryDelay } from '../packages/client/src/retry-policy.ts';
import { addFault, type Results } from './chaos-test.ts';
import type { Demo } from './deployment.ts';
import { type HttpClient, type HttpResponse, NO_RESPONSE, type Outcome, type OutgoingRequest } from './http-client.ts';
import { recordPath, WRITE_KINDS, type WriteKind } from './write-kinds.ts';

/** One write, with all its attempts. */
export type Write = {
  stamp: string;
  kind: WriteKind;
  request: OutgoingRequest;
  idempotencyKey: string | undefined;
  attempts: number;
  /** The body of the first response with 200. */
  response: string | undefined;
  /** The record, if it was known when the write was sent. */
  recordId: string | undefined;
};

type OwnedRecord = { id: string; path: string };

// Avoids thousands of refused connections while a process starts.
const PAUSE_AFTER_FAILURE_MS = 250;
/** Which share of the writes has an Idempotency-Key. */
const KEYED_SHARE = Number(process.env.KEYED_SHARE ?? 0.5);
// The default of the client library.
const MAX_RETRIES = 4;

/** Sends random writes of all kinds from several concurrent callers, until it is stopped. */
export class WriteLoad {
  readonly writes: Write[] = [];
  /** The times at which writes were acknowledged, in milliseconds. */
  readonly acknowledgedAt: number[] = [];
  maxLatencyMs = 0;
  readonly #client: HttpClient;
  readonly #demo: Demo;
  readonly #results: Results;
  readonly #random: () => number;
  readonly #stampPrefix: string;
  #stopped = false;
  #retriesWrites = false;
  #callers: Promise<void>[] = [];

  constructor(client: HttpClient, demo: Demo, results: Results, random: () => number, stampPrefix: string) {
    this.#client = client;
    this.#demo = demo;
    this.#results = results;
    this.#random = random;
    this.#stampPrefix = stampPrefix;
  }

  /** `retry`: callers retry writes with an idempotency key, like the client library. */
  start(callers: number, { retry = false } = {}): void {
    this.#retriesWrites = retry;
    this.#callers = Array.from({ length: callers }, (_, caller) => this.#runCaller(caller));
  }

  async stop(): Promise<Write[]> {
    this.#stopped = true;
    await Promise.all(this.#callers);
    return this.writes;
  }

  async send(write: Write): Promise<Outcome> {
    write.attempts++;
    this.#results.requests++;
    const headers = {
      'x-request-id': `${write.stamp}.${write.attempts}`,
      ...(write.idempotencyKey !== undefined && { 'idempotency-key': write.idempotencyKey }),
    };
    const outcome = await this.#client.send({ ...write.request, headers });
    this.maxLatencyMs = Math.max(this.maxLatencyMs, outcome.ms);
    this.#checkOutcome(write, outcome);
    if (outcome.status === 200) this.acknowledgedAt.push(performance.now());
    if (outcome.status === 200 && write.response === undefined) {
      write.response = (outcome as HttpResponse).text;
      this.#results.acknowledged++;
    }
    return outcome;
  }

  #checkOutcome({ kind, stamp }: Write, outcome: Outcome): void {
    if (outcome.status === 0) {
      if ('error' in outcome && outcome.error === NO_RESPONSE)
        addFault(this.#results, `${kind.name} ${stamp} got no response`);
      return;
    }
    const { status, text, headers } = outcome as HttpResponse;
    if (status === 500) {
      this.#results.serverErrors++;
      addFault(this.#results, `${kind.name} ${stamp}: ${text}`);
    } else if (status === 503) {
      if (headers['retry-after'] === undefined) addFault(this.#results, '503 without Retry-After');
    } else if (status !== 200 && status !== 409) addFault(this.#results, `${kind.name} ${stamp}: ${status} ${text}`);
  }

  async #runCaller(caller: number): Promise<void> {
    const owned = new Map<string, OwnedRecord[]>();
    for (let n = 0; !this.#stopped; n++) {
      const kind = this.#pickKind(owned);
      const list = owned.get(kind.record) ?? [];
      const index = Math.floor(this.#random() * list.length);
      const record = kind.requires === undefined ? undefined : list[index];
      const stamp = `${this.#stampPrefix}${caller}-${n.toString(36).padStart(4, '0')}`;
      const write: Write = {
        stamp,
        kind,
        request: kind.request(this.#demo, stamp, record?.path ?? ''),
        idempotencyKey: this.#random() < KEYED_SHARE ? `key-${stamp}` : undefined,
        attempts: 0,
        response: undefined,
        recordId: record?.id,
      };
      this.writes.push(write);
      const { status } = await this.#sendWithRetries(write);
      if (status !== 200) {
        // The write may or may not have been performed, so the record is not used again.
        if (record) list.splice(index, 1);
        await pause(PAUSE_AFTER_FAILURE_MS);
      } else if (kind.creates) {
        const { id } = JSON.parse(write.response as string);
        list.push({ id, path: recordPath(this.#demo, kind.record, id) });
        owned.set(kind.record, list);
      } else if (kind.deletes) list.splice(index, 1);
    }
  }

  async #sendWithRetries(write: Write): Promise<Outcome> {
    for (let attempts = 1; ; attempts++) {
      const outcome = await this.send(write);
      const mayRetry =
        this.#retriesWrites && !this.#stopped && write.idempotencyKey !== undefined && attempts <= MAX_RETRIES;
      const delayMs =
        mayRetry && outcome.status !== 200 ? retryDelay(toClientError(outcome), attempts, Date.now()) : undefined;
      if (delayMs === undefined) return outcome;
      await pause(delayMs);
    }
  }

  #pickKind(owned: Map<string, OwnedRecord[]>): WriteKind {
    const possible = WRITE_KINDS.filter(
      ({ requires }) => requires === undefined || (owned.get(requires)?.length ?? 0) > 0,
    );
    let remaining = this.#random() * possible.reduce((sum, { weight }) => sum + weight, 0);
    for (const kind of possible) {
      remaining -= kind.weight;
      if (remaining <= 0) return kind;
    }
    return possible[0] as WriteKind;
  }
}

function toClientError(outcome: Outcome): CaseRecordsError {
  if (!('headers' in outcome)) return new CaseRecordsError({ code: 'unreachable', detail: outcome.error });
  const { status, text, headers } = outcome;
  const code: ErrorCode = JSON.parse(text).code;
  return new CaseRecordsError({ code, status, detail: text, retryAfter: headers['retry-after'] ?? null });
}
