import assert from 'node:assert/strict';
import { startApp, type TestCompany } from './app.ts';
import { type Change, YearModel } from './simulated-year-model.ts';
import { type Event, openPeers } from './simulated-year-peers.ts';
import { YearWorkers } from './simulated-year-workers.ts';

/**
 * Simulated time with real processes: appointments are booked, moved, edited, cancelled, deleted and restored at random
 * over HTTP, workers in processes of their own send on the same simulated clock, and some are killed while they send.
 * A model that shares no code with the service predicts what must be sent, and when. Time jumps from one due time, or
 * change, to the next.
 */

export type YearOptions = {
  seed: number;
  appointments: number;
  from: string;
  days: number;
  workers: number;
  kills: number;
};
export type YearResult = {
  sent: number;
  /** Messages that told another time. */
  changesTold: number;
  cancellations: { email: number; sms: number; smsOnly: number };
  calendarUpdates: number;
  withdrawn: number;
  overClockChange: number;
  kills: number;
  changes: number;
  /** Sent late because a worker had been killed. */
  late: number;
};

// Longer than a lease, and than the delay of a message that waits for another.
const AFTER_KILL = { seconds: 46 };
const ASK_AGAIN = { seconds: 5 };
const LONGEST_DELAY_S = 300;

const later = (a: Temporal.Instant, b: Temporal.Instant) => Temporal.Instant.compare(a, b) > 0;

export async function runSimulatedYear(options: YearOptions): Promise<YearResult> {
  const random = randomFrom(options.seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const app = await startApp();
  const { clock } = app;
  clock.set(options.from);
  const companies: TestCompany[] = [await app.company(), await app.company(), await app.company()];
  const model = new YearModel();

  // A separate generator, so that the year does not depend on which worker hands over first.
  const chance = randomFrom(options.seed + 1);
  const share = (2 * options.kills) / options.appointments;
  let killsLeft = options.kills;
  const peers = await openPeers({
    now: clock.read,
    strikes: () => killsLeft > 0 && chance() < share && killsLeft-- > 0,
    kill: (worker) => workers.kill(worker),
    written: async (ids) =>
      (await app.sql(`SELECT 1 FROM messages WHERE id = ANY ($1) AND state <> 'sent'`, [ids])).length === 0,
  });
  const workers = new YearWorkers((name) => ({
    connection: app.connection,
    smtpUrl: peers.smtpUrl(name),
    gatewayUrl: peers.gatewayUrl,
  }));

  /** Runs the workers until no job is due. The jobs of a killed worker are free again after its lease. */
  const work = async (): Promise<void> => {
    for (;;) {
      const now = clock.read();
      model.due(now);
      const open = `SELECT 1 FROM messages WHERE state IN ('scheduled', 'sending') AND due_at <= $1 LIMIT 1`;
      if ((await app.sql(open, [now.toString()])).length === 0) return;
      const { length: before } = peers.killedAt;
      const handled = await workers.work(now.toString());
      if (peers.killedAt.length > before) clock.advance(AFTER_KILL);
      else if (handled === 0) clock.advance(ASK_AGAIN);
    }
  };
  const workUntil = async (time?: Temporal.Instant): Promise<void> => {
    for (;;) {
      const next = model.nextDue();
      if (!next || (time && !later(time, next))) break;
      if (later(next, clock.read())) clock.set(next.toString());
      await work();
    }
    if (time && later(time, clock.read())) clock.set(time.toString());
  };

  const anyStart = (now: Temporal.Instant) => {
    const minute = Math.floor(random() ** 3 * 20 * 24 * 60) + pick([20, 45, 90, 26 * 60]);
    return now.add({ minutes: minute }).round({ smallestUnit: 'minute', roundingIncrement: 15 });
  };
  type Booked = { path: string; company: TestCompany; room: number; cancelled?: boolean };
  const live: Booked[] = [];
  const deleted: Booked[] = [];
  let booked = 0;
  let changes = 0;

  const book = async (now: Temporal.Instant) => {
    const company = pick(companies);
    const room = booked++;
    const change: Change = {
      start: anyStart(now),
      minutes: pick([30, 60, 90]),
      email: random() < 0.8 ? company.customers[0].email : null,
      sms: random() < 0.6 ? '07400 123456' : null,
      emailConfirmation: random() < 0.5,
      emailReminder: random() < 0.7,
      smsConfirmation: random() < 0.4,
      smsReminder: random() < 0.6,
    };
    const appointment = { adviser_email: company.adviser, location: `Room ${room}`, ...body(change) };
    const answer = await company.post(`${company.path}/appointments`, appointment);
    assert.equal(answer.status, 200, answer.text);
    model.apply(room, now, change);
    live.push({ room, company, path: `${company.path}/appointments/${answer.body.id}` });
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
      () => ({ email: pick([null, one.company.customers[0].email, one.company.customers[1].email]) }),
      () => ({ sms: pick([null, '07400 654321']) }),
    ])();
    const answer = await one.company.patch(one.path, { notes: `Note ${changes}`, ...body(change) });
    assert.equal(answer.status, 200, answer.text);
    model.apply(one.room, now, change);
  };

  /** Picks an appointment, later ones more often, because they are still to come. */
  const draw = (list: Booked[]) => list.splice(Math.floor((1 - random() ** 2) * list.length), 1)[0];

  const turn = async (now: Temporal.Instant) => {
    const restores = random() < 0.4;
    const one = draw(restores ? deleted : live);
    if (!one) return;
    const cancels = !restores && random() < 0.5;
    if (cancels) one.cancelled = !one.cancelled;
    const answer = restores
      ? await one.company.post(`${one.path}/restore`)
      : cancels
        ? await one.company.patch(`${one.path}/outcome`, { cancelled: one.cancelled })
        : await one.company.delete(one.path);
    assert.equal(answer.status, 200, answer.text);
    model.turn(one.room, now, cancels ? { cancelled: one.cancelled === true } : { deleted: !restores });
    (restores || cancels ? live : deleted).push(one);
  };

  const minutes = options.days * 24 * 60;
  const times = Array.from({ length: Math.ceil(options.appointments * 1.2) }, () => Math.floor(random() * minutes));
  try {
    await workers.start(options.workers);
    for (const minute of times.sort((a, b) => a - b)) {
      await workUntil(Temporal.Instant.from(options.from).add({ minutes: minute }));
      // Several changes before a worker runs: what was requested and withdrawn must not be sent.
      const now = clock.read();
      if (booked < options.appointments) await book(now);
      for (let more = pick([0, 1, 1, 2, 3]); more > 0; more--) {
        changes++;
        await (random() < 0.25 ? turn(now) : alter(now));
      }
      await work();
    }
    await workUntil();
  } finally {
    await workers.end();
    await peers.close();
  }

  const { seen, killedAt } = peers;
  const rooms = await app.sql<{ id: string; location: string }>(
    'SELECT m.id, a.location FROM messages m JOIN appointments a ON a.id = m.appointment_id',
  );
  const roomOf = new Map(rooms.map(({ id, location }) => [id, location.replace('Room ', '')]));
  const got = seen.map(({ id, what, at }) => ({ what: `${roomOf.get(id)} ${what}`, at }));
  const late = compare(model.expected, got, killedAt);
  const left = await app.sql(`SELECT * FROM messages WHERE state IN ('scheduled', 'sending')`);
  assert.deepEqual(left, [], 'nothing is left waiting');
  assert.equal(booked, options.appointments);
  const { withdrawn, overClockChange } = model;
  return {
    sent: seen.length,
    ...countMessages(got),
    withdrawn,
    overClockChange,
    kills: killedAt.length,
    changes,
    late,
  };
}

