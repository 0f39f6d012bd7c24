import { after, beforeEach } from 'node:test';
import { startApp, type TestCompany } from './app.ts';
import { ok } from './assert.ts';
import { openReceiver, type Received } from './receiver.ts';
import { secrets, webhookWorker } from './webhook-worker.ts';

/** An app with a receiver and a worker for webhooks. Each test starts without deliveries of earlier tests. */

export type Endpoint = { id: string; path: string; secret: string };

export const call = async (company: TestCompany, notes = ''): Promise<string> =>
  (await ok(company.post(`${company.path}/interactions`, { type: 'phone', notes }))).id;
export const change = (company: TestCompany, id: string, notes: string) =>
  ok(company.patch(`${company.path}/interactions/${id}`, { type: 'phone', notes }));
export const stateOf = async (company: TestCompany, { path }: Endpoint): Promise<string> =>
  (await ok(company.get(path))).state;
export const notesOf = (all: Received[]) => all.map(({ event }) => event.after?.notes);

export async function openWebhooks() {
  const app = await startApp({ secrets, allowPrivateAddresses: true });
  const receiver = await openReceiver();
  after(receiver.close);
  const worker = webhookWorker(app);

  beforeEach(async () => {
    await app.sql('TRUNCATE webhook_deliveries');
    await app.sql('UPDATE webhook_endpoints SET removed_at = now()');
    app.clock.set('2026-06-01T09:00:00Z');
    receiver.received.length = 0;
    receiver.onEvent = () => undefined;
    worker.mails.length = 0;
    worker.outcomes.length = 0;
  });

  async function endpointOf(company: TestCompany, body: object = {}): Promise<Endpoint> {
    const made = await ok(
      company.post('/webhooks/endpoints', { url: receiver.url, types: ['interaction.*'], ...body }),
    );
    return { ...made, path: `/webhooks/endpoints/${made.id}` };
  }

  /** Runs every attempt up to this time, moving the clock from one to the next. */
  async function deliverUntil(iso: string): Promise<void> {
    const end = Temporal.Instant.from(iso);
    for (;;) {
      await worker.runOnce();
      const [{ at }] = (await app.sql(
        `SELECT to_char(min(claim_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
           FROM webhook_deliveries d JOIN webhook_endpoints w ON w.id = d.endpoint_id
          WHERE d.state = 'waiting' AND d.ready AND w.state = 'active'`,
      )) as [{ at: string | null }];
      if (at === null || Temporal.Instant.compare(at, end) > 0) break;
      app.clock.set(at);
    }
    app.clock.set(iso);
  }

  return { app, receiver, worker, endpointOf, deliverUntil };
}
