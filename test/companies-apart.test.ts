import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { readMigrations } from '../src/kernel/schema/migrations.ts';
import { SERVICE_ROLE } from '../src/postgres/bundled-postgres.ts';
import { removeCompany } from '../src/server/company-removal.ts';
import { COMPANY_TABLES, DERIVED_TABLES } from '../src/server/company-tables.ts';
import { setUpDatabase } from '../src/server/database-setup.ts';
import { startApp, type TestCompany } from './harness/app.ts';
import { booking, invoiceBody, PERSON } from './harness/bodies.ts';
import { runCommand } from './harness/command-line.ts';
import type { Answer } from './harness/http.ts';
import { specified } from './harness/openapi.ts';
import { urlOf } from './harness/service.ts';
import { companyTables } from './harness/tables.ts';

const app = await startApp();

type Ids = Record<string, string>;
type Form = { method: string; template: string; empty?: true };

const forms: Form[] = Object.entries(specified).flatMap(([template, methods]) =>
  Object.keys(methods).map((method) => ({ method: method.toUpperCase(), template })),
);
const postWithoutBody: Form = { method: 'POST', template: '/cases/{caseId}/appointments/{appointmentID}', empty: true };
const allForms = [...forms, postWithoutBody];
const formsOfOneRecord = allForms.filter(({ template }) => template.split('{').length > 2);

const nameOf = ({ method, template, empty }: Form) => `${method} ${template}${empty ? ' (empty)' : ''}`;

const BODIES: Record<string, (company: TestCompany) => object> = {
  'address-book': (company) => ({
    ...PERSON,
    tags: ['executor'],
    custom_tags: ['vip-client'],
    address: { address_1: '1 High Street' },
    relationship: { [company.customers[0].id]: 'sister' },
  }),
  interactions: () => ({ type: 'letter', notes: 'written by its own company' }),
  invoices: (company) =>
    invoiceBody({
      invoice_number: 'INV-1',
      sender_id: company.companyId,
      items: [{ description: 'Will', quantity: 1, rate: 100, amount: 120 }],
    }),
  appointments: (company) =>
    booking(company, {
      email_recipient: company.customers[0].email,
      email_confirmation: true,
      email_notification: true,
      video_meeting: true,
    }),
};

function bodyOf({ method, template, empty }: Form, company: TestCompany): object | undefined {
  if (method === 'GET' || method === 'DELETE' || empty) return undefined;
  if (template.endsWith('{appointmentID}')) return { notes: 'changed from outside' };
  return BODIES[(template.split('/')[3] ?? '').replace('_', '-')]?.(company);
}

const fill = (template: string, ids: Ids) => template.replaceAll(/\{(\w+)\}/g, (_, name) => ids[name] ?? '');

async function recordsIn(company: TestCompany, caseId = company.caseId): Promise<Ids> {
  const inCase = caseId === company.caseId ? company : { ...company, customers: await copyCustomer(company, caseId) };
  const make = async (path: string, resource: string): Promise<string> => {
    const answer = await company.post(`/cases/${caseId}/${path}`, BODIES[resource]?.(inCase));
    assert.equal(answer.status, 200, answer.text);
    return answer.body.id;
  };
  const invoiceId = await make('invoices', 'invoices');
  await company.post(`/cases/${caseId}/invoices/${invoiceId}/payments`, { amount: 1 });
  return {
    caseId,
    entryID: await make('address-book/entry', 'address-book'),
    interactionId: await make('interactions', 'interactions'),
    invoiceId,
    appointmentID: await make('appointments', 'appointments'),
  };
}

async function copyCustomer(company: TestCompany, caseId: string): Promise<TestCompany['customers']> {
  const [customer] = company.customers;
  const copy = { ...customer, id: await company.addCustomer(caseId, customer) };
  return [copy, copy];
}

const neverWere = (ids: Ids): Ids => Object.fromEntries(Object.keys(ids).map((name) => [name, randomUUID()]));

