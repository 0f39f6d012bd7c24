import assert from 'node:assert/strict';
import { startApp, type TestCompany } from './app.ts';
import { openReceiver, type Received, verified } from './receiver.ts';
import { randomFrom } from './simulated-year.ts';
import { YearWorkers } from './simulated-year-workers.ts';
import { KEY, secrets } from './webhook-worker.ts';

/**
 * Simulated time with real processes: records are written at random over HTTP, worker processes deliver them, and some
 * are killed while they do. The receivers refuse, hang, break off and are down for days. In the end every event was
 * delivered to every endpoint, in the order of its record, and twice only if an answer was lost.
 */

export type WebhookChaosOptions = { seed: number; events: number; workers: number; kills: number };
export type WebhookChaosResult = {
  events: number;
  deliveries: number;
  requests: number;
  /** Abandoned after three days at an endpoint that accepted other events meanwhile, and then replayed. */
  givenUp: number;
  /** Delivered a second time, because the first answer was lost. */
  twice: number;
  lostAnswers: number;
  kills: number;
  resumed: number;
  days: number;
};

const AFTER_KILL = { seconds: 46 };
const PROGRAM = new URL('./webhook-worker-process.ts', import.meta.url).pathname;
const WRITES_AT_ONCE = 20;

type Endpoint = {
  company: TestCompany;
  name: string;
  id: string;
  secret: string;
  taken: Received[];
  downUntil: number;
};

export async function runWebhookChaos({
  seed,
  events,
  workers: count,
  kills,
}: WebhookChaosOptions): Promise<WebhookChaosResult> {
  const random = randomFrom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const app = await startApp({ secrets, allowPrivateAddresses: true });
  const { clock } = app;
  const from = clock.read();
  const receiver = await openReceiver();
  const companies = [await app.company(), await app.company()];
  const endpoints = new Map<string, Endpoint>();
  for (const [i, company] of [...companies, ...companies].entries()) {
    const name = `/hooks/${i}`;
    const body = { url: receiver.url.replace('/hooks', name), types: ['interaction.*'] };
    const { body: made } = await company.post('/webhooks/endpoints', body);
    endpoints.set(name, { company, name, id: made.id, secret: made.secret, taken: [], downUntil: 0 });
  }

  let requests = 0;
  let lostAnswers = 0;
  let killsLeft = kills;
  let killed = 0;
  let striking = false;
  // A separate generator, so that the writes do not depend on the order of deliveries.
  const chance = randomFrom(seed + 1);
  const forged: Promise<unknown>[] = [];
  receiver.onEvent = (received) => {
    requests++;
    const endpoint = endpoints.get(received.path) as Endpoint;
    forged.push(verified(received, [endpoint.secret], clock.read()));
    if (killsLeft > 0 && !striking && chance() < (4 * kills) / events) {
      striking = true;
      killsLeft--;
      killed++;
      const { names } = workers;
      workers.kill(names[Math.floor(chance() * names.length)] as string);
    }
    if (clock.read().epochMilliseconds < endpoint.downUntil) return { status: 503 };
    const fate = chance();
    if (fate < 0.08) return { status: 500 };
    if (fate < 0.09) return { status: 429, headers: { 'retry-after': '60' } };
    if (fate < 0.1) return { drop: true };
    endpoint.taken.push(received);
    if (fate > 0.99) {
      lostAnswers++;
      return { drop: true };
    }
    return undefined;
  };

  const workers = new YearWorkers(() => ({ connection: app.connection, key: KEY.toString('base64') }), PROGRAM);
  await workers.start(count);
  try {
    const live: { path: string; company: TestCompany }[] = [];
    const write = async () => {
      const one = random() < 0.6 ? pick(live) : undefined;
      const body = { type: 'phone', notes: String(random()) };
      if (one) return assert.equal((await one.company.patch(one.path, body)).status, 200);
      const company = pick(companies);
      const { body: made } = await company.post(`${company.path}/interactions`, body);
      live.push({ company, path: `${company.path}/interactions/${made.id}` });
    };
    const work = async () => {
      striking = false;
      await workers.work(clock.read().toString());
      clock.advance(striking ? AFTER_KILL : { seconds: 1 });
    };

    let resumed = 0;
    for (let written = 0; written < events; ) {
      const writes = Math.min(WRITES_AT_ONCE, events - written);
      written += writes;
      await Promise.all([work(), ...Array.from({ length: writes }, write)]);
      await work();
      clock.advance({ minutes: Math.floor(random() * 480) });
      const first = written <= WRITES_AT_ONCE;
      if (first || random() < 0.2) {
        const down = pick([...endpoints.values()]);
        const hours = first ? 100 : 1 + Math.floor(random() * 100);
        down.downUntil = Math.max(down.downUntil, clock.read().add({ hours }).epochMilliseconds);
      }
      if (random() < 0.1) resumed += await resumeAll(endpoints.values());
    }

    for (let rounds = 0; ; rounds++) {
      await work();
      if (!(await isOpen())) break;
      assert.ok(rounds < 1_000, 'it comes to an end');
      clock.advance({ hours: 7 });
      resumed += await resumeAll(endpoints.values());
    }
    await Promise.all(forged);

    let deliveries = 0;
    let twice = 0;
    let givenUp = 0;
    for (const endpoint of endpoints.values()) {
      const found = await verifyEndpoint(endpoint);
      deliveries += found.events;
      twice += found.twice;
      givenUp += found.failed.length;
      for (const { id } of found.failed) {
        const path = `/webhooks/endpoints/${endpoint.id}/deliveries/${id}/replay`;
        assert.equal((await endpoint.company.post(path)).status, 200);
      }
      while (await isOpen()) {
        await work();
        clock.advance({ minutes: 30 });
      }
      assert.equal(new Set(endpoint.taken.map(({ event }) => event.id)).size, found.events);
    }
    // A killed worker had claimed at most four deliveries of each of the four endpoints.
    assert.ok(twice <= lostAnswers + 16 * killed, `${twice} twice, ${lostAnswers} lost answers, ${killed} kills`);
    const days = Math.round(from.until(clock.read()).total('days'));
    return { events, deliveries, requests, givenUp, twice, lostAnswers, kills: killed, resumed, days };
  } finally {
    await workers.end();
    await receiver.close();
  }

  async function isOpen(): Promise<boolean> {
    const open = `SELECT 1 FROM webhook_deliveries WHERE state = 'waiting' UNION ALL
      SELECT 1 FROM webhook_endpoints w WHERE w.state <> 'active'
         OR EXISTS (SELECT 1 FROM events e WHERE e.company_id = w.company_id AND e.position > w.position) LIMIT 1`;
    return (await app.sql(open)).length > 0;
  }
}

