import assert from 'node:assert/strict';
import { test } from 'node:test';
import { companyEntries } from '../src/cases/address-book/company-list/statements.sql.ts';
import { assertRefused, ok } from './harness/assert.ts';
import { app, nextOf, person, type Row, twoCompanies, walk } from './harness/company-lists.ts';

/** People of all cases by name, email, phone number and tag. */

const namesOf = (rows: Row[]) => rows.map(({ data }) => `${data.last_name}, ${data.first_names}`);
const encode = encodeURIComponent;

async function withNames(...names: [last: string, first: string][]) {
  const { company, second } = await twoCompanies();
  for (const [i, [last_name, first_names]] of names.entries()) {
    await person(company, i % 2 === 0 ? company.path : second, { last_name, first_names });
  }
  return company;
}

test('a name begins with the text, whatever its case and its accents', async () => {
  const company = await withNames(
    ['Müller', 'Zoë'],
    ['MULLER', 'adam'],
    ['Mull', 'Eve'],
    ['Østergård', 'Łukasz'],
    ['Жуков', 'Анна'],
    ['Œuvrard', 'Þór'],
    ['WEIẞ', 'Ŋala'],
    ['Ħaż-Żebbuġ', 'Ŧuomas'],
    ['Əliyev', 'ŒDIPE'],
  );
  const found = async (name: string) => namesOf(await ok(company.get(`/address-book?name=${encode(name)}`)));
  assert.deepEqual(await found('mull'), ['Mull, Eve', 'MULLER, adam', 'Müller, Zoë']);
  assert.deepEqual(await found('MÜLLER'), ['MULLER, adam', 'Müller, Zoë']);
  assert.deepEqual(await found('mu\u0308ller, zoe'), ['Müller, Zoë']);
  assert.deepEqual(await found('ostergard, luk'), ['Østergård, Łukasz']);
  assert.deepEqual(await found('жук'), ['Жуков, Анна']);
  assert.deepEqual(await found('oeuvrard, thor'), ['Œuvrard, Þór']);
  assert.deepEqual(await found('œUVRARD, Þ'), ['Œuvrard, Þór']);
  assert.deepEqual(await found('weiss, nala'), ['WEIẞ, Ŋala']);
  assert.deepEqual(await found('Weiß, ŋ'), ['WEIẞ, Ŋala']);
  assert.deepEqual(await found('haz-zebbug, tuomas'), ['Ħaż-Żebbuġ, Ŧuomas']);
  assert.deepEqual(await found('ħaż-żebbuġ, ŧ'), ['Ħaż-Żebbuġ, Ŧuomas']);
  assert.deepEqual(await found('əliyev, oe'), ['Əliyev, ŒDIPE']);
  assert.deepEqual(await found('uller'), []);
  assert.deepEqual(await found('%'), []);
  assert.deepEqual(namesOf(await walk(company, '/address-book?name=m&sort=-name&limit=1')), [
    'Müller, Zoë',
    'MULLER, adam',
    'Mull, Eve',
  ]);
});

test('names that are longer than an index can hold, of any characters, are stored and found', async () => {
  const long = (character: string) => character.repeat(1_000 / character.length);
  const company = await withNames(
    [long('x'), long('y')],
    [long('각'), long('각')],
    [long('😀'), long('😀')],
    ['\u{10fffd}', 'Z'],
  );
  await person(company, company.path, { last_name: '\u{1d160}'.repeat(500) });
  assert.equal((await walk(company, '/address-book?limit=1')).length, 5);
  assert.equal((await walk(company, '/address-book?limit=1&sort=-email')).length, 5);
  for (const name of ['xxx', '각각', '😀', '\u{10fffd}']) {
    assert.equal((await ok(company.get(`/address-book?name=${encode(name)}`))).length, 1, name);
  }
});

test('an email begins with the text, and sorts the list unless a sort is sent', async () => {
  const { company, second } = await twoCompanies();
  await person(company, company.path, { email: 'Jane.Doe@b.example', last_name: 'Adams' });
  await person(company, second, { email: 'jane.doe@a.example', last_name: 'Zed' });
  await person(company, second, { last_name: 'None' });
  const found = async (query: string) => namesOf(await ok(company.get(`/address-book?${query}`)));
  assert.deepEqual(await found('email=JANE.'), ['Zed, Jane', 'Adams, Jane']);
  assert.deepEqual(await found('email=jane.&sort=name'), ['Adams, Jane', 'Zed, Jane']);
  assert.deepEqual(await found('email=jane.doe@a.example'), ['Zed, Jane']);
  assert.deepEqual(await found('email=jane.&name=ad'), ['Adams, Jane']);
  assert.deepEqual(await found('sort=email&name=zed'), ['Zed, Jane']);
  assert.deepEqual(await found('sort=email'), ['None, Jane', 'Zed, Jane', 'Adams, Jane']);
});

