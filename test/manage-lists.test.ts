import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import fc from 'fast-check';
import { startApp, type TestCompany } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import type { Answer, Caller } from './harness/http.ts';
import { document } from './harness/openapi.ts';

const app = await startApp();
beforeEach(() => app.clock.set('2026-06-01T09:00:00Z'));

type Documented = { get?: { parameters?: { name: string }[] } };
const lists = Object.entries(document.paths as unknown as Record<string, Documented>)
  .filter(([path, { get }]) => path.startsWith('/manage') && get?.parameters?.some(({ name }) => name === 'search'))
  .map(([path]) => path);

const searched = async (caller: Caller, path: string, search: string) =>
  ok(caller.get(`${path}?search=${encodeURIComponent(search)}`));

async function open(company: TestCompany, reference: string, ...customers: object[]): Promise<string> {
  app.clock.advance({ seconds: 1 });
  return (await ok(company.post('/manage/cases', { reference, customers }))).id;
}

const references = (cases: { reference: string }[]) => cases.map(({ reference }) => reference);
const lastNames = (customers: { last_name: string }[]) => customers.map(({ last_name }) => last_name);

/** "<…?page=2&per_page=1>; rel="next"" becomes { next: '…?page=2&per_page=1' }. */
const linksOf = ({ headers }: Answer): Record<string, string> =>
  Object.fromEntries([...String(headers.link).matchAll(/<([^>]*)>; rel="(\w+)"/g)].map(([, url, rel]) => [rel, url]));

test('the management API has eleven lists that can be searched', () => {
  assert.deepEqual(lists.toSorted(), [
    '/manage/advisers',
    '/manage/case-kinds',
    '/manage/cases',
    '/manage/cases/{caseId}/customers',
    '/manage/clients',
    '/manage/companies',
    '/manage/custom-tags',
    '/manage/customers',
    '/manage/default-tags',
    '/manage/keys',
    '/manage/users',
  ]);
});

for (const list of lists) {
  const setUp = async (): Promise<[Caller, string]> => {
    const company = await app.company();
    for (const name of ['a', 'b', 'c']) {
      await ok(company.post('/manage/clients', { name, scopes: ['manage'] }));
      await ok(company.post('/manage/keys', { name, scopes: ['manage'] }));
      await open(company, name);
      await ok(company.post('/manage/custom-tags', { tag: name }));
      await ok(company.post('/manage/case-kinds', { name }));
      await company.addCustomer(company.caseId, { last_name: name });
      await ok(company.post('/manage/advisers', { name, email: `${name}@firm.example` }));
      await ok(company.post('/manage/users', { name, email: `${name}@firm.example`, role: 'reader' }));
      await app.company();
    }
    const caller = list.startsWith('/manage/companies') ? await company.withScopes('operator') : company;
    return [caller, list.replace('{caseId}', company.caseId)];
  };

  test(`${list} comes in pages that together are the whole, in the same order`, async () => {
    const [caller, path] = await setUp();
    const whole = await caller.get(`${path}?per_page=200`);
    const total = Number(whole.headers['x-total-count']);
    assert.ok(total >= 3);
    assert.equal(whole.body.length, total);
    const parts: unknown[] = [];
    for (let next: string | undefined = `${path}?per_page=2`; next; ) {
      const part = await caller.get(next);
      assert.equal(part.status, 200, part.text);
      assert.equal(part.headers['x-total-count'], String(total));
      assert.ok(part.body.length <= 2);
      parts.push(...part.body);
      next = linksOf(part).next;
    }
    assert.deepEqual(parts, whole.body);
  });

  test(`${list} says where its first, last, previous and next page are`, async () => {
    const [caller, path] = await setUp();
    const first = await caller.get(`${path}?per_page=1`);
    const last = Number(first.headers['x-total-count']);
    const page = (number: number) => `${path}?per_page=1&page=${number}`;
    assert.deepEqual(linksOf(first), { first: page(1), last: page(last), next: page(2) });
    assert.deepEqual(linksOf(await caller.get(page(2))), {
      first: page(1),
      last: page(last),
      prev: page(1),
      next: page(3),
    });
    assert.deepEqual(linksOf(await caller.get(page(last))), { first: page(1), last: page(last), prev: page(last - 1) });
    const beyond = await caller.get(page(last + 10));
    assert.deepEqual(beyond.body, []);
    assert.deepEqual(linksOf(beyond), { first: page(1), last: page(last), prev: page(last) });
    const none = await caller.get(`${path}?search=nothing+has+this+name`);
    assert.deepEqual([none.body, none.headers['x-total-count']], [[], '0']);
  });

  test(`${list} refuses pages and searches that cannot be`, async () => {
    const [caller, path] = await setUp();
    for (const [query, field, code] of [
      ['page=0', 'page', 'format'],
      ['page=-1', 'page', 'format'],
      ['page=1.5', 'page', 'format'],
      ['page=x', 'page', 'format'],
      ['page=', 'page', 'format'],
      ['page=1000001', 'page', 'out_of_range'],
      ['page=1&page=2', 'page', 'type'],
      ['per_page=0', 'per_page', 'format'],
      ['per_page=201', 'per_page', 'out_of_range'],
      ['per_page=99999999', 'per_page', 'out_of_range'],
      [`page=${'9'.repeat(500)}`, 'page', 'out_of_range'],
      [`search=${'x'.repeat(201)}`, 'search', 'too_long'],
      ['search=a&search=b', 'search', 'type'],
      ['search=%00', 'search', 'invalid_character'],
    ] as const) {
      const { status, body, text } = await caller.get(`${path}?${query}`);
      assert.equal(status, 400, `${query}: ${text}`);
      assert.deepEqual(
        body.errors.map((fault: { field: string; code: string }) => [fault.field, fault.code]),
        [[field, code]],
        query,
      );
    }
    const both = await caller.get(`${path}?page=0&per_page=0`);
    const message = 'must be a whole number from 1';
    assert.deepEqual(both.body.errors, [
      { field: 'page', code: 'format', message },
      { field: 'per_page', code: 'format', message },
    ]);
  });

  test(`${list} without a search text is the whole list`, async () => {
    const [caller, path] = await setUp();
    assert.equal((await caller.get(`${path}?search=`)).text, (await caller.get(path)).text);
  });
}

