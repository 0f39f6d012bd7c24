import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { CreateAdviserBody } from '../src/company/advisers/schema.ts';
import { createAdviser } from '../src/company/advisers/verbs.ts';
import { CreateCaseBody } from '../src/company/cases/schema.ts';
import { createCase } from '../src/company/cases/verbs.ts';
import { CreateCompanyBody } from '../src/company/companies/schema.ts';
import { createCompany } from '../src/company/companies/verbs.ts';
import { findCompany } from '../src/company/company.ts';
import { CreateCustomerBody } from '../src/company/customers/schema.ts';
import { createCustomer } from '../src/company/customers/verbs.ts';
import { Database } from '../src/kernel/database/database.ts';
import { newId } from '../src/kernel/ids.ts';
import { migrate, readMigrations } from '../src/kernel/schema/migrations.ts';
import { systemClock } from '../src/kernel/time/time.ts';
import { readForm } from '../src/kernel/validation/form.ts';
import { startBundledPostgres } from '../src/postgres/bundled-postgres.ts';

/** Measures how fast one worker process sends 10,000 reminders, all due in the same minute, to a local SMTP server. */

const COUNT = Number(process.env.COUNT ?? 10_000);
const COMPANIES = Number(process.env.COMPANIES ?? 20);

const dataDir = await mkdtemp(join(tmpdir(), 'case-records-bench-'));
const postgres = await startBundledPostgres({ dataDir, log: () => {} });
const { connection } = postgres;
await migrate(connection, await readMigrations());
const db = new Database({ connection, poolSize: 4 });
const admin = { db, clock: systemClock };
const idOf = (record: string): string => JSON.parse(record).id;

for (let i = 0; i < COMPANIES; i++) {
  const companyId = idOf(await createCompany(admin, readForm(CreateCompanyBody, { name: `Company ${i}` })));
  const context = { ...admin, company: await findCompany(admin, companyId) };
  const adviser = { email: 'a@company.example', name: 'Alex' };
  const adviserId = idOf(await createAdviser(context, readForm(CreateAdviserBody, adviser)));
  const caseId = idOf(await createCase(context, readForm(CreateCaseBody, { reference: 'one' })));
  const email = `client-${i}@client.example`;
  const customer = { title: 'Ms', first_names: 'Jo', last_name: 'Doe', email };
  await createCustomer(context, caseId, readForm(CreateCustomerBody, customer));
  const ids = Array.from({ length: Math.ceil(COUNT / COMPANIES) }, () => newId());
  await db.pool.query(
    `INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at, email_recipient,
       email_reminder, sms_reminder, location, video_meeting, created_at, updated_at)
     SELECT $1, $2, i, $3, 'a@company.example', date_trunc('minute', now()) + interval '1 day',
            now() + interval '25 hours', $4, true, false, '1 High Street', false, now(), now()
       FROM unnest($5::uuid[]) i`,
    [companyId, caseId, adviserId, email, ids],
  );
}
await db.pool.query(
  `INSERT INTO messages (company_id, case_id, appointment_id, id, channel, kind, start_at, state, due_at, created_at,
     updated_at)
   SELECT company_id, case_id, id, gen_random_uuid(), 'email', 'reminder', start_at, 'scheduled',
          start_at - interval '1 day', now(), now() FROM appointments`,
);

// Runs in a thread of this process, so that the worker process does only its own work.
const server = new Worker(new URL('./smtp-sink.ts', import.meta.url));
const [port] = await once(server, 'message');
const total = Math.ceil(COUNT / COMPANIES) * COMPANIES;
const settings = { SMTP_URL: `smtp://127.0.0.1:${port}`, DATA_DIR: dataDir };
const load = loadavg();
const startedAt = performance.now();
const worker = fork(new URL('./reminders-worker.ts', import.meta.url), [
  JSON.stringify({ connection, settings, total }),
]);
const reports: { ended: number; heap: number; rss: number; cpu: number }[] = [];
while (reports.at(-1)?.ended !== total) reports.push((await once(worker, 'message'))[0]);
const seconds = (performance.now() - startedAt) / 1000;
const list = (numbers: number[]) => numbers.join(', ');
const formatLoad = (loads: number[]) => loads.map((average) => average.toFixed(1)).join(' ');
const { rows } = await db.pool.query(
  `SELECT state, count(*)::int, max(attempts) AS attempts FROM messages GROUP BY state`,
);
console.log(
  `${total} reminders of ${COMPANIES} companies: ${seconds.toFixed(1)} s including the start of the process,`,
);
console.log(`${Math.round(total / seconds)} per second; CPU of the worker ${reports.at(-1)?.cpu.toFixed(1)} s`);
console.log(`memory of the worker at each tenth, in MB: heap ${list(reports.map(({ heap }) => heap))};`);
console.log(`resident ${list(reports.map(({ rss }) => rss))}`);
console.log(`load average before ${formatLoad(load)}, after ${formatLoad(loadavg())}`);
console.log(JSON.stringify(rows));
worker.send('stop');
await once(worker, 'exit');
await server.terminate();
await db.close();
await postgres.stop();
await rm(dataDir, { recursive: true, force: true });