test('a phone number is found in any notation, in both fields, and an entry once', async () => {
  const { company, second } = await twoCompanies();
  await person(company, company.path, { tel_1: '07400 123456', tel_2: '+44 7400 123456', last_name: 'Both' });
  await person(company, second, { tel_2: '(07400) 123-456', last_name: 'Second' });
  await person(company, second, { tel_1: '07400 123457', last_name: 'Other' });
  await person(company, second, { tel_1: 'none', last_name: 'Wordy' });
  for (const phone of ['07400123456', '+447400123456', '0044 7400 123456', '7400-123-456']) {
    const found = await walk(company, `/address-book?limit=1&phone=${encode(phone)}`);
    assert.deepEqual(namesOf(found), ['Both, Jane', 'Second, Jane'], phone);
    const byEmail = await ok(company.get(`/address-book?sort=email&phone=${encode(phone)}`));
    assert.equal(byEmail.length, 2, phone);
  }
  assert.deepEqual(namesOf(await ok(company.get('/address-book?phone=07400123456&name=sec'))), ['Second, Jane']);
  assertRefused(await company.get('/address-book?phone=none'), { phone: 'format' });
});

test('a phone number that everybody has twice: a page looks at no more people than others, and each is met once', async () => {
  const { company } = await twoCompanies();
  const { id } = await person(company, company.path, { last_name: 'First' });
  await app.sql(
    `INSERT INTO people (company_id, case_id, id, address_id, title, first_names, last_name, tel_1, tel_2, created_at, updated_at)
     SELECT p.company_id, p.case_id, gen_random_uuid(), p.address_id, '', '', 'N' || n, '07400 999999', '07400 999999', now(), now()
       FROM people p, generate_series(1, 2500) n WHERE p.id = $1`,
    [id],
  );
  await app.sql('ANALYZE people');
  const found = await walk(company, '/address-book?phone=07400999999&limit=200');
  assert.equal(new Set(found.map((row) => row.id)).size, 2_500);
  assert.equal(found.length, 2_500);
  const { statement, values } = companyEntries.phone.asc({
    ...{
      company_id: company.companyId,
      limit: 10,
      scan: 11,
      after_key: '',
      after_id: `${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(12)}`,
    },
    ...{ until: '\u{10ffff}', phone: '07400999999', reads_cases: true },
  } as never);
  type Node = { 'Relation Name'?: string; Plans?: Node[] } & Record<string, unknown>;
  const [row] = await app.sql<{ 'QUERY PLAN': [{ Plan: Node }] }>(
    `EXPLAIN (ANALYZE, FORMAT JSON) ${statement.text}`,
    values,
  );
  // Of people only: how the few addresses of this database are read depends on how many its other tests made.
  const inVain = (node: Node): number =>
    (node['Relation Name'] === 'people'
      ? Object.entries(node).reduce((sum, [key, rows]) => sum + (key.startsWith('Rows Removed') ? Number(rows) : 0), 0)
      : 0) + (node.Plans ?? []).reduce((sum, inner) => sum + inVain(inner), 0);
  assert.ok(row);
  const total = inVain(row['QUERY PLAN'][0].Plan);
  assert.ok(total < 100, `${total} rows were looked at in vain`);
});

test('entries are filtered by tags of the system and of the company', async () => {
  const { company, second } = await twoCompanies();
  await person(company, company.path, { last_name: 'A', tags: ['executor'] });
  await person(company, second, { last_name: 'B', tags: ['executor', 'doctor'], custom_tags: ['vip-client'] });
  const found = async (query: string) => namesOf(await ok(company.get(`/address-book?${query}`)));
  assert.deepEqual(await found('tag=executor'), ['A, Jane', 'B, Jane']);
  assert.deepEqual(await found('tag=executor&name=b'), ['B, Jane']);
  assert.deepEqual(await found('tag=vip-client'), ['B, Jane']);
  assert.deepEqual(await found('tag=witness'), []);
});

test('a filter that few records match gives short pages, and all of them in the end', async () => {
  const { company } = await twoCompanies();
  const { id } = await person(company, company.path, { last_name: 'Zz', tags: ['witness'] });
  await app.sql(
    `INSERT INTO people (company_id, case_id, id, address_id, title, first_names, last_name, created_at, updated_at)
     SELECT p.company_id, p.case_id, gen_random_uuid(), p.address_id, '', 'N' || n, 'Many', now(), now()
       FROM people p, generate_series(1, 2500) n WHERE p.id = $1`,
    [id],
  );
  const pages: number[] = [];
  for (let next: string | undefined = '/address-book?tag=witness'; next; ) {
    const answer = await company.get(next);
    pages.push(answer.body.length);
    next = nextOf(answer.headers.link);
  }
  assert.deepEqual(pages, [0, 0, 1]);
});