async function resumeAll(endpoints: Iterable<Endpoint>): Promise<number> {
  let resumed = 0;
  for (const { company, id } of endpoints) {
    const path = `/webhooks/endpoints/${id}`;
    if ((await company.get(path)).body.state === 'active') continue;
    assert.equal((await company.post(`${path}/resume`)).status, 200);
    resumed++;
  }
  return resumed;
}

type Verified = { events: number; twice: number; failed: { id: string; event_id: string }[] };

/** Every event was delivered or is recorded as failed. The events of each record arrived in order, repeats included. */
async function verifyEndpoint({ company, name, id: endpointId, taken }: Endpoint): Promise<Verified> {
  const places = new Map<string, number>();
  for (let path = '/events?types=interaction.*&limit=500'; ; ) {
    const { body, headers } = await company.get(path);
    for (const { id } of body) places.set(id, places.size);
    if (body.length < 500) break;
    path = /<([^>]+)>/.exec(String(headers.link))?.[1] ?? '';
  }
  const ids = taken.map(({ event }) => event.id as string);
  const failed: Verified['failed'] = (
    await company.get(`/webhooks/endpoints/${endpointId}/deliveries?state=failed&per_page=200`)
  ).body;
  const all = [...ids, ...failed.map(({ event_id }) => event_id)];
  assert.deepEqual(new Set(all), new Set(places.keys()), `${name}: every event, and no other`);
  const last = new Map<string, number>();
  for (const { event } of taken) {
    const place = places.get(event.id) as number;
    assert.ok(place >= (last.get(event.record.id) ?? 0), `${name}: ${event.record.id} out of order`);
    last.set(event.record.id, place);
  }
  return { events: places.size, twice: ids.length - new Set(ids).size, failed };
}