test('a list shows fifty entries unless more are requested, at most two hundred', async () => {
  const company = await app.company();
  await Promise.all(Array.from({ length: 60 }, (_, i) => company.post('/manage/custom-tags', { tag: `t${i}` })));
  assert.equal((await ok(company.get('/manage/custom-tags'))).length, 50);
  assert.equal((await ok(company.get('/manage/custom-tags?per_page=200'))).length, 62);
});

test('the links keep the search', async () => {
  const company = await app.company();
  for (const reference of ['Söhne & Co 1', 'Söhne & Co 2', 'other']) await open(company, reference);
  const first = await company.get(`/manage/cases?search=${encodeURIComponent('söhne & co')}&per_page=1`);
  const second = await company.get(linksOf(first).next ?? '');
  assert.deepEqual(references([...first.body, ...second.body]), ['Söhne & Co 2', 'Söhne & Co 1']);
  assert.equal(linksOf(second).next, undefined);
});

test('cases are listed newest first, advisers and customers by name, tags by the alphabet', async () => {
  const company = await app.company();
  for (const reference of ['one', 'two', 'three']) {
    await open(company, reference);
  }
  assert.deepEqual(references(await ok(company.get('/manage/cases'))), ['three', 'two', 'one', 'Smith']);
  for (const name of ['bert', 'Carl', 'anna']) {
    await ok(company.post('/manage/advisers', { name, email: `${name}@firm.example` }));
  }
  assert.deepEqual(
    (await ok(company.get('/manage/advisers'))).map(({ name }: { name: string }) => name),
    ['Alex Adviser', 'anna', 'bert', 'Carl', 'Vic Video'],
  );
  await open(company, 'more', { last_name: 'abel' }, { last_name: 'Smith', first_names: 'Kim' }, { last_name: 'Zoe' });
  const customers: { first_names: string; last_name: string }[] = await ok(company.get('/manage/customers'));
  assert.deepEqual(
    customers.map(({ first_names, last_name }) => `${first_names} ${last_name}`.trim()),
    ['abel', 'Ann Smith', 'John Smith', 'Kim Smith', 'Zoe'],
  );
});

test('cases are found by reference and by names and emails of their customers', async () => {
  const company = await app.company();
  await open(company, 'Nachlass Müller', { last_name: 'Grün', first_names: 'Zoë', email: 'zoe@client.example' });
  for (const [search, found] of [
    ['NACHLASS MÜLLER', 'Nachlass Müller'],
    ['lass', 'Nachlass Müller'],
    ['zoë grün', 'Nachlass Müller'],
    ['GRÜN', 'Nachlass Müller'],
    ['ZOE@CLIENT', 'Nachlass Müller'],
    ['john smith', 'Smith'],
    [company.customers[1].email, 'Smith'],
  ] as const) {
    assert.deepEqual(references(await searched(company, '/manage/cases', search)), [found], search);
  }
  assert.deepEqual(await searched(company, '/manage/cases', 'grün zoë'), []);
});

test('a case is found once, however many of its customers match', async () => {
  const company = await app.company();
  const answer = await company.get('/manage/cases?search=smith');
  assert.deepEqual([answer.body.length, answer.headers['x-total-count']], [1, '1']);
  assert.equal(answer.body[0].customers.length, 2);
});

test('customers are found across cases by names, email and phone', async () => {
  const company = await app.company();
  await open(company, 'x', { last_name: 'Doe', first_names: 'Jane', email: 'jane@x.example', phone: '020 7946 0018' });
  for (const search of ['JANE DOE', 'doe', 'jane@X', '7946 0018', '+442079460018', '02079460018', '+44 20 7946 0018']) {
    assert.deepEqual(lastNames(await searched(company, '/manage/customers', search)), ['Doe'], search);
  }
  assert.deepEqual(lastNames(await searched(company, '/manage/customers', 'smith')), ['Smith', 'Smith']);
  assert.deepEqual(lastNames(await searched(company, `/manage/cases/${company.caseId}/customers`, 'doe')), []);
  assert.equal((await searched(company, `/manage/cases/${company.caseId}/customers`, 'ann')).length, 1);
});