async function everythingOf(company: TestCompany): Promise<Record<string, string[]>> {
  const held: Record<string, string[]> = {};
  for (const name of await companyTables(app)) {
    const rows = await app.sql<{ row: string }>(
      // When a key was used is written a minute later, by the real clock.
      `SELECT (to_jsonb(t) - 'last_used_at')::text AS row FROM ${name} t WHERE company_id = $1 ORDER BY 1`,
      [company.companyId],
    );
    held[name] = rows.map(({ row }) => row);
  }
  return held;
}

const comparable = ({ status, headers, body }: Answer) => ({
  status,
  type: headers['content-type'],
  headers: Object.keys(headers).sort(),
  body: { ...body, request_id: '' },
});

/** A valid body, and bodies with each kind of fault: in the form, in what they refer to, and not JSON. */
const bodiesOf = (form: Form, company: TestCompany): unknown[] => {
  const body = bodyOf(form, company);
  return body
    ? [
        body,
        { ...body, title: [], type: [], total: [], start_time: [] },
        {
          ...body,
          custom_tags: ['unknown'],
          adviser_email: 'unknown@firm.example',
          email_recipient: 'no@client.example',
        },
        '{',
      ]
    : [undefined];
};

/** The answer must be that for identifiers that never existed, whatever the body holds. */
async function assertUnknown(caller: TestCompany, form: Form, ids: Ids, invented: Ids): Promise<void> {
  for (const body of bodiesOf(form, caller)) {
    const answer = await caller.send(form.method, fill(form.template, ids), body);
    assert.equal(answer.status, 404, `${JSON.stringify(body)}: ${answer.text}`);
    assert.equal(answer.body.code, 'not_found');
    for (const id of Object.values(ids)) assert.ok(!answer.text.includes(id), answer.text);
    const control = await caller.send(form.method, fill(form.template, invented), body);
    assert.deepEqual(comparable(answer), comparable(control));
  }
}

test('the document lists the forms of the twelve operations that this file walks', () => {
  assert.equal(allForms.length, 21);
  assert.equal(formsOfOneRecord.length, 12);
});

for (const form of allForms) {
  test(`${nameOf(form)} with a case of another company is as if it never existed`, async () => {
    const [owner, stranger] = [await app.company(), await app.company()];
    const ids = await recordsIn(owner);
    const before = await everythingOf(owner);
    await assertUnknown(stranger, form, ids, neverWere(ids));
    assert.deepEqual(await everythingOf(owner), before);
  });
}

for (const form of formsOfOneRecord) {
  test(`${nameOf(form)} with one's own case and a record of another company is as if it never existed`, async () => {
    const [owner, stranger] = [await app.company(), await app.company()];
    const ids = await recordsIn(owner);
    const own = { caseId: stranger.caseId };
    const before = [await everythingOf(owner), await everythingOf(stranger)];
    await assertUnknown(stranger, form, { ...ids, ...own }, { ...neverWere(ids), ...own });
    assert.deepEqual([await everythingOf(owner), await everythingOf(stranger)], before);
  });

  test(`${nameOf(form)} with a case of another company and one's own record is as if it never existed`, async () => {
    const [owner, stranger] = [await app.company(), await app.company()];
    const ids = { ...(await recordsIn(stranger)), caseId: owner.caseId };
    const before = [await everythingOf(owner), await everythingOf(stranger)];
    await assertUnknown(stranger, form, ids, neverWere(ids));
    assert.deepEqual([await everythingOf(owner), await everythingOf(stranger)], before);
  });

  test(`${nameOf(form)} with a record of another case of the same company is as if it never existed`, async () => {
    const company = await app.company();
    const ids = await recordsIn(company);
    const other = { caseId: await company.openCase() };
    const before = await everythingOf(company);
    await assertUnknown(company, form, { ...ids, ...other }, { ...neverWere(ids), ...other });
    assert.deepEqual(await everythingOf(company), before);
  });

  test(`${nameOf(form)} with its own case, record and token works`, async () => {
    const company = await app.company();
    const ids = await recordsIn(company);
    const answer = await company.send(form.method, fill(form.template, ids), bodyOf(form, company));
    assert.equal(answer.status, 200, answer.text);
  });
}