/** Each expected message was sent once, at its due time, and later only if a worker had been killed just before. */
type RoomEvent = Omit<Event, 'id'>;

function compare(expected: RoomEvent[], seen: RoomEvent[], killedAt: Temporal.Instant[]): number {
  const order = (events: RoomEvent[]) =>
    [...events].sort((a, b) => a.what.localeCompare(b.what) || Temporal.Instant.compare(a.at, b.at));
  const [wanted, got] = [order(expected), order(seen)];
  const list = (events: RoomEvent[]) => events.map(({ what }) => what);
  assert.deepEqual(list(got), list(wanted), 'every message exactly once, and no other');
  let late = 0;
  for (const [i, { what, at }] of wanted.entries()) {
    const have = got[i] as RoomEvent;
    const delay = at.until(have.at).total('seconds');
    if (delay === 0) continue;
    const killed = killedAt.some((kill) => Math.abs(kill.until(have.at).total('seconds')) <= LONGEST_DELAY_S);
    assert.ok(delay > 0 && delay <= LONGEST_DELAY_S && killed, `${what} ${at} went out at ${have.at}`);
    late++;
  }
  return late;
}

/** `smsOnly`: cancellations by SMS of appointments of which no mail had told the client. */
function countMessages(events: RoomEvent[]): Pick<YearResult, 'changesTold' | 'cancellations' | 'calendarUpdates'> {
  const count = (pattern: RegExp) => events.filter(({ what }) => pattern.test(what)).length;
  const mailed = new Set(events.filter(({ what }) => / email /.test(what)).map(({ what }) => what.split(' ', 1)[0]));
  const bySms = events.filter(({ what }) => / sms cancellation /.test(what));
  return {
    changesTold: count(/ change of /),
    cancellations: {
      email: count(/ email cancellation /),
      sms: bySms.length,
      smsOnly: bySms.filter(({ what }) => !mailed.has(what.split(' ', 1)[0])).length,
    },
    calendarUpdates: count(/ reminder of .* with calendar file$/),
  };
}

const NAMES: Record<string, string> = {
  email: 'email_recipient',
  sms: 'sms_recipient',
  emailConfirmation: 'email_confirmation',
  emailReminder: 'email_notification',
  smsConfirmation: 'sms_confirmation',
  smsReminder: 'sms_notification',
};

function body({ start, minutes, ...change }: Change): Record<string, unknown> {
  const fields = Object.entries(change).map(([name, value]) => [NAMES[name], value]);
  const time = start && { start_time: start.toString(), end_time: start.add({ minutes: minutes ?? 60 }).toString() };
  return { ...Object.fromEntries(fields), ...time };
}

/** mulberry32: the same seed, the same year. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
