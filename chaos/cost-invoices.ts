import { setTimeout as pause } from 'node:timers/promises';
import type { Alone } from './alone.ts';
import { type Figures, fault } from './proof.ts';
import { memoryOf, processesIn } from './site.ts';

/** What the largest invoices cost: the memory of listing them, and what a small change of one adds to the event log. */

const ITEMS = 10_000;
const MAX_LOG_BYTES = 4_000;
const MAX_SERVICE_MB = 150;
const MAX_BACKEND_MB = 400;

export async function largeInvoices(
  { site, demo, line, pid }: Pick<Alone, 'site' | 'demo' | 'line' | 'pid'>,
  figures: Figures,
  short: boolean,
): Promise<void> {
  const count = short ? 6 : 72;
  await site.sql(
    `WITH v AS (
       INSERT INTO invoices (company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total,
         vat_amount, total, terms, payment_terms, recipients_name, created_at, updated_at, item_count, payment_count)
       SELECT c.company_id, c.id, gen_random_uuid(), 'COST-' || n, c.id, now(), now(), 0, 1, 0, 1, '', '', '', now(), now(), $3::int, 0
         FROM cases c, generate_series(1, $2::int) n WHERE c.id = $1 RETURNING *)
     INSERT INTO invoice_items (company_id, case_id, invoice_id, id, description, quantity, rate, amount, subtotal, vat_amount, position)
     SELECT v.company_id, v.case_id, v.id, gen_random_uuid(), 'Item ' || i, 1, 1, 1, 1, 0, i FROM v, generate_series(1, $3::int) i`,
    [demo.case_id, count, ITEMS],
  );
  const list = `/cases/${demo.case_id}/invoices`;
  const [rest, atRest] = await memories(pid, site.dataDir);
  let [service, backend] = [0, 0];
  let reading = true;
  const watching = (async () => {
    while (reading) {
      const [now, largest] = await memories(pid, site.dataDir);
      service = Math.max(service, now - rest);
      backend = Math.max(backend, largest - atRest);
      await pause(50);
    }
  })();
  const answer = await line.send({ method: 'GET', path: list, discard: true });
  reading = false;
  await watching;
  figures.requests++;
  const megabytes = Math.round(('bytes' in answer ? answer.bytes : 0) / 1e6);
  const text = `${count} invoices of ${ITEMS} items, ${megabytes} MB: status ${answer.status}, service +${service} MB, largest database process +${backend} MB`;
  figures.notes.push(text);
  if (answer.status !== 200 || service > MAX_SERVICE_MB || backend > MAX_BACKEND_MB) fault(figures, text);

  const [{ id } = { id: '' }] = await site.sql<{ id: string }>(
    `SELECT id FROM invoices WHERE invoice_number = 'COST-1'`,
  );
  const body = {
    ...{ invoice_number: 'COST-1', sender_id: demo.case_id, vat: 0, sub_total: 1, total: 2 },
    ...{ date_created: '2026-06-01 09:00', date_due: '2026-07-01 09:00' },
  };
  const changed = await line.send({ method: 'PATCH', path: `${list}/${id}`, body });
  const [{ size } = { size: 0 }] = await site.sql<{ size: number }>(
    'SELECT max(length(was::text) + coalesce(length(touched::text), 0))::int AS size FROM events WHERE record_id = $1',
    [id],
  );
  const log = `a change of ${JSON.stringify(body).length} bytes to an invoice of ${ITEMS} items adds ${size} bytes to the event log`;
  figures.notes.push(log);
  if (changed.status !== 200 || size > MAX_LOG_BYTES) fault(figures, `${log} (status ${changed.status})`);
}

/** In MB: of the service, and of the largest process of its database. */
async function memories(pid: number, dataDir: string): Promise<[number, number]> {
  const backends = await Promise.all((await processesIn(dataDir)).map((one) => memoryOf(one).catch(() => 0)));
  return [await memoryOf(pid), Math.max(...backends)];
}