for (const [resource, kind] of [
  ['interactions', 'interactionId'],
  ['invoices', 'invoiceId'],
  ['address-book', 'entryID'],
] as const) {
  test(`the ${resource} of a case are neither those of another company nor of another case`, async () => {
    const [company, stranger] = [await app.company(), await app.company()];
    const foreign = await recordsIn(stranger);
    const own = await recordsIn(company);
    const other = await recordsIn(company, await company.openCase());
    const listed = async (caseId: string): Promise<string[]> => {
      const answer = await company.get(`/cases/${caseId}/${resource}`);
      assert.equal(answer.status, 200, answer.text);
      assert.ok(!answer.text.includes(foreign[kind] ?? ''));
      return answer.body
        .filter((item: { entity_id?: string }) => item.entity_id !== 'address')
        .map((item: { id: string }) => item.id);
    };
    assert.deepEqual(await listed(company.caseId), [own[kind]]);
    assert.deepEqual(await listed(other.caseId ?? ''), [other[kind]]);
  });
}

test('a record of one kind is not found under the path of another', async () => {
  const company = await app.company();
  const ids = await recordsIn(company);
  for (const form of formsOfOneRecord) {
    const own = /\{(\w+)\}$/.exec(form.template)?.[1] ?? '';
    for (const kind of ['entryID', 'interactionId', 'invoiceId', 'appointmentID'].filter((name) => name !== own)) {
      const path = fill(form.template, { ...ids, [own]: ids[kind] ?? '' });
      const answer = await company.send(form.method, path, bodyOf(form, company));
      assert.equal(answer.status, 404, `${form.method} ${path}: ${answer.text}`);
    }
  }
});

test('two companies and two cases may use the same invoice number without noticing one another', async () => {
  const [company, stranger] = [await app.company(), await app.company()];
  const other = await company.openCase();
  for (const [caller, path] of [
    [company, company.path],
    [stranger, stranger.path],
    [company, `/cases/${other}`],
  ] as const) {
    const answer = await caller.post(`${path}/invoices`, BODIES.invoices?.(caller));
    assert.equal(answer.status, 200, answer.text);
  }
});

type Naming = { field: string; path: string; body: (company: TestCompany, named: string) => object };

/** What a body may refer to, and for each a value that belongs to another company. */
const namings: Record<string, Naming> = {
  customer: {
    field: 'relationship',
    path: 'address-book/entry',
    body: (company, named) => ({ ...BODIES['address-book']?.(company), relationship: { [named]: 'sister' } }),
  },
  adviser: {
    field: 'adviser_email',
    path: 'appointments',
    body: (company, named) => ({ ...BODIES.appointments?.(company), adviser_email: named }),
  },
  recipient: {
    field: 'email_recipient',
    path: 'appointments',
    body: (company, named) => ({ ...BODIES.appointments?.(company), email_recipient: named }),
  },
  'custom tag': {
    field: 'custom_tags',
    path: 'address-book/entry',
    body: (company, named) => ({ ...BODIES['address-book']?.(company), custom_tags: [named] }),
  },
};

async function assertRefusedAlike(
  company: TestCompany,
  naming: Naming,
  foreign: string,
  invented: string,
): Promise<void> {
  const before = await everythingOf(company);
  const told = async (named: string) => {
    const answer = await company.post(`${company.path}/${naming.path}`, naming.body(company, named));
    assert.equal(answer.status, 400, answer.text);
    assert.ok(answer.body.errors[0].field.startsWith(naming.field), answer.text);
    assert.equal(answer.body.errors[0].code, 'unknown');
    return JSON.stringify({ ...answer.body, request_id: '' }).replaceAll(named, '…');
  };
  assert.equal(await told(foreign), await told(invented));
  assert.deepEqual(await everythingOf(company), before);
}

const namingOf = (kind: string): Naming => {
  const naming = namings[kind];
  assert.ok(naming);
  return naming;
};

