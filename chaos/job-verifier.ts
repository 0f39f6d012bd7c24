import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { addFault, type Results, waitUntil } from './chaos-test.ts';
import type { Deployment } from './deployment.ts';

// The leases of a killed worker expire after 45 seconds, and queues are polled every 20.
const JOBS_TIMEOUT_S = 150;
const SHORT_JOBS_TIMEOUT_S = 30;

/** Waits until all jobs are done, then checks that payments were delivered once and that messages were written. */
export async function verifyJobs(
  deployment: Deployment,
  received: readonly { event: { id: string } }[],
  results: Results,
  short: boolean,
  progress: (text: string) => void,
): Promise<void> {
  const selectRemaining = `SELECT
    (SELECT count(*)::int FROM events e WHERE type = 'invoice.payment_recorded' AND NOT EXISTS (
       SELECT FROM webhook_deliveries d WHERE d.company_id = e.company_id AND d.position = e.position)) AS unqueued,
    EXISTS (SELECT FROM webhook_endpoints WHERE lease_by IS NOT NULL AND lease_until > now()) AS leased,
    (SELECT count(*)::int FROM webhook_deliveries WHERE state <> 'delivered') AS undelivered,
    (SELECT count(*)::int FROM messages m WHERE kind = 'confirmation' AND state = 'scheduled') AS unsent`;
  const countRemaining = async () => (await deployment.sql<typeof remaining>(selectRemaining))[0];
  const remaining = { unqueued: 0, leased: false, undelivered: 0, unsent: 0 };
  await waitUntil('every job is done', short ? SHORT_JOBS_TIMEOUT_S : JOBS_TIMEOUT_S, async () => {
    Object.assign(remaining, await countRemaining());
    progress(`remaining jobs: ${remaining.undelivered} deliveries, ${remaining.unsent} messages`);
    // The short form does not wait until the leases of killed workers expire.
    return short
      ? remaining.leased || remaining.unqueued === 0
      : remaining.unqueued + remaining.undelivered + remaining.unsent === 0;
  }).catch((error) => addFault(results, `${error.message} ${JSON.stringify(remaining)}`));
  const [rows] = await deployment.sql<{ deliveries: number; events: number; twice: number; sent: string[] }>(`SELECT
    (SELECT count(*)::int FROM webhook_deliveries WHERE state = 'delivered') AS deliveries,
    (SELECT count(*)::int FROM events WHERE type = 'invoice.payment_recorded') AS events,
    (SELECT count(*)::int - count(DISTINCT position)::int FROM webhook_deliveries) AS twice,
    (SELECT array_agg(id) FROM messages WHERE state = 'sent') AS sent`);
  const { deliveries = 0, twice = 0, sent = [] } = rows ?? {};
  results.duplicated += twice;
  const receivedIds = new Set(received.map(({ event }) => event.id));
  if (receivedIds.size < deliveries) addFault(results, `${deliveries} deliveries, ${receivedIds.size} received`);
  const files = (await readdir(join(deployment.dataDir, 'outbox'))).join('\n');
  const missing = (sent ?? []).filter((id) => !files.includes(id));
  results.lost += missing.length;
  if (missing.length > 0) addFault(results, `messages are marked as sent but have no file: ${missing.slice(0, 5)}`);
  const repeated = received.length - receivedIds.size;
  results.notes.push(`${deliveries} webhooks delivered (${repeated} repeated), ${sent?.length ?? 0} messages sent`);
}
