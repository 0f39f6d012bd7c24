import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { KEY_GUARD } from '../src/http/operation/idempotency.sql.ts';
import { allStatements, read, write, writeVariants } from '../src/kernel/sql/statement.ts';
import { startApp } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import { booking, invoiceBody, PERSON } from './harness/bodies.ts';
import { testQuery } from './harness/query.ts';

/** SQL statements: named, typed inputs, and one text for the single and the batch form. */

const app = await startApp();

/** The statements of the folder sql/, in each of their forms. */
function committedStatements(): { name: string; text: string }[] {
  const folder = new URL('../sql/', import.meta.url);
  return readdirSync(folder).flatMap((file) =>
    readFileSync(new URL(file, folder), 'utf8')
      .split(/^-- /m)
      .slice(1)
      .map((part) => ({ name: part.slice(0, part.indexOf('\n')), text: part.slice(part.indexOf('\n')) })),
  );
}

test('PostgreSQL accepts every statement that is committed in sql/, in each of its forms', async () => {
  const statements = committedStatements();
  assert.ok(statements.length > 200);
  for (const [i, { name, text }] of statements.entries()) {
    await assert.doesNotReject(app.sql(`PREPARE checked_${i} AS ${text}`), name);
    await app.sql(`DEALLOCATE checked_${i}`);
  }
});

test('values are sent in the order of the inputs, whatever their order in the call', () => {
  const statement = read('test.order', {
    inputs: { company_id: 'uuid', name: 'text?', size: 'int' },
    sql: (input) => `SELECT ${input.size}, ${input.name}, ${input.company_id}`,
  });
  const { values, statement: prepared } = statement({ size: 3, name: undefined, company_id: 'c' });
  assert.deepEqual(values, ['c', undefined, 3]);
  assert.equal(prepared.text, 'SELECT $3::int, $2::text, $1::uuid');
});

test('a missing, misspelt or mistyped input does not compile', () => {
  const statement = read('test.types', {
    inputs: { company_id: 'uuid', size: 'int', notes: 'text?' },
    sql: (input) => `SELECT ${input.size}, ${input.company_id}, ${input.notes}`,
  });
  // @ts-expect-error an input is missing
  statement({ company_id: 'c', size: 1 });
  // @ts-expect-error an input has another type
  statement({ company_id: 'c', size: '1', notes: null });
  // @ts-expect-error null is not allowed
  statement({ company_id: null, size: 1, notes: null });
  // @ts-expect-error there is no such input
  statement({ company_id: 'c', size: 1, notes: null, note: '' });
  const misspelt = () =>
    // @ts-expect-error the text names an input that does not exist
    read('test.misspelt', { inputs: { size: 'int' }, sql: (input) => `SELECT ${input.sice}` });
  assert.throws(misspelt, /no input sice/);
});

test('a part is chosen by its inputs, and the order of the parts does not depend on the call', () => {
  const update = writeVariants('test.parts', {
    inputs: { id: 'uuid' },
    parts: { first: { a: 'text' }, second: { b: 'int[]' }, third: {} },
    fromInput: (input, inputTable, has) =>
      `WITH ${inputTable} SELECT ${[input.id, has('first') && input.a, has('second') && input.b, has('third') && '3'].filter(Boolean).join()} FROM input`,
  });
  const one = update({ id: 'x' }, { second: { b: [1] }, first: { a: 'y' } });
  const other = update({ id: 'x' }, { first: { a: 'y' }, third: false, second: { b: [1] } });
  assert.equal(one.statement, other.statement);
  assert.equal(one.statement.name, 'test.parts+first+second');
  assert.deepEqual(one.values, ['x', 'y', [1]]);
  assert.deepEqual(update({ id: 'x' }).values, ['x']);
});

test('two texts under one name are refused, and a name that PostgreSQL would cut off is shortened', () => {
  const declare = (name: string, text: string) => write(name, { inputs: {}, sql: () => text });
  declare('test.twice', 'SELECT 1');
  declare('test.twice', 'SELECT 1');
  assert.throws(() => declare('test.twice', 'SELECT 2'), /Two statements are called test.twice/);
  const long = ['a', 'b'].map((end) => declare(`test.${'x'.repeat(60)}${end}`, `SELECT '${end}'`).prepared.name);
  assert.deepEqual(
    long.map(({ length }) => length),
    [63, 63],
  );
  assert.notEqual(long[0], long[1]);
});