test('a customer of another company is as unknown as one that never existed', async () => {
  const [company, stranger] = [await app.company(), await app.company()];
  await assertRefusedAlike(company, namingOf('customer'), stranger.customers[0].id, randomUUID());
});

test('a customer of another case is as unknown as one that never existed', async () => {
  const company = await app.company();
  const elsewhere = await company.addCustomer(await company.openCase(), {});
  await assertRefusedAlike(company, namingOf('customer'), elsewhere, randomUUID());
});

test('an adviser of another company is as unknown as one that never existed', async () => {
  const [company, stranger] = [await app.company(), await app.company()];
  await assertRefusedAlike(company, namingOf('adviser'), stranger.adviser, 'adviser-unknown@firm.example');
});

test('the email address of a customer of another company is as unknown as one that never existed', async () => {
  const [company, stranger] = [await app.company(), await app.company()];
  await assertRefusedAlike(company, namingOf('recipient'), stranger.customers[0].email, 'john-unknown@client.example');
});

test('the email address of a customer of another case is as unknown as one that never existed', async () => {
  const company = await app.company();
  await company.addCustomer(await company.openCase(), { email: 'elsewhere@client.example' });
  await assertRefusedAlike(company, namingOf('recipient'), 'elsewhere@client.example', 'nowhere@client.example');
});

test('a custom tag of another company is as unknown as one that never existed', async () => {
  const [company, stranger] = [await app.company(), await app.company()];
  await app.sql(`INSERT INTO custom_tags (company_id, tag, created_at) VALUES ($1, 'theirs-alone', now())`, [
    stranger.companyId,
  ]);
  await assertRefusedAlike(company, namingOf('custom tag'), 'theirs-alone', 'of-no-company');
});

/** Every column with a reference, by table. */
const REFERENCES: Record<string, string[]> = {
  advisers: ['company_id'],
  case_kinds: ['company_id'],
  cases: ['company_id', 'kind_id', 'responsible_adviser_id'],
  custom_tags: ['company_id'],
  clients: ['company_id'],
  client_rotations: ['company_id', 'client_id'],
  tokens: ['company_id', 'client_id'],
  customers: ['company_id', 'case_id'],
  addresses: ['company_id', 'case_id'],
  people: ['company_id', 'case_id', 'address_id'],
  relationships: ['company_id', 'case_id', 'person_id', 'customer_id'],
  interactions: ['company_id', 'case_id'],
  invoices: ['company_id', 'case_id'],
  invoice_items: ['company_id', 'case_id', 'invoice_id'],
  payments: ['company_id', 'case_id', 'invoice_id'],
  appointments: ['company_id', 'case_id', 'adviser_id'],
  messages: ['company_id', 'case_id', 'appointment_id'],
  meetings: ['company_id', 'case_id', 'appointment_id'],
  video_accounts: ['company_id', 'adviser_id'],
  message_templates: ['company_id'],
  test_messages: ['company_id'],
  users: ['company_id', 'adviser_id'],
  sessions: ['company_id', 'user_id'],
  passkeys: ['company_id', 'user_id'],
  user_links: ['company_id', 'user_id'],
  webhook_endpoints: ['company_id'],
  webhook_deliveries: ['company_id', 'endpoint_id'],
  webhook_notices: ['company_id', 'endpoint_id'],
  // Events outlive their records, and writing them locks nothing. The same holds for stored responses.
  events: [],
  idempotency_keys: [],
  // It has a number that every row has alone, so no row can be copied.
  search_progress: [],
  search_documents: [],
  invoice_sums_progress: ['company_id'],
  invoice_sums: [],
};

/** The columns that refer to records outside of cases. */
const COMPANY_WIDE = [
  ...['company_id', 'case_id', 'adviser_id', 'client_id', 'endpoint_id'],
  ...['kind_id', 'responsible_adviser_id', 'user_id'],
];

type Row = Record<string, unknown>;