test('cases are found by the phone of a customer, however it is written', async () => {
  const company = await app.company();
  await open(company, 'x', { last_name: 'Doe', phone: '020 7946 0018' });
  for (const search of ['7946 0018', '+442079460018', '02079460018', '+44 (0)20 7946-0018']) {
    assert.deepEqual(references(await searched(company, '/manage/cases', search)), ['x'], search);
  }
  assert.deepEqual(await searched(company, '/manage/cases', '+442079460019'), []);
  const [{ id, customers }] = await searched(company, '/manage/cases', '+442079460018');
  await ok(company.delete(`/manage/cases/${id}/customers/${customers[0].id}`));
  assert.deepEqual(await searched(company, '/manage/cases', '+442079460018'), []);
});

test('a changed phone is found under the new number and no longer under the old', async () => {
  const company = await app.company();
  const path = `/manage/cases/${company.caseId}/customers/${company.customers[0].id}`;
  await ok(company.patch(path, { phone: '020 7946 0018' }));
  assert.equal((await searched(company, '/manage/customers', '+442079460018')).length, 1);
  assert.deepEqual(await searched(company, '/manage/customers', '+447400123456'), []);
  await ok(company.patch(path, { phone: null }));
  assert.deepEqual(await searched(company, '/manage/customers', '+442079460018'), []);
});

test('advisers are found by name and email, clients and keys by name', async () => {
  const company = await app.company();
  assert.equal((await searched(company, '/manage/advisers', 'ALEX')).length, 1);
  assert.equal((await searched(company, '/manage/advisers', company.adviserWithVideo.toUpperCase())).length, 1);
  for (const path of ['/manage/clients', '/manage/keys']) {
    await ok(company.post(path, { name: 'Nightly Export', scopes: ['manage'] }));
    assert.equal((await searched(company, path, 'nightly')).length, 1);
    assert.deepEqual(await searched(company, path, 'daily'), []);
  }
});

test('no list shows anything of another company', async () => {
  const [company, other] = [await app.company(), await app.company()];
  const mark = 'theirs-alone';
  await open(other, mark, { last_name: mark, phone: '020 7946 0018' });
  await ok(other.post('/manage/advisers', { name: mark, email: `${mark}@firm.example` }));
  await ok(other.post('/manage/users', { name: mark, email: `${mark}@firm.example`, role: 'reader' }));
  await ok(other.post('/manage/custom-tags', { tag: mark }));
  await ok(other.post('/manage/case-kinds', { name: mark }));
  for (const path of ['/manage/clients', '/manage/keys']) {
    await ok(other.post(path, { name: mark, scopes: ['manage'] }));
  }
  for (const list of lists) {
    if (list === '/manage/companies' || list === '/manage/default-tags') continue;
    if (list.includes('{caseId}')) continue;
    assert.equal((await searched(other, list, mark)).length, 1, list);
    assert.deepEqual(await searched(company, list, mark), [], list);
    assert.ok(!(await company.get(`${list}?per_page=200`)).text.includes(mark), list);
  }
  assert.deepEqual(await searched(company, '/manage/customers', '+442079460018'), []);
});

test('what LIKE takes for wildcards are letters like any other', async () => {
  const company = await app.company();
  for (const reference of ['100%', '100 percent', 'a_b', 'acb', 'back\\slash', 'slash']) await open(company, reference);
  for (const [search, found] of [
    ['100%', ['100%']],
    ['%', ['100%']],
    ['a_b', ['a_b']],
    ['_', ['a_b']],
    ['k\\s', ['back\\slash']],
    ['\\', ['back\\slash']],
    ["'; DROP TABLE cases; --", []],
  ] as const) {
    assert.deepEqual(references(await searched(company, '/manage/cases', search)), found, search);
  }
});

test('a search finds exactly what contains the text, whatever the text is', async () => {
  const company = await app.company();
  const letters = fc.string({
    unit: fc.constantFrom('a', 'B', '%', '_', '\\', ' ', "'", 'É', '🙂'),
    minLength: 1,
    maxLength: 4,
  });
  const all: string[] = [];
  await fc.assert(
    fc.asyncProperty(letters, letters, async (reference, search) => {
      await open(company, reference);
      all.push(reference);
      const found = references(
        await ok(company.get(`/manage/cases?per_page=200&search=${encodeURIComponent(search)}`)),
      );
      const expected = all.filter((one) => one.toLowerCase().includes(search.toLowerCase()));
      assert.deepEqual(found.filter((one) => one !== 'Smith').toSorted(), expected.toSorted());
    }),
    { numRuns: 40 },
  );
});
