import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Figures, fault, until } from './proof.ts';
import type { Site } from './site.ts';

// A killed worker's leases run out after 45 seconds, and the queue is looked at every 20.
const SENT_S = 150;
const SHORT_S = 30;

/** Every payment has gone to the endpoint, every confirmation that still makes sense has been written out. */
export async function checkJobs(
  site: Site,
  received: readonly { event: { id: string } }[],
  figures: Figures,
  short: boolean,
  progress: (text: string) => void,
): Promise<void> {
  const waiting = `SELECT
    (SELECT count(*)::int FROM events e WHERE type = 'invoice.payment_recorded' AND NOT EXISTS (
       SELECT FROM webhook_deliveries d WHERE d.company_id = e.company_id AND d.position = e.position)) AS unqueued,
    EXISTS (SELECT FROM webhook_endpoints WHERE lease_by IS NOT NULL AND lease_until > now()) AS leased,
    (SELECT count(*)::int FROM webhook_deliveries WHERE state <> 'delivered') AS undelivered,
    (SELECT count(*)::int FROM messages m WHERE kind = 'confirmation' AND state = 'scheduled') AS unsent`;
  const look = async () => (await site.sql<typeof left>(waiting))[0];
  const left = { unqueued: 0, leased: false, undelivered: 0, unsent: 0 };
  await until('every job is done', short ? SHORT_S : SENT_S, async () => {
    Object.assign(left, await look());
    progress(`jobs left: ${left.undelivered} deliveries, ${left.unsent} messages`);
    // The short form does not wait for the leases of workers that were killed.
    return short ? left.leased || left.unqueued === 0 : left.unqueued + left.undelivered + left.unsent === 0;
  }).catch((error) => fault(figures, `${error.message} ${JSON.stringify(left)}`));
  const [rows] = await site.sql<{ deliveries: number; events: number; twice: number; sent: string[] }>(`SELECT
    (SELECT count(*)::int FROM webhook_deliveries WHERE state = 'delivered') AS deliveries,
    (SELECT count(*)::int FROM events WHERE type = 'invoice.payment_recorded') AS events,
    (SELECT count(*)::int - count(DISTINCT position)::int FROM webhook_deliveries) AS twice,
    (SELECT array_agg(id) FROM messages WHERE state = 'sent') AS sent`);
  const { deliveries = 0, twice = 0, sent = [] } = rows ?? {};
  figures.twice += twice;
  const taken = new Set(received.map(({ event }) => event.id));
  if (taken.size < deliveries) fault(figures, `${deliveries} deliveries, ${taken.size} received`);
  const files = (await readdir(join(site.dataDir, 'outbox'))).join('\n');
  const missing = (sent ?? []).filter((id) => !files.includes(id));
  figures.lost += missing.length;
  if (missing.length > 0) fault(figures, `messages are sent without a file: ${missing.slice(0, 5)}`);
  const again = received.length - taken.size;
  figures.notes.push(`${deliveries} webhooks delivered (${again} came again), ${sent?.length ?? 0} messages sent`);
}
