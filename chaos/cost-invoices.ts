import { setTimeout as pause } from 'node:timers/promises';
import { addFault, type Results } from './chaos-test.ts';
import { processesIn, readMemoryMegabytes } from './deployment.ts';
import type { SingleService } from './single-service.ts';

/** Checks the cost of the largest invoices: memory of listing them, and growth of the event log by a small update. */

const ITEMS_PER_INVOICE = 10_000;
const MAX_LOG_BYTES = 4_000;
const MAX_SERVICE_MB = 150;
const MAX_BACKEND_MB = 400;

export async function checkLargeInvoices(
  { deployment, demo, client, servicePid: pid }: Pick<SingleService, 'deployment' | 'demo' | 'client' | 'servicePid'>,
  results: Results,
  short: boolean,
): Promise<void> {
  const count = short ? 6 : 72;
  await deployment.sql(
    `WITH v AS (
       INSERT INTO invoices (company_id, case_id, id, invoice_number, sender_id, date_created, date_due, vat, sub_total,
         vat_amount, total, terms, payment_terms, recipients_name, created_at, updated_at, item_count, payment_count)
       SELECT c.company_id, c.id, gen_random_uuid(), 'COST-' || n, c.id, now(), now(), 0, 1, 0, 1, '', '', '', now(),
              now(), $3::int, 0
         FROM cases c, generate_series(1, $2::int) n WHERE c.id = $1 RETURNING *)
     INSERT INTO invoice_items (company_id, case_id, invoice_id, id, description, quantity, rate, amount, subtotal,
       vat_amount, position)
     SELECT v.company_id, v.case_id, v.id, gen_random_uuid(), 'Item ' || i, 1, 1, 1, 1, 0, i
       FROM v, generate_series(1, $3::int) i`,
    [demo.case_id, count, ITEMS_PER_INVOICE],
  );
  const list = `/cases/${demo.case_id}/invoices`;
  const [serviceAtRest, backendAtRest] = await readMemories(pid, deployment.dataDir);
  let [service, backend] = [0, 0];
  let reading = true;
  const monitoring = (async () => {
    while (reading) {
      const [now, largest] = await readMemories(pid, deployment.dataDir);
      service = Math.max(service, now - serviceAtRest);
      backend = Math.max(backend, largest - backendAtRest);
      await pause(50);
    }
  })();
  const answer = await client.send({ method: 'GET', path: list, discardBody: true });
  reading = false;
  await monitoring;
  results.requests++;
  const megabytes = Math.round(('bytes' in answer ? answer.bytes : 0) / 1e6);
  const text =
    `${count} invoices of ${ITEMS_PER_INVOICE} items, ${megabytes} MB: status ${answer.status}, ` +
    `service +${service} MB, largest database process +${backend} MB`;
  results.notes.push(text);
  if (answer.status !== 200 || service > MAX_SERVICE_MB || backend > MAX_BACKEND_MB) addFault(results, text);

  const [{ id } = { id: '' }] = await deployment.sql<{ id: string }>(
    `SELECT id FROM invoices WHERE invoice_number = 'COST-1'`,
  );
  const body = {
    ...{ invoice_number: 'COST-1', sender_id: demo.case_id, vat: 0, sub_total: 1, total: 2 },
    ...{ date_created: '2026-06-01 09:00', date_due: '2026-07-01 09:00' },
  };
  const changed = await client.send({ method: 'PATCH', path: `${list}/${id}`, body });
  const [{ size } = { size: 0 }] = await deployment.sql<{ size: number }>(
    'SELECT max(length(was::text) + coalesce(length(touched::text), 0))::int AS size FROM events WHERE record_id = $1',
    [id],
  );
  const log =
    `an update of ${JSON.stringify(body).length} bytes to an invoice of ${ITEMS_PER_INVOICE} items ` +
    `adds ${size} bytes to the event log`;
  results.notes.push(log);
  if (changed.status !== 200 || size > MAX_LOG_BYTES) addFault(results, `${log} (status ${changed.status})`);
}

/** Returns the memory in MB of the service and of the largest process of its database. */
async function readMemories(pid: number, dataDir: string): Promise<[number, number]> {
  const backends = await Promise.all(
    (await processesIn(dataDir)).map((backend) => readMemoryMegabytes(backend).catch(() => 0)),
  );
  return [await readMemoryMegabytes(pid), Math.max(...backends)];
}