async function rowOf(table: string, { companyId, caseId }: { companyId: string; caseId: string }): Promise<Row> {
  const [found] = await app.sql<{ row: Row }>(
    `SELECT to_jsonb(t) AS row FROM ${table} t
     WHERE company_id = $1 AND coalesce(to_jsonb(t) ->> 'case_id', $2) = $2 LIMIT 1`,
    [companyId, caseId],
  );
  assert.ok(found, `${table} has a row`);
  return found.row;
}

const insertable = new Map<string, string>();

/** The columns of the table that are not computed, separated by commas. */
async function insertableColumns(table: string): Promise<string> {
  const known = insertable.get(table);
  if (known !== undefined) return known;
  const [{ columns } = { columns: '' }] = await app.sql<{ columns: string }>(
    `SELECT string_agg(column_name, ', ') AS columns FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name = $1 AND is_generated = 'NEVER'`,
    [table],
  );
  insertable.set(table, columns);
  return columns;
}

async function insert(table: string, row: Row): Promise<string> {
  const fresh = { ...row };
  if ('id' in row) fresh.id = randomUUID();
  for (const secret of ['secret_sha256', 'credential_id']) {
    if (secret in row && typeof row[secret] === 'string') fresh[secret] = `\\x${randomBytes(32).toString('hex')}`;
  }
  if (table === 'users') fresh.email = `${randomUUID()}@firm.example`;
  const columns = await insertableColumns(table);
  try {
    await app.sql(
      `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM jsonb_populate_record(NULL::${table}, $1)`,
      [fresh],
    );
    return 'stored';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

/** A row in every table that belongs to a company. */
async function fillTables(company: TestCompany, caseId = company.caseId): Promise<void> {
  await recordsIn(company, caseId);
  await app.sql(
    `WITH k AS (
       INSERT INTO case_kinds (company_id, id, name, created_at, updated_at)
       VALUES ($1, gen_random_uuid(), gen_random_uuid()::text, now(), now()) RETURNING id)
     UPDATE cases SET kind_id = k.id, responsible_adviser_id = (SELECT id FROM advisers WHERE company_id = $1 LIMIT 1)
       FROM k WHERE company_id = $1`,
    [company.companyId],
  );
  const clientId = randomUUID();
  await app.sql(
    `INSERT INTO clients (company_id, id, name, scopes, secret_sha256, created_at, updated_at)
     VALUES ($1, $2, 'test', '{}', sha256('test'), now(), now())`,
    [company.companyId, clientId],
  );
  await app.sql(
    `INSERT INTO video_accounts (company_id, id, adviser_id, account_id, client_id, host, created_at, updated_at)
     SELECT company_id, gen_random_uuid(), id, 'account', 'client', 'host', now(), now() FROM advisers WHERE company_id = $1 LIMIT 1`,
    [company.companyId],
  );
  await app.sql('UPDATE tokens SET client_id = $2, client_generation = 1 WHERE company_id = $1', [
    company.companyId,
    clientId,
  ]);
  await app.sql(
    `INSERT INTO client_rotations (company_id, client_id, rotated_by_type, rotated_by_id) VALUES ($1, $2, 'key', $3)`,
    [company.companyId, clientId, randomUUID()],
  );
  const userId = randomUUID();
  await app.sql(
    `INSERT INTO users (company_id, id, email, name, role, adviser_id, state, created_at, updated_at)
     SELECT $1, $2::uuid, $2::text || '@firm.example', 'Una', 'reader', id, 'invited', now(), now()
       FROM advisers WHERE company_id = $1 LIMIT 1`,
    [company.companyId, userId],
  );
  await app.sql(
    `INSERT INTO sessions (company_id, id, user_id, secret_sha256, browser_sha256, purpose, method, address, user_agent,
                           created_at, last_seen_at)
     VALUES ($1, $2::uuid, $2, sha256($2::text::bytea), sha256('browser'), 'full', 'link', '', '', now(), now())`,
    [company.companyId, userId],
  );
  await app.sql(
    `INSERT INTO passkeys (company_id, id, user_id, name, credential_id, public_key, counter, transports, backed_up, created_at)
     VALUES ($1, $2::uuid, $2, 'Phone', sha256($2::text::bytea), '\\x01', 1, '{internal}', true, now())`,
    [company.companyId, userId],
  );
  await app.sql(
    `INSERT INTO user_links (company_id, id, user_id, kind, email, expires_at, state, due_at, created_at)
     VALUES ($1, $2::uuid, $2, 'invitation', 'una@firm.example', now(), 'failed', now(), now())`,
    [company.companyId, userId],
  );
  const endpointId = randomUUID();
  await app.sql(
    `INSERT INTO webhook_endpoints (company_id, id, url, types, state, position, created_at, updated_at)
     VALUES ($1, $2, 'https://firm.example/', '{*}', 'disabled', 0, now(), now())`,
    [company.companyId, endpointId],
  );
  await app.sql(
    `INSERT INTO webhook_deliveries (company_id, endpoint_id, event_type, state, ready, due_at, created_at)
     VALUES ($1, $2, 'ping', 'waiting', true, now(), now())`,
    [company.companyId, endpointId],
  );
  await app.sql(
    `INSERT INTO webhook_notices (company_id, endpoint_id, id, kind, state, due_at)
     VALUES ($1, $2, $2, 'failing', 'waiting', now())`,
    [company.companyId, endpointId],
  );
  await company.patch('/manage/message-templates/reminder', { subject: 'Soon' });
  await company.post('/manage/message-templates/reminder/test', { email: 'me@firm.example' });
  await app.sql(
    'INSERT INTO search_progress (company_id, edition, position) VALUES ($1, 1, 0) ON CONFLICT DO NOTHING',
    [company.companyId],
  );
  await app.sql(`INSERT INTO search_documents VALUES ($1, $2, 'case', $2, now(), '') ON CONFLICT DO NOTHING`, [
    company.companyId,
    caseId,
  ]);
  await app.sql('INSERT INTO invoice_sums_progress VALUES ($1, 0, now()) ON CONFLICT DO NOTHING', [company.companyId]);
  await app.sql(`INSERT INTO invoice_sums VALUES ($1, 'day', '2026-06-01', 'Not Paid', 1, 1) ON CONFLICT DO NOTHING`, [
    company.companyId,
  ]);
  await company.post(`${company.path}/interactions`, { type: 'phone' }, { 'idempotency-key': randomUUID() });
}

const FOREIGN_KEY_VIOLATION = '23503';

// The rows that the next tests insert are refused, so that they can share their companies.
const [filled, otherFilled] = [await app.company(), await app.company()];
for (const one of [filled, otherFilled]) await fillTables(one);
const twoCases = await app.company();
const otherCase = await twoCases.openCase();
for (const caseId of [twoCases.caseId, otherCase]) await fillTables(twoCases, caseId);

for (const [table, columns] of Object.entries(REFERENCES).filter(([, references]) => references.length > 1)) {
  for (const column of columns) {
    test(`the database refuses a row of ${table} whose ${column} is of another company`, async () => {
      const row = await rowOf(table, filled);
      const foreign = await rowOf(table, otherFilled);
      assert.notEqual(row[column], foreign[column]);
      assert.equal(await insert(table, { ...row, [column]: foreign[column] }), FOREIGN_KEY_VIOLATION);
    });
  }
}

for (const [table, columns] of Object.entries(REFERENCES)) {
  const inTheCase = columns.filter((column) => !COMPANY_WIDE.includes(column));
  for (const column of inTheCase.length > 0 ? ['case_id', ...inTheCase] : []) {
    test(`the database refuses a row of ${table} whose ${column} is of another case of the same company`, async () => {
      const row = await rowOf(table, twoCases);
      const elsewhere = await rowOf(table, { companyId: twoCases.companyId, caseId: otherCase });
      assert.notEqual(row[column], elsewhere[column]);
      assert.equal(await insert(table, { ...row, [column]: elsewhere[column] }), FOREIGN_KEY_VIOLATION);
    });
  }
}

for (const [table, columns] of Object.entries(REFERENCES)) {
  for (const column of columns) {
    test(`the database refuses a row of ${table} whose ${column} never existed`, async () => {
      const row = { ...(await rowOf(table, filled)), [column]: randomUUID() };
      assert.equal(await insert(table, row), FOREIGN_KEY_VIOLATION);
    });
  }
}

for (const table of ['customers', 'addresses', 'interactions']) {
  test(`the database stores a row of ${table} whose keys belong together`, async () => {
    const company = await app.company();
    await fillTables(company);
    assert.equal(await insert(table, await rowOf(table, company)), 'stored');
  });
}

test('every table that belongs to a company is known to this file', async () => {
  assert.deepEqual([...(await companyTables(app))].sort(), Object.keys(REFERENCES).sort());
});

test('every key of a table that belongs to a company begins with the company, then with the case', async () => {
  const keys = await app.sql<{ table: string; columns: string[]; incase: boolean }>(
    `SELECT c.conrelid::regclass::text AS "table",
            EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.conrelid AND a.attname = 'case_id') AS incase,
            ARRAY(SELECT a.attname::text FROM unnest(c.conkey) WITH ORDINALITY k(n, i)
                  JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.n ORDER BY i) AS columns
     FROM pg_constraint c
     WHERE c.contype IN ('p', 'f') AND c.connamespace = 'public'::regnamespace`,
  );
  const owned = keys.filter(({ table }) => table in REFERENCES);
  assert.ok(owned.length >= 20);
  for (const { table, columns, incase } of owned) {
    assert.equal(columns[0], 'company_id', `${table} (${columns})`);
    const ofCompany = ['adviser_id', 'account_id', 'position'].some((column) => columns.includes(column));
    if (incase && !ofCompany) assert.equal(columns[1], 'case_id', `${table} (${columns})`);
  }
});

const TABLES = [...Object.keys(REFERENCES)];
const countRows = async (table: string, companyId: string) =>
  (await app.sql<{ n: number }>(`SELECT count(*)::int AS n FROM ${table} WHERE company_id = $1`, [companyId]))[0]?.n ??
  0;
const remove = (companyId: string, ...args: string[]) =>
  runCommand({ DATABASE_URL: urlOf(app.connection) }, 'company', 'remove', companyId, ...args);
const nameOfCompany = async (companyId: string) =>
  (await app.sql<{ name: string }>('SELECT name FROM companies WHERE id = $1', [companyId]))[0]?.name ?? '';

test('a company is removed with every row that belongs to it, and other companies keep theirs', async () => {
  const [company, stranger] = [await app.company(), await app.company()];
  await fillTables(company);
  await fillTables(stranger);
  const before = await Promise.all(TABLES.map((table) => countRows(table, stranger.companyId)));
  const { code, out, err } = await remove(company.companyId, '--confirm', await nameOfCompany(company.companyId));
  assert.equal(code, 0, err);
  assert.match(out, / was removed, with 1 case, 2 customers, .* events?\.$/);
  for (const table of TABLES) assert.equal(await countRows(table, company.companyId), 0, table);
  assert.equal(await nameOfCompany(company.companyId), '');
  assert.deepEqual(await Promise.all(TABLES.map((table) => countRows(table, stranger.companyId))), before);
  assert.equal((await remove(company.companyId, '--confirm', 'x')).code, 4);
});

test('a company is removed only if its name is typed, and nothing changes otherwise', async () => {
  const company = await app.company();
  const { code, err } = await remove(company.companyId);
  assert.equal(code, 3);
  assert.match(err, /^--confirm is required.*This removes .* for good, with 1 case, 2 customers/);
  assert.equal((await remove(company.companyId, '--confirm', 'another name')).code, 3);
  assert.equal((await company.get(`${company.path}/interactions`)).status, 200);
  const [row] = await app.sql('SELECT FROM companies WHERE id = $1 AND removal_started_at IS NULL', [
    company.companyId,
  ]);
  assert.ok(row);
});

test('a company with connected video accounts is only removed if its meetings are to stay', async () => {
  const company = await app.company();
  await fillTables(company);
  await app.sql(`UPDATE video_accounts SET sealed_secret = 'sealed' WHERE company_id = $1`, [company.companyId]);
  const { code, err } = await remove(company.companyId, '--confirm', await nameOfCompany(company.companyId));
  assert.equal(code, 1);
  assert.match(err, /adviser disconnect/);
  assert.ok((await countRows('interactions', company.companyId)) > 0);
  const confirmed = ['--confirm', await nameOfCompany(company.companyId)];
  assert.equal((await remove(company.companyId, ...confirmed, '--keep-meetings')).code, 0);
  assert.equal(await nameOfCompany(company.companyId), '');
});

const isGone = async (companyId: string) =>
  (await Promise.all(TABLES.map((table) => countRows(table, companyId)))).every((n) => n === 0) &&
  (await nameOfCompany(companyId)) === '';

test('a company with more rows than a batch is removed, with messages that were sent again', async () => {
  const company = await app.company();
  await fillTables(company);
  const message = await rowOf('messages', company);
  for (let year = 2030; year < 2035; year++) {
    const resend = { ...message, resend_of: message.id, state: 'sent', created_at: `${year}-01-01T00:00:00Z` };
    assert.equal(await insert('messages', resend), 'stored');
  }
  await removeCompany(app.connection, company.companyId, { maxBatchRows: 2 });
  assert.ok(await isGone(company.companyId));
});

test('rows that requests write during a removal are removed as well', async () => {
  const company = await app.company();
  await fillTables(company);
  const address = await rowOf('addresses', company);
  const late: string[] = [];
  await removeCompany(app.connection, company.companyId, {
    onTable: async (table) => {
      if (table === 'customers' && late.length === 0) late.push(await insert('addresses', address));
    },
  });
  assert.deepEqual(late, ['stored']);
  assert.ok(await isGone(company.companyId));
});

test('an interrupted removal is finished by running it again', async () => {
  const company = await app.company();
  await fillTables(company);
  const interrupt = (table: string) => {
    if (table === 'clients') throw new Error('interrupted');
  };
  await assert.rejects(removeCompany(app.connection, company.companyId, { onTable: interrupt }), /interrupted/);
  const { code, err } = await remove(company.companyId, '--confirm', await nameOfCompany(company.companyId));
  assert.equal(code, 0, err);
  assert.ok(await isGone(company.companyId));
});

test("the service's role cannot remove a company, and removes nothing of it", async () => {
  const company = await app.company();
  await fillTables(company);
  await setUpDatabase({ owner: app.connection, roleToCreate: SERVICE_ROLE }, await readMigrations());
  const env = { DATABASE_URL: urlOf({ ...app.connection, user: SERVICE_ROLE }) };
  const name = await nameOfCompany(company.companyId);
  const { code, err } = await runCommand(env, 'company', 'remove', company.companyId, '--confirm', name);
  assert.equal(code, 1);
  assert.match(err, /DATABASE_OWNER_URL/);
  for (const table of TABLES) assert.ok((await countRows(table, company.companyId)) > 0, table);
});

test('the functions that protect the event log do not look at temporary tables first', async () => {
  const functions = await app.sql<{ name: string; settings: string[] | null }>(
    `SELECT proname AS name, proconfig AS settings FROM pg_proc
      WHERE proname IN ('refuse_change_of_events', 'forget_events', 'settled_events')`,
  );
  assert.equal(functions.length, 3);
  for (const { name, settings } of functions) assert.ok(settings?.includes('search_path=public, pg_temp'), name);
});

test('events of a company that is not being removed cannot be deleted', async () => {
  const company = await app.company();
  await company.post(`${company.path}/interactions`, { type: 'phone' });
  await assert.rejects(app.sql('DELETE FROM events WHERE company_id = $1', [company.companyId]), /cannot be changed/);
});

test('the removal, the export and the import of companies know every table with rows of companies', () => {
  assert.deepEqual([...COMPANY_TABLES, ...DERIVED_TABLES].sort(), TABLES.sort());
});
