import assert from 'node:assert/strict';
import { after, beforeEach } from 'node:test';
import { type Firm, openWorld } from './app.ts';
import type { Answer } from './http.ts';
import { openReceiver, type Received } from './receiver.ts';
import { secrets, webhookOffice } from './webhook-office.ts';

/** Firms with webhook endpoints, a receiver and a worker. Nothing of an earlier test is left to be sent. */

export type Endpoint = { id: string; path: string; secret: string };

export async function ok(answer: Promise<Answer>) {
  const { status, body, text } = await answer;
  assert.equal(status, 200, text);
  return body;
}

export const call = async (firm: Firm, notes = ''): Promise<string> =>
  (await ok(firm.post(`${firm.path}/interactions`, { type: 'phone', notes }))).id;
export const change = (firm: Firm, id: string, notes: string) =>
  ok(firm.patch(`${firm.path}/interactions/${id}`, { type: 'phone', notes }));
export const stateOf = async (firm: Firm, { path }: Endpoint): Promise<string> => (await ok(firm.get(path))).state;
export const notesOf = (all: Received[]) => all.map(({ event }) => event.after?.notes);

export async function openWebhooks() {
  const world = await openWorld({ secrets, privateAddresses: true });
  const receiver = await openReceiver();
  after(receiver.close);
  const office = webhookOffice(world);

  beforeEach(async () => {
    await world.sql(
      `UPDATE webhook_deliveries SET state = 'dropped', ended_at = now(), lease_by = NULL WHERE state = 'waiting'`,
    );
    await world.sql('UPDATE webhook_endpoints SET removed_at = now()');
    world.clock.set('2026-06-01T09:00:00Z');
    receiver.received.length = 0;
    receiver.onEvent = () => undefined;
    office.mails.length = 0;
    office.outcomes.length = 0;
  });

  async function endpointOf(firm: Firm, body: object = {}): Promise<Endpoint> {
    const made = await ok(firm.post('/webhooks/endpoints', { url: receiver.url, types: ['interaction.*'], ...body }));
    return { ...made, path: `/webhooks/endpoints/${made.id}` };
  }

  /** Moves the clock from one attempt to the next, until it is there. */
  async function until(iso: string): Promise<void> {
    const end = Temporal.Instant.from(iso);
    for (;;) {
      await office.runOnce();
      const [{ at }] = (await world.sql(
        `SELECT to_char(min(claim_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
           FROM webhook_deliveries d JOIN webhook_endpoints w ON w.id = d.endpoint_id
          WHERE d.state = 'waiting' AND d.ready AND w.state = 'active'`,
      )) as [{ at: string | null }];
      if (at === null || Temporal.Instant.compare(at, end) > 0) break;
      world.clock.set(at);
    }
    world.clock.set(iso);
  }

  return { world, receiver, office, endpointOf, until };
}