test('a guarded statement reads no table further than the statement itself', async () => {
  const app = await startApp();
  const company = await app.company();
  await company.post(`${company.path}/interactions`, { type: 'phone' });
  await app.sql('SET enable_seqscan = off; SET jit = off');
  for (const { name, text, guarded } of await everyStatement()) {
    if (!guarded) continue;
    const scans = async (sql: string) => {
      const [row] = await app.sql<{ 'QUERY PLAN': unknown }>(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${sql}`);
      return unboundScans(row?.['QUERY PLAN']).sort();
    };
    assert.deepEqual(await scans(guarded(KEY_GUARD).text), await scans(text), name);
  }
});

test('a key is looked up by its index, also if the table was empty when the statement was planned', async () => {
  const app = await startApp();
  await app.sql('VACUUM ANALYZE idempotency_keys');
  // The setting of the service's sessions decides.
  const setting = testQuery('test.seqscan', `SELECT current_setting('enable_seqscan') AS value`);
  await app.sql(`SET enable_seqscan = ${(await app.db.queryFirst(setting))?.value}`);
  for (const { name, guarded } of await everyStatement()) {
    const text = guarded?.(KEY_GUARD).batch?.text;
    if (text === undefined) continue;
    const rows = await app.sql<{ 'QUERY PLAN': string }>(`EXPLAIN (GENERIC_PLAN) ${text}`);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    assert.doesNotMatch(plan, /Seq Scan on idempotency_keys/, name);
  }
});

test('a statement about a case looks for nothing in the whole company, also if most companies are small', async () => {
  const app = await startApp();
  const company = await app.company();
  await ok(company.post(`${company.path}/address-book/entry`, PERSON));
  await ok(company.post(`${company.path}/interactions`, { type: 'phone' }));
  await ok(company.post(`${company.path}/invoices`, invoiceBody()));
  await ok(company.post(`${company.path}/appointments`, booking(company)));
  // A planner that expects a company to have few records prefers reading all of them to looking for each of several keys.
  for (let i = 0; i < 60; i++) await app.company();
  const tables = ['cases', 'customers', 'addresses', 'people', 'interactions', 'invoices', 'appointments'];
  const copy = async (table: string, column: string, values: string) => {
    const columns = await app.sql<{ name: string }>(
      `SELECT column_name AS name FROM information_schema.columns WHERE table_name = '${table}' AND is_generated = 'NEVER'`,
    );
    const names = columns.map(({ name }) => name);
    const copied = names.map((name) => (name === column ? 'v.value' : `r.${name}`));
    await app.sql(
      `INSERT INTO ${table} (${names}) SELECT ${copied} FROM ${table} r, (${values}) v (value)
        WHERE r.${table === 'cases' ? 'id' : 'case_id'} = $1 AND v.value <> r.${column}`,
      [company.caseId],
    );
  };
  await copy('cases', 'id', 'SELECT gen_random_uuid() FROM generate_series(1, 1000)');
  for (const table of tables.slice(1)) {
    await copy(table, 'case_id', `SELECT id FROM cases WHERE company_id = '${company.companyId}'`);
  }
  await app.sql(`ANALYZE advisers, ${tables.join(', ')}`);
  await app.sql('SET enable_seqscan = off; SET jit = off');
  let checked = 0;
  for (const { name, text } of committedStatements()) {
    // Those of other pools are planned with their values.
    if (!OF_A_CASE.test(text) || /pool: (search|index)/.test(name)) continue;
    checked++;
    const [row] = await app.sql<{ 'QUERY PLAN': unknown }>(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`);
    assert.deepEqual(companyScans(row?.['QUERY PLAN'], tables), [], name);
  }
  assert.ok(checked > 200, String(checked));
});

/** The case is among the inputs. */
const OF_A_CASE = /case_id = \$\d|::uuid AS case_id|AS (batch|k) \(\w+, case_id/;

/** The indexes of these tables of which a plan reads all that a company has. How large a whole table is, a planner knows. */
function companyScans(plan: unknown, tables: readonly string[]): string[] {
  if (Array.isArray(plan)) return plan.flatMap((part) => companyScans(part, tables));
  if (typeof plan !== 'object' || plan === null) return [];
  const { 'Index Name': index = '', 'Index Cond': condition = '', ...node } = plan as Record<string, string>;
  const isBound = /case_id|external_id/.test(condition) || (index === 'cases_pkey' && /[( .]id = /.test(condition));
  const isFound = tables.includes(index.split('_')[0] ?? '') && /company_id/.test(condition) && !isBound;
  const inside = Object.values(node).flatMap((part) => companyScans(part, tables));
  return [...(isFound ? [`${index}: ${condition}`] : []), ...inside];
}

/** The tables that a plan reads from end to end, by themselves or by an index. */
function unboundScans(plan: unknown): string[] {
  if (Array.isArray(plan)) return plan.flatMap(unboundScans);
  if (typeof plan !== 'object' || plan === null) return [];
  const node = plan as Record<string, unknown>;
  const isUnbound = /^(Seq|Index|Index Only) Scan$/.test(String(node['Node Type'])) && !node['Index Cond'];
  return [...(isUnbound ? [String(node['Relation Name'])] : []), ...Object.values(node).flatMap(unboundScans)];
}

/** Importing a module declares its statements. */
async function everyStatement() {
  const source = new URL('../src/', import.meta.url);
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.sql.ts'));
  for (const file of files) await import(new URL(file, source).href);
  return allStatements().filter(({ name }) => !name.startsWith('test.'));
}

test('a statement that locks rows, notifies or calls a function that writes is declared as a write', async () => {
  const writing =
    /\b(INSERT|UPDATE|DELETE|FOR (NO KEY )?UPDATE|FOR (KEY )?SHARE|pg_notify|nextval|setval|forget_events|pg_advisory\w*)\b/;
  for (const { name, text, readOnly } of await everyStatement()) {
    if (readOnly) assert.doesNotMatch(text, writing, name);
  }
});
