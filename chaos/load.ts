import { setTimeout as pause } from 'node:timers/promises';
import { CaseRecordsError, type ErrorCode } from '../src/client/errors.ts';
import { retryDelay } from '../src/client/retry-policy.ts';
import { type Answered, HUNG, type Line, type Outcome, type Sent } from './exchange.ts';
import { type Figures, fault } from './proof.ts';
import type { Demo } from './site.ts';
import { KINDS, type Kind, pathOf } from './writes.ts';

/** One write, however often it was sent. */
export type Write = {
  stamp: string;
  kind: Kind;
  sent: Sent;
  key: string | undefined;
  tries: number;
  /** The answer, where there was one of 200. */
  answer: string | undefined;
  /** The record, where it was known when the write was sent. */
  recordId: string | undefined;
};

type Owned = { id: string; path: string };

// Nobody gains by thousands of refused connections while a process starts.
const AFTER_FAILURE_MS = 250;
// What the client library does by itself.
const RETRIES = 4;

/** Writes of all kinds at random, from several lanes at once, until it is told to stop. */
export class Load {
  readonly writes: Write[] = [];
  /** When writes were acknowledged, and how long the slowest answer took, in milliseconds. */
  readonly acknowledgedAt: number[] = [];
  longest = 0;
  readonly #line: Line;
  readonly #demo: Demo;
  readonly #figures: Figures;
  readonly #random: () => number;
  readonly #mark: string;
  #stopped = false;
  #patient = false;
  #lanes: Promise<void>[] = [];

  constructor(line: Line, demo: Demo, figures: Figures, random: () => number, mark: string) {
    this.#line = line;
    this.#demo = demo;
    this.#figures = figures;
    this.#random = random;
    this.#mark = mark;
  }

  /** Patient callers send what has a key again, as the client library does. */
  begin(lanes: number, { patient = false } = {}): void {
    this.#patient = patient;
    this.#lanes = Array.from({ length: lanes }, (_, lane) => this.#run(lane));
  }

  async end(): Promise<Write[]> {
    this.#stopped = true;
    await Promise.all(this.#lanes);
    return this.writes;
  }

  async send(write: Write): Promise<Outcome> {
    write.tries++;
    this.#figures.requests++;
    const headers = {
      'x-request-id': `${write.stamp}.${write.tries}`,
      ...(write.key !== undefined && { 'idempotency-key': write.key }),
    };
    const outcome = await this.#line.send({ ...write.sent, headers });
    this.longest = Math.max(this.longest, outcome.ms);
    this.#judge(write, outcome);
    if (outcome.status === 200) this.acknowledgedAt.push(performance.now());
    if (outcome.status === 200 && write.answer === undefined) {
      write.answer = (outcome as Answered).text;
      this.#figures.acknowledged++;
    }
    return outcome;
  }

  #judge({ kind, stamp }: Write, outcome: Outcome): void {
    if (outcome.status === 0) {
      if ('error' in outcome && outcome.error === HUNG) fault(this.#figures, `${kind.name} ${stamp} was not answered`);
      return;
    }
    const { status, text, headers } = outcome as Answered;
    if (status === 500) {
      this.#figures.errors++;
      fault(this.#figures, `${kind.name} ${stamp}: ${text}`);
    } else if (status === 503) {
      if (headers['retry-after'] === undefined) fault(this.#figures, '503 without Retry-After');
    } else if (status !== 200 && status !== 409) fault(this.#figures, `${kind.name} ${stamp}: ${status} ${text}`);
  }

  async #run(lane: number): Promise<void> {
    const owned = new Map<string, Owned[]>();
    for (let n = 0; !this.#stopped; n++) {
      const kind = this.#pick(owned);
      const list = owned.get(kind.record) ?? [];
      const at = Math.floor(this.#random() * list.length);
      const record = kind.of === undefined ? undefined : list[at];
      const stamp = `${this.#mark}${lane}-${n.toString(36).padStart(4, '0')}`;
      const write: Write = {
        stamp,
        kind,
        sent: kind.request(this.#demo, stamp, record?.path ?? ''),
        key: this.#random() < 0.5 ? `key-${stamp}` : undefined,
        tries: 0,
        answer: undefined,
        recordId: record?.id,
      };
      this.writes.push(write);
      const { status } = await this.#insist(write);
      if (status !== 200) {
        // Whether it was done is not known now: nothing more is built on that record.
        if (record) list.splice(at, 1);
        await pause(AFTER_FAILURE_MS);
      } else if (kind.makes) {
        const { id } = JSON.parse(write.answer as string);
        list.push({ id, path: pathOf(this.#demo, kind.record, id) });
        owned.set(kind.record, list);
      } else if (kind.ends) list.splice(at, 1);
    }
  }

  async #insist(write: Write): Promise<Outcome> {
    for (let attempts = 1; ; attempts++) {
      const outcome = await this.send(write);
      const again = this.#patient && !this.#stopped && write.key !== undefined && attempts <= RETRIES;
      const ms = again && outcome.status !== 200 ? retryDelay(errorOf(outcome), attempts, Date.now()) : undefined;
      if (ms === undefined) return outcome;
      await pause(ms);
    }
  }

  #pick(owned: Map<string, Owned[]>): Kind {
    const possible = KINDS.filter(({ of }) => of === undefined || (owned.get(of)?.length ?? 0) > 0);
    let left = this.#random() * possible.reduce((sum, { weight }) => sum + weight, 0);
    for (const kind of possible) {
      left -= kind.weight;
      if (left <= 0) return kind;
    }
    return possible[0] as Kind;
  }
}

function errorOf(outcome: Outcome): CaseRecordsError {
  if (!('headers' in outcome)) return new CaseRecordsError({ code: 'unreachable', detail: outcome.error });
  const { status, text, headers } = outcome;
  const code: ErrorCode = JSON.parse(text).code;
  return new CaseRecordsError({ code, status, detail: text, retryAfter: headers['retry-after'] ?? null });
}
