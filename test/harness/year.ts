import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mailServer, readMail } from './mail-server.ts';
import { type Firm, openWorld } from './world.ts';
import { type Change, YearModel } from './year-model.ts';

/**
 * Simulated time with real processes: appointments are booked, moved, edited and deleted at random over HTTP, workers
 * in processes of their own send on the same simulated clock, and some are killed while they send. A model that
 * shares no code with the service says what must go out, and when.
 */

export type YearOptions = {
  seed: number;
  appointments: number;
  from: string;
  days: number;
  workers: number;
  kills: number;
};
export type YearResult = { sent: number; withdrawn: number; kills: number; changes: number; late: number };

const WORKER = new URL('./year-worker.ts', import.meta.url).pathname;
// Longer than a lease.
const AFTER_KILL = { seconds: 46 };
const LONGEST_DELAY_S = 300;

export async function proveYear(options: YearOptions): Promise<YearResult> {
  const random = randomFrom(options.seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const world = await openWorld();
  world.clock.set(options.from);
  const firms: Firm[] = [await world.firm(), await world.firm(), await world.firm()];
  const model = new YearModel();
  const seen: { what: string; at: Temporal.Instant }[] = [];
  const killedAt: Temporal.Instant[] = [];
  let killsLeft = options.kills;
  const workers = new Map<string, ChildProcess>();

  /** Whether the worker that is handing something over right now is to die of it. */
  const strikes = (client: string): boolean => {
    const share = options.kills / (options.appointments * 2);
    if (killsLeft === 0 || random() > share * 4) return false;
    const worker = workers.get(client);
    if (!worker?.pid || worker.exitCode !== null || worker.signalCode !== null) return false;
    killsLeft--;
    killedAt.push(world.clock.read());
    worker.kill('SIGKILL');
    return true;
  };

  const mail = await mailServer();
  mail.onRecipient = (_to, client) => (strikes(client) ? { hang: true } : undefined);
  mail.onMessage = ({ raw, client }) => {
    if (strikes(client)) return { hang: true };
    const { headers, parts } = readMail(raw);
    const kind = /^Reminder/.test(headers.subject ?? '')
      ? 'reminder'
      : /^Cancelled/.test(headers.subject ?? '')
        ? 'cancellation'
        : 'confirmation';
    record('email', kind, parts['text/plain'] ?? '');
    return undefined;
  };
  const gateway = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      if (strikes(String(request.headers['x-worker']))) return;
      const { text } = JSON.parse(body);
      record('sms', /reminder/.test(text) ? 'reminder' : 'confirmation', text);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"1"}');
    });
  }).listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  const gatewayUrl = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/`;
  const record = (channel: string, kind: string, text: string) => {
    const room = /Room (\d+)/.exec(text)?.[1];
    seen.push({ what: `${room} ${channel} ${kind}`, at: world.clock.read() });
  };
  const end = async () => {
    const ends = [...workers.values()].map((worker) => once(worker, 'exit'));
    for (const worker of workers.values()) worker.kill('SIGKILL');
    await Promise.all(ends);
    gateway.closeAllConnections();
    gateway.close();
    await mail.close();
  };

  const start = async (name: string): Promise<void> => {
    const settings = { name, connection: world.connection, smtpUrl: `${mail.url}?name=${name}`, gatewayUrl };
    const worker = fork(WORKER, [JSON.stringify(settings)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    workers.set(name, worker);
    await once(worker, 'message');
  };

  /** Every worker works what is due now; the killed are replaced, and what they held is free again after its lease. */
  const work = async (): Promise<void> => {
    for (;;) {
      const now = world.clock.read().toString();
      model.due(world.clock.read());
      const [open] = await world.sql<{ count: number }>(
        `SELECT count(*)::int FROM messages WHERE state IN ('scheduled', 'sending') AND due_at <= $1`,
        [now],
      );
      if (open?.count === 0) return;
      const before = killedAt.length;
      await Promise.all(
        [...workers.values()].map((worker) => {
          const done = answerOrEnd(worker);
          worker.send({ now });
          return done;
        }),
      );
      const dead = [...workers].filter(([, worker]) => worker.killed);
      await Promise.all(dead.map(([name]) => start(name)));
      if (killedAt.length > before) world.clock.advance(AFTER_KILL);
    }
  };

  const live: { path: string; firm: Firm; room: number }[] = [];
  let booked = 0;
  let changes = 0;
  const minutes = options.days * 24 * 60;
  const start0 = Temporal.Instant.from(options.from);
  const times = Array.from({ length: Math.ceil(options.appointments * 1.2) }, () => Math.floor(random() * minutes));
  times.sort((a, b) => a - b);
  // Starts near the clock changes as well, which no year of evenly spread ones would meet often.
  const anyStart = (now: Temporal.Instant) => {
    const minute = Math.floor(random() ** 3 * 20 * 24 * 60) + pick([20, 45, 90, 26 * 60]);
    return now.add({ minutes: minute }).round({ smallestUnit: 'minute', roundingIncrement: 15 });
  };

  const book = async (now: Temporal.Instant) => {
    const firm = pick(firms);
    const room = booked++;
    const change: Change = {
      start: anyStart(now),
      minutes: pick([30, 60, 90]),
      email: random() < 0.8 ? firm.customers[0].email : null,
      sms: random() < 0.6 ? '07400 123456' : null,
      emailConfirmation: random() < 0.5,
      emailReminder: random() < 0.7,
      smsConfirmation: random() < 0.4,
      smsReminder: random() < 0.6,
    };
    const answer = await firm.post(`${firm.path}/appointments`, {
      adviser_email: firm.adviser,
      location: `Room ${room}`,
      ...body(change),
    });
    assert.equal(answer.status, 200, answer.text);
    model.apply(room, now, change);
    live.push({ room, firm, path: `${firm.path}/appointments/${answer.body.id}` });
  };

  const alter = async (now: Temporal.Instant) => {
    const one = pick(live);
    if (!one) return;
    const maybe = () => pick([true, true, false]);
    const change: Change = pick<() => Change>([
      () => ({ start: anyStart(now), minutes: pick([30, 60, 90]) }),
      () => ({ start: anyStart(now), minutes: 60, emailConfirmation: maybe(), smsReminder: maybe() }),
      () => ({}),
      () => ({ emailReminder: maybe(), smsConfirmation: maybe() }),
      () => ({ emailConfirmation: maybe() }),
      () => ({ email: pick([null, one.firm.customers[0].email, one.firm.customers[1].email]) }),
      () => ({ sms: pick([null, '07400 654321']) }),
    ])();
    const notes = { notes: `Note ${changes}` };
    const answer = await one.firm.patch(one.path, { ...notes, ...body(change) });
    assert.equal(answer.status, 200, answer.text);
    model.apply(one.room, now, change);
  };

  const remove = async (now: Temporal.Instant) => {
    const index = Math.floor(random() * live.length);
    const [one] = live.splice(index, 1);
    if (!one) return;
    const answer = await one.firm.delete(one.path);
    assert.equal(answer.status, 200, answer.text);
    model.remove(one.room, now);
  };

  try {
    for (let i = 0; i < options.workers; i++) await start(`worker-${i}`);
    for (const minute of times) {
      if (process.env.PROGRESS) process.stderr.write(`${world.clock.read()} ${booked} booked, ${seen.length} sent\n`);
      const planned = start0.add({ minutes: minute });
      // Every due time on the way is a moment of its own.
      for (let next = model.nextDue(); next && Temporal.Instant.compare(next, planned) < 0; next = model.nextDue()) {
        if (Temporal.Instant.compare(next, world.clock.read()) > 0) world.clock.set(next.toString());
        await work();
      }
      if (Temporal.Instant.compare(planned, world.clock.read()) > 0) world.clock.set(planned.toString());
      // Several changes at one moment, before a worker comes by: what is asked for and withdrawn must not go out.
      const now = world.clock.read();
      if (booked < options.appointments) await book(now);
      for (let more = pick([0, 1, 1, 2, 3]); more > 0; more--) {
        changes++;
        await (random() < 0.15 ? remove(now) : alter(now));
      }
      await work();
    }
    for (let next = model.nextDue(); next; next = model.nextDue()) {
      if (Temporal.Instant.compare(next, world.clock.read()) > 0) world.clock.set(next.toString());
      await work();
    }
  } finally {
    await end();
  }

  const late = compare(model.expected, seen, killedAt);
  const left = await world.sql(`SELECT * FROM messages WHERE state IN ('scheduled', 'sending')`);
  assert.deepEqual(left, [], 'nothing is left waiting');
  assert.equal(booked, options.appointments);
  return { sent: seen.length, withdrawn: model.withdrawn, kills: killedAt.length, changes, late };
}

function answerOrEnd(worker: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      worker.off('message', done);
      worker.off('exit', done);
      resolve();
    };
    worker.on('message', done);
    worker.on('exit', done);
  });
}

type Event = { what: string; at: Temporal.Instant };

/** Each expected message once, at its due time; later only where a worker had been killed just before. */
function compare(expected: Event[], seen: Event[], killedAt: Temporal.Instant[]): number {
  const key = ({ what, at }: Event) => `${what} ${at}`;
  const order = (events: Event[]) =>
    [...events].sort((a, b) => a.what.localeCompare(b.what) || Temporal.Instant.compare(a.at, b.at));
  const [wanted, got] = [order(expected), order(seen)];
  const list = (events: Event[]) => events.map(({ what }) => what);
  assert.deepEqual(list(got), list(wanted), 'every message exactly once, and no other');
  let late = 0;
  for (const [i, want] of wanted.entries()) {
    const have = got[i] as Event;
    const delay = want.at.until(have.at).total('seconds');
    if (delay === 0) continue;
    const killed = killedAt.some((at) => Math.abs(at.until(have.at).total('seconds')) <= LONGEST_DELAY_S);
    assert.ok(delay > 0 && delay <= LONGEST_DELAY_S && killed, `${key(want)} went out at ${have.at}`);
    late++;
  }
  return late;
}

function body({ start, minutes, ...change }: Change): Record<string, unknown> {
  const names: Record<string, string> = {
    email: 'email_recipient',
    sms: 'sms_recipient',
    emailConfirmation: 'email_confirmation',
    emailReminder: 'email_notification',
    smsConfirmation: 'sms_confirmation',
    smsReminder: 'sms_notification',
  };
  const fields = Object.entries(change).map(([name, value]) => [names[name], value]);
  const time = start && { start_time: start.toString(), end_time: start.add({ minutes: minutes ?? 60 }).toString() };
  return { ...Object.fromEntries(fields), ...time };
}

/** mulberry32: the same seed, the same year. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
