import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import pg from 'pg';
import { installRelease, launchRelease } from '../test/harness/earlier-release.ts';
import { freePort } from '../test/harness/free-port.ts';
import { temporaryDirectory } from '../test/harness/service.ts';
import { until } from '../test/harness/until.ts';

/**
 * node scripts/earlier-database.ts <commit>: runs an earlier release, writes to it, and keeps its rows and its answers in
 * test/fixtures/earlier-<migration>.json.gz. test/earlier-databases.test.ts migrates them to today's schema.
 */

const MAX_START_MS = 60_000;
const [commit = ''] = process.argv.slice(2);

type Demo = {
  token: string;
  case_id: string;
  customers: { id: string; email: string }[];
  advisers: { email: string }[];
};

const home = await temporaryDirectory();
const folder = join(home.path, 'release');
const dataDir = join(home.path, 'data');
await mkdir(folder);
const obstacle = await installRelease(commit, folder);
if (obstacle) throw new Error(obstacle);
const port = String(await freePort());
const service = launchRelease(folder, { DATA_DIR: dataDir, PORT: port }, 'serve');
try {
  const demo: Demo = await until(
    () => readFile(join(dataDir, 'demo.json'), 'utf8').then(JSON.parse, () => undefined),
    () => `the demonstration company:\n${service.output.join('\n')}`,
    MAX_START_MS,
  );
  const answers = await useService(`http://127.0.0.1:${port}`, demo);
  const database = await readDatabase(dataDir);
  const fixture = { commit, token: demo.token, case_id: demo.case_id, answers, ...database };
  const level = String(database.migrations.at(-1)?.version).padStart(4, '0');
  const file = new URL(`../test/fixtures/earlier-${level}.json.gz`, import.meta.url);
  await writeFile(file, gzipSync(JSON.stringify(fixture), { level: 9 }));
  console.log(`${file.pathname}: ${answers.length} answers, ${Object.keys(database.tables).length} tables with rows`);
} finally {
  service.child.kill('SIGTERM');
  await service.ended();
  await home.remove();
}

/** Sends writes of all kinds, and returns what can be read afterwards. */
async function useService(baseUrl: string, demo: Demo): Promise<{ path: string; body: unknown }[]> {
  const call = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${demo.token}`, 'content-type': 'application/json' };
    const answer = await fetch(baseUrl + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return { status: answer.status, text: await answer.text() };
  };
  const write = async (method: string, path: string, body?: object): Promise<string> => {
    const { status, text } = await call(method, path, body);
    if (status !== 200) throw new Error(`${method} ${path}: ${status} ${text}`);
    const { id, data } = JSON.parse(text);
    return id ?? data?.id;
  };
  const path = `/cases/${demo.case_id}`;
  const [customer] = demo.customers;
  for (const name of ['Doe', 'Ærø', 'O\'Neill \\ \t "x"', '李']) {
    const entry = {
      ...{ entity_id: 'person', title: 'Ms', first_names: 'Jane', last_name: name, tags: ['executor'] },
      ...{
        relationship: { [customer?.id ?? '']: 'sister' },
        address: { address_1: '1 High Street', postcode: 'AB1 2CD' },
      },
    };
    const entryId = await write('POST', `${path}/address-book/entry`, entry);
    await write('PATCH', `${path}/address-book/entry/${entryId}`, { ...entry, dob: '29/02/1980' });
    const interaction = { type: 'phone', when: '2026-07-01 10:30', notes: `${name}\nsecond line` };
    const interactionId = await write('POST', `${path}/interactions`, interaction);
    await write('PATCH', `${path}/interactions/${interactionId}`, { ...interaction, type: 'email' });
    const invoice = {
      ...{ invoice_number: `INV ${name}`, sender_id: customer?.id, vat: 20, sub_total: 120, total: 144 },
      ...{ date_created: '2026-07-01 09:00', date_due: '2026-07-31 09:00' },
      items: [{ description: name, quantity: '2', rate: '60.0025', amount: '144.00' }],
    };
    const invoiceId = await write('POST', `${path}/invoices`, invoice);
    await write('PATCH', `${path}/invoices/${invoiceId}`, { ...invoice, terms: name });
    const appointment = {
      ...{ start_time: '2035-06-14 10:00', end_time: '2035-06-14 11:00', notes: name },
      ...{ email_recipient: customer?.email, email_confirmation: true, email_notification: true },
    };
    const appointments = `${path}/appointments`;
    const id = await write('POST', appointments, { ...appointment, adviser_email: demo.advisers[0]?.email });
    await write('PATCH', `${appointments}/${id}`, { ...appointment, start_time: '2035-06-14 10:30' });
    if (name === 'Doe') await write('DELETE', `${appointments}/${id}`);
    // Later releases have more: these are skipped where they do not exist.
    await call('POST', `${path}/invoices/${invoiceId}/payments`, { amount: '1.00', reference: name });
    await call('POST', '/manage/keys', { name, scopes: ['invoices:read'] });
    await call('POST', '/webhooks/endpoints', { url: `https://receiver.example/${randomUUID()}`, types: ['*'] });
  }
  const answers: { path: string; body: unknown }[] = [];
  for (const read of ['address-book', 'interactions', 'invoices', 'appointments'].map((name) => `${path}/${name}`)) {
    const { status, text } = await call('GET', read);
    if (status === 200) answers.push({ path: read, body: JSON.parse(text) });
  }
  return answers;
}

type TableRows = { columns: string; rows: string };
type Rows = {
  migrations: { version: number; name: string; sha256: string }[];
  tables: Record<string, TableRows>;
  sequences: Record<string, string>;
};

/** Rows as JSON text, which keeps all digits of numbers. */
async function readDatabase(dataDir: string): Promise<Rows> {
  const client = new pg.Client({ host: join(dataDir, 'postgres'), user: 'postgres', database: 'case_records' });
  await client.connect();
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  const { rows: names } = await client.query(
    `SELECT c.relname AS name, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS columns
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
      WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND c.relname <> 'migrations' GROUP BY 1 ORDER BY 1`,
  );
  const tables: Record<string, TableRows> = {};
  for (const { name, columns } of names) {
    const { rows } = await client.query(`SELECT json_agg(t)::text AS rows FROM (SELECT ${columns} FROM ${name}) t`);
    if (rows[0].rows !== null) tables[name] = { columns, rows: rows[0].rows };
  }
  const { rows: migrations } = await client.query('SELECT version, name, sha256 FROM migrations ORDER BY version');
  const { rows: sequences } = await client.query('SELECT sequencename, last_value::text FROM pg_sequences');
  await client.end();
  return {
    migrations,
    tables,
    sequences: Object.fromEntries(sequences.map((row) => [row.sequencename, row.last_value])),
  };
}
