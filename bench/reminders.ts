import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import pino from 'pino';
import { CreateAdviserBody } from '../src/company/advisers/advisers.schema.ts';
import { createAdviser } from '../src/company/advisers/advisers.ts';
import { CreateCaseBody } from '../src/company/cases/cases.schema.ts';
import { openCase } from '../src/company/cases/cases.ts';
import { CreateCustomerBody } from '../src/company/cases/customers.schema.ts';
import { addCustomer } from '../src/company/cases/customers.ts';
import { CreateCompanyBody } from '../src/company/companies/companies.schema.ts';
import { createCompany } from '../src/company/companies/companies.ts';
import { findCompany } from '../src/company/company.ts';
import { readConfig } from '../src/config.ts';
import { Database } from '../src/kernel/database.ts';
import { readForm } from '../src/kernel/form.ts';
import { newId } from '../src/kernel/ids.ts';
import { migrate, readMigrations } from '../src/kernel/migrations.ts';
import { Outcomes } from '../src/kernel/outcomes.ts';
import { systemClock } from '../src/kernel/time.ts';
import { startBundledPostgres } from '../src/postgres/bundled-postgres.ts';
import { runWorker } from '../src/worker.ts';

/** 10,000 reminders that are due in the same minute, handed over to a local SMTP server by one worker process. */

const COUNT = Number(process.env.COUNT ?? 10_000);
const COMPANIES = Number(process.env.COMPANIES ?? 20);

const dataDir = await mkdtemp(join(tmpdir(), 'case-records-bench-'));
const postgres = await startBundledPostgres({ dataDir, log: () => {} });
const { connection } = postgres;
await migrate(connection, await readMigrations());
const db = new Database({ connection, poolSize: 4 });
const office = { db, clock: systemClock };
const idOf = (record: string): string => JSON.parse(record).id;

for (let i = 0; i < COMPANIES; i++) {
  const companyId = idOf(await createCompany(office, readForm(CreateCompanyBody, { name: `Firm ${i}` })));
  const desk = { ...office, company: await findCompany(office, companyId) };
  const adviser = { email: 'a@firm.example', name: 'Alex' };
  const adviserId = idOf(await createAdviser(desk, readForm(CreateAdviserBody, adviser)));
  const caseId = idOf(await openCase(desk, readForm(CreateCaseBody, { reference: 'one' })));
  const email = `client-${i}@client.example`;
  const customer = { title: 'Ms', first_names: 'Jo', last_name: 'Doe', email };
  await addCustomer(desk, caseId, readForm(CreateCustomerBody, customer));
  const ids = Array.from({ length: Math.ceil(COUNT / COMPANIES) }, () => newId());
  await db.pool.query(
    `INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at, email_recipient,
       email_reminder, sms_reminder, location, video_meeting, created_at, updated_at)
     SELECT $1, $2, i, $3, 'a@firm.example', date_trunc('minute', now()) + interval '1 day', now() + interval '25 hours',
            $4, true, false, '1 High Street', false, now(), now() FROM unnest($5::uuid[]) i`,
    [companyId, caseId, adviserId, email, ids],
  );
}
await db.pool.query(
  `INSERT INTO messages (company_id, case_id, appointment_id, id, channel, kind, start_at, state, due_at, created_at, updated_at)
   SELECT company_id, case_id, id, gen_random_uuid(), 'email', 'reminder', start_at, 'scheduled',
          start_at - interval '1 day', now(), now() FROM appointments`,
);

// In a thread of its own, so that the memory and the loop measured here are the worker's.
const server = new Worker(new URL('./smtp-sink.ts', import.meta.url));
const [port] = await once(server, 'message');
const config = readConfig({ SMTP_URL: `smtp://127.0.0.1:${port}`, DATA_DIR: dataDir });
const outcomes = new Outcomes();
const memory: number[] = [];
const megabytes = () => Math.round(process.memoryUsage().heapUsed / 1024 / 1024);
let sent = 0;
const { promise: done, resolve } = Promise.withResolvers<void>();
const total = Math.ceil(COUNT / COMPANIES) * COMPANIES;
outcomes.onOutcome = () => {
  sent++;
  if (sent % Math.ceil(total / 10) === 0) memory.push(megabytes());
  if (sent === total) resolve();
};
const begun = performance.now();
const stop = await runWorker({ config, connection, clock: systemClock, logger: pino({ level: 'error' }), outcomes });
await done;
const seconds = (performance.now() - begun) / 1000;
const { rows } = await db.pool.query(
  `SELECT state, count(*)::int, max(attempts) AS attempts FROM messages GROUP BY state`,
);
console.log(
  `${total} reminders of ${COMPANIES} companies: ${seconds.toFixed(1)} s, ${Math.round(total / seconds)} per second`,
);
console.log(
  `heap in MB at each tenth: ${memory.join(', ')}; rss ${Math.round(process.memoryUsage().rss / 1024 / 1024)} MB`,
);
console.log(JSON.stringify(rows));
await stop();
await server.terminate();
await db.close();
await postgres.stop();
await rm(dataDir, { recursive: true, force: true });
