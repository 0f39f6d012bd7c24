import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { startApp, type TestCompany } from './harness/app.ts';
import { assertNotFound, assertRefused } from './harness/assert.ts';
import { PERSON } from './harness/bodies.ts';
import type { Answer } from './harness/http.ts';
import { overlapping } from './harness/overlap.ts';

type Body = Record<string, unknown>;
type Item = { id: string; entity_id: string; data: Body };

const app = await startApp();

beforeEach(() => app.clock.set('2026-06-01T09:00:00Z'));

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const UNKNOWN_ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const SPELLINGS = ['address-book', 'address_book'];
const UPDATE_METHODS = ['PATCH', 'POST'];

const REQUIRED = Object.keys(PERSON);
const ADDRESS = { address_1: 'Flat 2', address_2: '1 High Street', address_3: 'Leeds', postcode: 'LS1 2AB' };
const NO_ADDRESS = { address_1: '', address_2: '', address_3: '', postcode: '' };
const OPTIONAL = {
  middle_names: 'Mary Ann',
  known_as: 'Janey',
  tel_1: '07400 111222',
  tel_2: '0113 496 0000',
  email: 'jane.doe@client.example',
  gender: 'female',
  dob: '31/01/1970',
  marital_status: 'widowed',
  occupation: 'Baker',
  preferred_name: 'Jay',
  alias: 'J. Dough',
  them_pronoun: 'her',
  they_pronoun: 'she',
  their_pronoun: 'hers',
};
const CHANGED = {
  middle_names: 'Rose',
  known_as: 'Jan',
  tel_1: '020 7946 0000',
  tel_2: '0131 496 0000',
  email: 'jd@client.example',
  gender: 'other',
  dob: '01/02/1971',
  marital_status: 'married',
  occupation: 'Judge',
  preferred_name: 'Dee',
  alias: 'Doe the Second',
  them_pronoun: 'them',
  they_pronoun: 'they',
  their_pronoun: 'their',
};
const OPTIONAL_NAMES = Object.keys(OPTIONAL) as (keyof typeof OPTIONAL)[];
const FREE_TEXTS = ['title', 'first_names', 'last_name', ...OPTIONAL_NAMES].filter((f) => f !== 'email' && f !== 'dob');
const UNKNOWN_PERSON = {
  ...Object.fromEntries(OPTIONAL_NAMES.map((name) => [name, null])),
  gender: '',
  marital_status: '',
  relationship: {},
  tags: [],
  custom_tags: [],
};

const bookOf = (caseId: string, spelling = 'address-book') => `/cases/${caseId}/${spelling}`;
const entries = (company: TestCompany) => `${bookOf(company.caseId)}/entry`;
const entry = (company: TestCompany, id: string) => `${entries(company)}/${id}`;

function accepted(answer: Answer) {
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

const create = async (company: TestCompany, body: Body = {}) =>
  accepted(await company.post(entries(company), { ...PERSON, ...body }));
const update = async (company: TestCompany, id: string, body: Body = {}) =>
  accepted(await company.patch(entry(company, id), { ...PERSON, ...body }));
const list = async (company: TestCompany, path = bookOf(company.caseId)): Promise<Item[]> =>
  accepted(await company.get(path));

async function item(company: TestCompany, id: unknown): Promise<Item> {
  const found = (await list(company)).filter((candidate) => candidate.id === id);
  assert.equal(found.length, 1);
  return found[0] as Item;
}

// biome-ignore lint/suspicious/noExplicitAny: a test looks into any data
const person = async (company: TestCompany, id: string): Promise<any> => (await item(company, id)).data;
const addressOf = async (company: TestCompany, id: string) =>
  (await item(company, (await person(company, id)).address)).data;
const idsOf = (items: Item[], kind: string) =>
  items.filter(({ entity_id }) => entity_id === kind).map((candidate) => candidate.id);
const defaultTags = async () =>
  (await app.sql<{ tag: string }>('SELECT tag FROM default_tags ORDER BY tag')).map(({ tag }) => tag);

/** Holds the entry until the updates wait for it, so that they truly meet. */
async function updateAtOnce(company: TestCompany, id: string, changes: Body[]) {
  const hold = 'SELECT 1 FROM people WHERE id = $1 FOR UPDATE';
  const requests = changes.map((change) => () => company.patch(entry(company, id), { ...PERSON, ...change }));
  return (await overlapping(app, [[hold, [id]]], requests)).map(accepted);
}

const union = (held: unknown, sent: unknown) =>
  [...new Set([...(held as string[]), ...((sent as string[] | null) ?? [])])].sort();

/** Sends the body to operations 2 and 3, both methods, has each answer judged, and sees that nothing changed. */
async function assertNoTrace(company: TestCompany, body: unknown, judge: (answer: Answer) => void): Promise<void> {
  const full = {
    ...OPTIONAL,
    address: ADDRESS,
    tags: ['witness'],
    relationship: { [company.customers[0].id]: 'Sister' },
  };
  const { id } = await create(company, full);
  const before = await list(company);
  judge(await company.post(entries(company), body));
  for (const method of UPDATE_METHODS) judge(await company.send(method, entry(company, id), body));
  assert.deepEqual(await list(company), before);
}

async function assertNeverTaken(company: TestCompany, change: Body, faults: Record<string, string>): Promise<void> {
  await assertNoTrace(company, { ...PERSON, ...change }, (answer) => assertRefused(answer, faults));
}

test('a case without entries has an empty book: its customers are not repeated in it', async () => {
  const company = await app.company();
  assert.deepEqual(await list(company), []);
});

test('a create answers with exactly the fields of the create response', async () => {
  app.clock.set('2026-06-01T09:00:00.123456Z');
  const company = await app.company();
  const relationship = { [company.customers[0].id]: 'Sister', [company.customers[1].id]: 'Sister-in-law' };
  const { id, data, ...rest } = await create(company, {
    ...OPTIONAL,
    relationship,
    address: ADDRESS,
    tags: ['executor'],
    custom_tags: ['vip-client'],
  });
  assert.match(id, UUID_V7);
  assert.deepEqual(rest, {
    entity_id: 'person',
    customer_case_id: company.caseId,
    created_at: '2026-06-01T09:00:00.123456Z',
    updated_at: '2026-06-01T09:00:00.123456Z',
  });
  const { address, ...fields } = data;
  assert.match(address, UUID_V7);
  assert.deepEqual(fields, {
    title: 'Mrs',
    last_name: 'Doe',
    first_names: 'Jane',
    relationship,
    their_pronoun: 'hers',
    them_pronoun: 'her',
    they_pronoun: 'she',
  });
});

test('a create without pronouns and relationship answers with null and {}', async () => {
  const company = await app.company();
  const { address, ...fields } = (await create(company)).data;
  assert.match(address, UUID_V7);
  assert.deepEqual(fields, {
    title: 'Mrs',
    last_name: 'Doe',
    first_names: 'Jane',
    relationship: {},
    their_pronoun: null,
    them_pronoun: null,
    they_pronoun: null,
  });
});

test('the book shows a person with every stored field, and its address as an item of its own', async () => {
  const company = await app.company();
  const relationship = { [company.customers[0].id]: 'Sister' };
  const sent = { relationship, tags: ['executor', 'witness'], custom_tags: ['vip-client'] };
  const { id, data } = await create(company, { ...OPTIONAL, ...sent, address: ADDRESS });
  const { entity_id, ...names } = PERSON;
  const shown = await list(company);
  assert.equal(shown.length, 2);
  assert.deepEqual(
    shown.find((candidate) => candidate.id === id),
    { id, entity_id, data: { ...names, ...OPTIONAL, ...sent, address: data.address } },
  );
  assert.deepEqual(
    shown.find((candidate) => candidate.id === data.address),
    { id: data.address, entity_id: 'address', data: ADDRESS },
  );
});

test('the book has "" for an unknown gender, marital status and address field, null for other unknown fields', async () => {
  const company = await app.company();
  const { id, data } = await create(company);
  const { entity_id, ...names } = PERSON;
  assert.deepEqual(await item(company, id), {
    id,
    entity_id,
    data: { ...names, ...UNKNOWN_PERSON, address: data.address },
  });
  assert.deepEqual(await item(company, data.address), { id: data.address, entity_id: 'address', data: NO_ADDRESS });
});

test('an update answers with exactly the fields of the update response', async () => {
  const company = await app.company();
  const { id, created_at } = await create(company, {
    address: ADDRESS,
    tags: ['witness'],
    custom_tags: ['newsletter'],
  });
  app.clock.set('2026-06-02T10:11:12.131415Z');
  const relationship = { [company.customers[1].id]: 'Cousin' };
  const names = { title: 'Dr', first_names: 'Janet', last_name: 'Roe' };
  assert.deepEqual(await update(company, id, { ...names, ...OPTIONAL, relationship }), {
    id,
    customer_case_id: company.caseId,
    entity_id: 'person',
    data: { ...names, ...OPTIONAL, relationship },
    created_at,
    updated_at: '2026-06-02T10:11:12.131415Z',
    customer_person_id: null,
    is_company_global: null,
    user_id: null,
    company_id: company.companyId,
    deleted_at: null,
    notes: null,
    copied_from_id: null,
    transferred_from_user_id: null,
    transferred_at: null,
    is_user_global: null,
    partner_record_id: null,
    partner_card_id: null,
    partner_person_id: null,
  });
});

test('an update answers with null for every field of data that the entry does not hold', async () => {
  const company = await app.company();
  const { id } = await create(company);
  const { title, first_names, last_name } = PERSON;
  assert.deepEqual((await update(company, id)).data, {
    title,
    first_names,
    last_name,
    relationship: {},
    ...Object.fromEntries(OPTIONAL_NAMES.map((name) => [name, null])),
  });
});

test('an update answers with what the entry holds, sent in this request or not', async () => {
  const company = await app.company();
  const relationship = { [company.customers[0].id]: 'Sister' };
  const { id } = await create(company, { ...OPTIONAL, relationship, address: ADDRESS });
  const { title, first_names, last_name } = PERSON;
  const { data } = await update(company, id);
  assert.deepEqual(data, { title, first_names, last_name, ...OPTIONAL, relationship });
});

for (const spelling of SPELLINGS) {
  const other = SPELLINGS.find((candidate) => candidate !== spelling);

  test(`${spelling} serves the list`, async () => {
    const company = await app.company();
    const { id, data } = await create(company);
    const shown = await list(company, bookOf(company.caseId, spelling));
    assert.deepEqual(shown.map((candidate) => candidate.id).sort(), [id, data.address].sort());
    assert.deepEqual(shown, await list(company, bookOf(company.caseId, other)));
  });

  test(`${spelling} serves the create`, async () => {
    const company = await app.company();
    const { id } = accepted(
      await company.post(`${bookOf(company.caseId, spelling)}/entry`, { ...PERSON, title: 'Lady' }),
    );
    assert.equal((await person(company, id)).title, 'Lady');
    assertRefused(await company.post(`${bookOf(company.caseId, spelling)}/entry`, { ...PERSON, email: '-' }), {
      email: 'format',
    });
  });

  for (const method of UPDATE_METHODS)
    test(`${spelling} serves the update by ${method}`, async () => {
      const company = await app.company();
      const created = await create(company, { alias: 'kept' });
      const path = `${bookOf(company.caseId, spelling)}/entry/${created.id}`;
      const updated = accepted(await company.send(method, path, { ...PERSON, title: 'Lady', tags: ['witness'] }));
      assert.equal(updated.id, created.id);
      assert.equal(updated.company_id, company.companyId);
      assert.equal(updated.data.title, 'Lady');
      const { title, alias, tags } = await person(company, created.id);
      assert.deepEqual([title, alias, tags], ['Lady', 'kept', ['witness']]);
      assert.equal((await list(company)).length, 2);
      assertRefused(await company.send(method, path, { ...PERSON, email: '-' }), { email: 'format' });
    });
}

for (const name of REQUIRED) {
  test(`${name} is required on create and on update`, async () => {
    const company = await app.company();
    const { [name]: _, ...body } = PERSON as Body;
    await assertNoTrace(company, body, (answer) => assertRefused(answer, { [name]: 'required' }));
  });

  test(`${name} that is null or no text is refused`, async () => {
    const company = await app.company();
    for (const value of [null, 5, true, ['x'], { x: 1 }])
      await assertNoTrace(company, { ...PERSON, [name]: value }, (answer) => {
        assert.equal(answer.status, 400, answer.text);
        assert.equal(answer.body.code, 'invalid_request');
        assert.deepEqual([...new Set(answer.body.errors.map((fault: Body) => fault.field))], [name]);
        assert.equal(answer.body.errors[0].code, value === null ? 'required' : 'type');
      });
  });
}

test('entity_id must be person', async () => {
  const company = await app.company();
  for (const entity_id of ['address', 'Person', 'person ', '', 'company'])
    await assertNeverTaken(company, { entity_id }, { entity_id: 'not_allowed' });
});

test('an update changes title, first_names and last_name', async () => {
  const company = await app.company();
  const { id } = await create(company);
  await update(company, id, { title: 'Dr', first_names: 'Janet', last_name: 'Roe' });
  const { title, first_names, last_name } = await person(company, id);
  assert.deepEqual([title, first_names, last_name], ['Dr', 'Janet', 'Roe']);
});

for (const name of OPTIONAL_NAMES) {
  const unknown = UNKNOWN_PERSON[name as keyof typeof UNKNOWN_PERSON];

  test(`a create with ${name} stores it alone`, async () => {
    const company = await app.company();
    const { id, data } = await create(company, { [name]: OPTIONAL[name] });
    const { entity_id, ...names } = PERSON;
    assert.deepEqual(await person(company, id), {
      ...names,
      ...UNKNOWN_PERSON,
      address: data.address,
      [name]: OPTIONAL[name],
    });
  });

  test(`null for ${name} on create is as if it was not sent`, async () => {
    const company = await app.company();
    const { id } = await create(company, { [name]: null });
    assert.equal((await person(company, id))[name], unknown);
  });

  test(`an update that does not send ${name} leaves it and changes the others`, async () => {
    const company = await app.company();
    const { id } = await create(company, OPTIONAL);
    const before = await person(company, id);
    const { [name]: _, ...others } = CHANGED;
    const { data } = await update(company, id, others);
    assert.equal(data[name], OPTIONAL[name]);
    assert.deepEqual(await person(company, id), { ...before, ...others });
  });

  test(`null for ${name} on update clears it and nothing else`, async () => {
    const company = await app.company();
    const { id } = await create(company, OPTIONAL);
    const before = await person(company, id);
    const { data } = await update(company, id, { [name]: null });
    assert.equal(data[name], null);
    assert.deepEqual(await person(company, id), { ...before, [name]: unknown });
  });

  test(`${name} that is not a text is refused`, async () => {
    const company = await app.company();
    for (const value of [5, true, ['x'], { x: 1 }])
      await assertNeverTaken(company, { [name]: value }, { [name]: 'type' });
  });
}

test('one update clears some fields, sets others, and replaces relationship and address, each as it was sent', async () => {
  const company = await app.company();
  const [first, second] = company.customers;
  const { id } = await create(company, { ...OPTIONAL, relationship: { [first.id]: 'sister' }, address: ADDRESS });
  const before = await person(company, id);
  const relationship = { [second.id]: 'the "other" one', [first.id]: 'aunt' };
  const { data } = await update(company, id, {
    known_as: null,
    dob: null,
    alias: 'JD',
    relationship,
    address: { address_2: null, postcode: 'AB1 2CD' },
  });
  assert.deepEqual([data.known_as, data.dob, data.alias], [null, null, 'JD']);
  assert.deepEqual(Object.entries(data.relationship), Object.entries(relationship));
  assert.deepEqual(await person(company, id), { ...before, known_as: null, dob: null, alias: 'JD', relationship });
  assert.deepEqual(await addressOf(company, id), { ...ADDRESS, address_2: '', postcode: 'AB1 2CD' });
});

for (const name of FREE_TEXTS) {
  test(`${name} takes 1000 characters, counted in code points, and not one more`, async () => {
    const company = await app.company();
    const longest = '👩'.repeat(1000);
    const created = await create(company, { [name]: longest });
    assert.equal((await person(company, created.id))[name], longest);
    const { id } = await create(company);
    assert.equal((await update(company, id, { [name]: longest })).data[name], longest);
    await assertNeverTaken(company, { [name]: `${longest}x` }, { [name]: 'too_long' });
  });

  test(`${name} with a NUL character or half a surrogate pair is refused`, async () => {
    const company = await app.company();
    for (const value of ['a\u0000b', 'a\ud83d', '\udc69b'])
      await assertNeverTaken(company, { [name]: value }, { [name]: 'invalid_character' });
  });
}

test('every text comes back exactly as it was sent', async () => {
  const company = await app.company();
  const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }).filter((value) => !value.includes('\0'));
  const texts = fc.record(Object.fromEntries(FREE_TEXTS.map((name) => [name, text])));
  await fc.assert(
    fc.asyncProperty(texts, texts, async (first, second) => {
      const { id } = await create(company, first);
      const created = await person(company, id);
      assert.deepEqual(created, { ...created, ...first });
      await update(company, id, second);
      assert.deepEqual(await person(company, id), { ...created, ...second });
    }),
    { numRuns: 20 },
  );
});

test('an email that looks like one is taken', async () => {
  const company = await app.company();
  const { id } = await create(company);
  for (const email of [
    'a@b.example',
    "Jane.O'Brien+case@sub.client.example",
    'JANE@CLIENT.EXAMPLE',
    'j_d-1@c-d.co.uk',
  ]) {
    const created = await create(company, { email });
    assert.equal((await person(company, created.id)).email, email);
    assert.equal((await update(company, id, { email })).data.email, email);
  }
});

test('an email that does not look like one is refused', async () => {
  const company = await app.company();
  for (const email of [
    '',
    'jane',
    'jane@',
    '@client.example',
    'jane@@client.example',
    'jane@client@example.example',
    'jane doe@client.example',
    'jane@client example',
    ' jane@client.example',
    'jane@client.example\n',
    'Jane <jane@client.example>',
  ])
    await assertNeverTaken(company, { email }, { email: 'format' });
});

test('an email whose domain has an empty part is refused', async () => {
  const company = await app.company();
  for (const email of ['jane@client..example', 'jane@.client.example', 'jane@client.example.'])
    await assertNeverTaken(company, { email }, { email: 'format' });
});

test('an email takes 254 characters and not one more', async () => {
  const company = await app.company();
  const ending = `@${'d'.repeat(60)}.${'d'.repeat(60)}.${'d'.repeat(60)}.example`;
  const longest = 'x'.repeat(254 - ending.length) + ending;
  const local = longest.length - ending.length;
  assert.ok(local <= 64);
  const { id } = await create(company, { email: longest });
  assert.equal((await person(company, id)).email, longest);
  await assertNoTrace(company, { ...PERSON, email: `x${longest}` }, (answer) => {
    assert.equal(answer.status, 400, answer.text);
    assert.equal(answer.body.errors[0].field, 'email');
  });
});

test('any real day up to today is a dob and comes back as DD/MM/YYYY', async () => {
  const company = await app.company();
  const { id } = await create(company);
  const days = fc.integer({ min: 0, max: Temporal.PlainDate.from('1800-01-01').until('2026-06-01').days });
  await fc.assert(
    fc.asyncProperty(days, async (count) => {
      const day = Temporal.PlainDate.from('1800-01-01').add({ days: count });
      const dob = day.toString().split('-').reverse().join('/');
      const created = await create(company, { dob });
      assert.equal((await person(company, created.id)).dob, dob);
      assert.equal((await update(company, id, { dob })).data.dob, dob);
    }),
    { numRuns: 30 },
  );
});

for (const dob of ['29/02/2024', '29/02/2000', '31/12/1999', '01/01/1970', '31/03/1968', '25/10/1970', '01/06/2026'])
  test(`the dob ${dob} is taken`, async () => {
    const company = await app.company();
    const { id } = await create(company, { dob });
    assert.equal((await person(company, id)).dob, dob);
  });

for (const [why, ...values] of [
  ['that is not a real day', '29/02/2023', '29/02/1900', '31/04/2000', '32/01/2000', '00/01/2000', '01/00/2000'],
  ['with the month before the day', '12/31/1999', '02/29/2024'],
  ['in another form', '1970-01-31', '31-01-1970', '31.01.1970', '31/01/70', '1/2/1970', '31/1/1970', '31 Jan 1970'],
  ['with something around it', ' 31/01/1970', '31/01/1970 ', '31/01/1970\n', '31/01/1970 10:00:00', '31/01/19700'],
  ['in digits of another script', '٣١/٠١/١٩٧٠', '３１/01/1970'],
  ['that is no day at all', '', 'unknown', '//', '00/00/0000'],
] as const)
  test(`a dob ${why} is refused`, async () => {
    const company = await app.company();
    for (const dob of values) await assertNeverTaken(company, { dob }, { dob: 'format' });
  });

test('a dob of the first years is refused or kept, but never breaks the service', async () => {
  const company = await app.company();
  for (const dob of ['01/01/0000', '29/02/0000', '01/01/0001', '01/01/0099']) {
    const answer = await company.post(entries(company), { ...PERSON, dob });
    if (answer.status === 200) assert.equal((await person(company, answer.body.id)).dob, dob);
    else assertRefused(answer, { dob: answer.body.errors?.[0].code });
  }
});

for (const [zone, now, today, tomorrow] of [
  ['Europe/London', '2026-06-01T09:00:00Z', '01/06/2026', '02/06/2026'],
  ['Europe/London', '2026-05-31T22:59:59Z', '31/05/2026', '01/06/2026'],
  ['Europe/London', '2026-05-31T23:00:00Z', '01/06/2026', '02/06/2026'],
  ['Europe/London', '2026-12-31T23:30:00Z', '31/12/2026', '01/01/2027'],
  ['America/New_York', '2026-06-01T03:59:59Z', '31/05/2026', '01/06/2026'],
  ['America/New_York', '2026-06-01T04:00:00Z', '01/06/2026', '02/06/2026'],
  ['Pacific/Auckland', '2026-06-01T13:00:00Z', '02/06/2026', '03/06/2026'],
] as const)
  test(`at ${now} in ${zone} ${today} is a dob and ${tomorrow} is in the future`, async () => {
    app.clock.set(now);
    const company = await app.company({ timeZone: zone });
    const { id } = await create(company, { dob: today });
    assert.equal((await person(company, id)).dob, today);
    assert.equal((await update(company, id, { dob: today })).data.dob, today);
    await assertNeverTaken(company, { dob: tomorrow }, { dob: 'out_of_range' });
  });

test('a dob far in the future is refused', async () => {
  const company = await app.company();
  for (const dob of ['01/06/2027', '31/12/9999']) await assertNeverTaken(company, { dob }, { dob: 'out_of_range' });
});

test('relationship holds a word for each customer of the case', async () => {
  const company = await app.company();
  const [john, ann] = company.customers;
  const relationship = { [john.id]: 'Sister', [ann.id]: '__proto__' };
  const { id, data } = await create(company, { relationship });
  assert.deepEqual(data.relationship, relationship);
  assert.deepEqual((await person(company, id)).relationship, relationship);
});

test('an update that sends relationship replaces it whole', async () => {
  const company = await app.company();
  const [john, ann] = company.customers;
  const { id } = await create(company, { relationship: { [john.id]: 'Sister' } });
  for (const relationship of [
    { [ann.id]: 'Friend' },
    { [ann.id]: 'Foe', [john.id]: 'Friend' },
    { [john.id]: 'Aunt' },
  ]) {
    assert.deepEqual((await update(company, id, { relationship })).data.relationship, relationship);
    assert.deepEqual((await person(company, id)).relationship, relationship);
  }
});

test('an update that does not send relationship leaves it', async () => {
  const company = await app.company();
  const relationship = { [company.customers[0].id]: 'Sister', [company.customers[1].id]: 'Friend' };
  const { id } = await create(company, { relationship });
  assert.deepEqual((await update(company, id, { title: 'Dr' })).data.relationship, relationship);
  assert.deepEqual((await person(company, id)).relationship, relationship);
});

for (const empty of [null, {}])
  test(`relationship ${JSON.stringify(empty)} is none: on create {}, on update it clears`, async () => {
    const company = await app.company();
    assert.deepEqual((await create(company, { relationship: empty })).data.relationship, {});
    const { id } = await create(company, { relationship: { [company.customers[0].id]: 'Sister' } });
    assert.deepEqual((await update(company, id, { relationship: empty })).data.relationship, {});
    assert.deepEqual((await person(company, id)).relationship, {});
  });

test('the relationship of one entry is not that of another', async () => {
  const company = await app.company();
  const key = company.customers[0].id;
  const sister = await create(company, { relationship: { [key]: 'Sister' } });
  const friend = await create(company, { relationship: { [key]: 'Friend' } });
  await update(company, friend.id, { relationship: {} });
  assert.deepEqual((await person(company, sister.id)).relationship, { [key]: 'Sister' });
});

test('a relationship word has 1 to 100 characters, counted in code points', async () => {
  const company = await app.company();
  const key = company.customers[0].id;
  const longest = '👭'.repeat(100);
  for (const word of ['x', longest]) {
    const { id } = await create(company, { relationship: { [key]: word } });
    assert.equal((await update(company, id, { relationship: { [key]: word } })).data.relationship[key], word);
    assert.equal((await person(company, id)).relationship[key], word);
  }
  await assertNeverTaken(company, { relationship: { [key]: `${longest}x` } }, { [`relationship.${key}`]: 'too_long' });
  await assertNeverTaken(company, { relationship: { [key]: '' } }, { [`relationship.${key}`]: 'too_short' });
});

test('a relationship word that is no text is refused', async () => {
  const company = await app.company();
  const key = company.customers[0].id;
  for (const word of [5, true, ['Sister'], {}])
    await assertNeverTaken(company, { relationship: { [key]: word } }, { [`relationship.${key}`]: 'type' });
  await assertNeverTaken(company, { relationship: { [key]: null } }, { [`relationship.${key}`]: 'required' });
  await assertNeverTaken(
    company,
    { relationship: { [key]: 'a\u0000' } },
    { [`relationship.${key}`]: 'invalid_character' },
  );
});

test('a relationship that is not an object is refused', async () => {
  const company = await app.company();
  for (const relationship of ['Sister', 5, true, [], ['Sister']])
    await assertNeverTaken(company, { relationship }, { relationship: 'type' });
});

test('a relationship with a customer of another case of the company is refused', async () => {
  const company = await app.company();
  const stranger = await company.addCustomer(await company.openCase(), { first_names: 'Joan' });
  await assertNeverTaken(
    company,
    { relationship: { [stranger]: 'Sister' } },
    { [`relationship.${stranger}`]: 'unknown' },
  );
});

test('a relationship with a customer of another company is refused', async () => {
  const company = await app.company();
  const stranger = (await app.company()).customers[0].id;
  await assertNeverTaken(
    company,
    { relationship: { [stranger]: 'Sister' } },
    { [`relationship.${stranger}`]: 'unknown' },
  );
});

test('a relationship with an entry, an address or the case in place of a customer is refused', async () => {
  const company = await app.company();
  const { id, data } = await create(company);
  for (const key of [id, data.address, company.caseId, company.companyId])
    await assertNeverTaken(company, { relationship: { [key]: 'Sister' } }, { [`relationship.${key}`]: 'unknown' });
});

for (const key of [UNKNOWN_ID, 'not-a-uuid', '0', '', 'john@client.example', 'constructor', 'toString', '__proto__'])
  test(`a relationship with "${key}" is refused`, async () => {
    const company = await app.company();
    const body = JSON.stringify({ ...PERSON, relationship: {} }).replace('{}', `{${JSON.stringify(key)}:"Sister"}`);
    await assertNoTrace(company, body, (answer) => assertRefused(answer, { [`relationship.${key}`]: 'unknown' }));
  });

test('a relationship key with a NUL character is refused', async () => {
  const company = await app.company();
  await assertNoTrace(company, { ...PERSON, relationship: { 'a\u0000': 'Sister' } }, (answer) => {
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.body.errors[0].field, /^relationship/);
  });
});

test('one customer under two spellings of its identifier is refused', async () => {
  const company = await app.company();
  const key = company.customers[0].id;
  await assertNoTrace(
    company,
    { ...PERSON, relationship: { [key]: 'Sister', [key.toUpperCase()]: 'Aunt' } },
    (answer) => {
      assert.equal(answer.status, 400, answer.text);
      assert.match(answer.body.errors[0].field, /^relationship/);
    },
  );
});

test('a customer identifier in capitals is the same customer', async () => {
  const company = await app.company();
  const key = company.customers[0].id;
  const relationship = { [key.toUpperCase()]: 'Sister' };
  const { id, data } = await create(company, { relationship });
  assert.deepEqual(data.relationship, { [key]: 'Sister' });
  assert.deepEqual((await update(company, id, { relationship })).data.relationship, { [key]: 'Sister' });
});

test('one good relationship does not let a bad one through', async () => {
  const company = await app.company();
  const relationship = { [company.customers[0].id]: 'Sister', [UNKNOWN_ID]: 'Ghost' };
  await assertNeverTaken(company, { relationship }, { [`relationship.${UNKNOWN_ID}`]: 'unknown' });
});

test('a relationship takes at most 100 customers', async () => {
  const company = await app.company();
  const keys = await Promise.all(Array.from({ length: 101 }, () => company.addCustomer(company.caseId, {})));
  const related = (count: number) => Object.fromEntries(keys.slice(0, count).map((key) => [key, 'Friend']));
  const { id, data } = await create(company, { relationship: related(100) });
  assert.deepEqual(data.relationship, related(100));
  assert.deepEqual((await person(company, id)).relationship, related(100));
  await assertNeverTaken(company, { relationship: related(101) }, { relationship: 'too_many' });
});

test('every entry has an address record of its own', async () => {
  const company = await app.company();
  const first = await create(company, { address: ADDRESS });
  const second = await create(company, { address: ADDRESS });
  assert.notEqual(first.data.address, second.data.address);
  assert.deepEqual(idsOf(await list(company), 'address').sort(), [first.data.address, second.data.address].sort());
  await update(company, second.id, { address: { postcode: 'SW1A 1AA' } });
  assert.deepEqual(await addressOf(company, first.id), ADDRESS);
});

for (const address of [undefined, null, {}])
  test(`an entry created with the address ${JSON.stringify(address)} has an empty address record`, async () => {
    const company = await app.company();
    const { data } = await create(company, { address });
    assert.deepEqual(await item(company, data.address), { id: data.address, entity_id: 'address', data: NO_ADDRESS });
  });

for (const name of Object.keys(ADDRESS) as (keyof typeof ADDRESS)[]) {
  test(`an address may have ${name} alone`, async () => {
    const company = await app.company();
    const { id } = await create(company, { address: { [name]: ADDRESS[name] } });
    assert.deepEqual(await addressOf(company, id), { ...NO_ADDRESS, [name]: ADDRESS[name] });
  });

  test(`an update of ${name} changes it in place and leaves the rest of the address`, async () => {
    const company = await app.company();
    const { id, data } = await create(company, { address: ADDRESS });
    await update(company, id, { address: { [name]: 'changed' } });
    assert.deepEqual(await item(company, data.address), {
      id: data.address,
      entity_id: 'address',
      data: { ...ADDRESS, [name]: 'changed' },
    });
    assert.equal((await person(company, id)).address, data.address);
    assert.equal((await list(company)).length, 2);
  });

  test(`null for ${name} on update clears it and leaves the rest of the address`, async () => {
    const company = await app.company();
    const { id } = await create(company, { address: ADDRESS });
    await update(company, id, { address: { [name]: null } });
    assert.deepEqual(await addressOf(company, id), { ...ADDRESS, [name]: '' });
  });

  test(`null for ${name} on create is as if it was not sent`, async () => {
    const company = await app.company();
    const { id } = await create(company, { address: { ...ADDRESS, [name]: null } });
    assert.deepEqual(await addressOf(company, id), { ...ADDRESS, [name]: '' });
  });

  test(`${name} that is not a text, too long or with a NUL character is refused`, async () => {
    const company = await app.company();
    const field = `address.${name}`;
    for (const value of [5, false, [], {}])
      await assertNeverTaken(company, { address: { [name]: value } }, { [field]: 'type' });
    const longest = '🏠'.repeat(1000);
    const { id } = await create(company, { address: { [name]: longest } });
    assert.equal((await addressOf(company, id))[name], longest);
    await assertNeverTaken(company, { address: { [name]: `${longest}x` } }, { [field]: 'too_long' });
    await assertNeverTaken(company, { address: { [name]: 'a\u0000' } }, { [field]: 'invalid_character' });
  });
}

for (const address of [undefined, {}])
  test(`an update with the address ${JSON.stringify(address)} leaves it`, async () => {
    const company = await app.company();
    const { id } = await create(company, { address: ADDRESS });
    await update(company, id, { address, title: 'Dr' });
    assert.deepEqual(await addressOf(company, id), ADDRESS);
  });

test('null for the address on update clears its fields and keeps the record', async () => {
  const company = await app.company();
  const { id, data } = await create(company, { address: ADDRESS });
  await update(company, id, { address: null });
  assert.deepEqual(await item(company, data.address), { id: data.address, entity_id: 'address', data: NO_ADDRESS });
  assert.equal((await person(company, id)).address, data.address);
});

test('an address that is not an object is refused, an identifier of one too', async () => {
  const company = await app.company();
  const { data } = await create(company);
  for (const address of ['1 High Street', data.address, 5, true, [], [ADDRESS]])
    await assertNeverTaken(company, { address }, { address: 'type' });
});

test('a refused create leaves no address record behind', async () => {
  const company = await app.company();
  assertRefused(await company.post(entries(company), { ...PERSON, address: ADDRESS, tags: ['no-such-tag'] }), {
    'tags[0]': 'unknown',
  });
  const rows = await app.sql('SELECT id FROM addresses WHERE company_id = $1', [company.companyId]);
  assert.deepEqual(rows, []);
});

test('every default tag of the system is a tag', async () => {
  const company = await app.company();
  const tags = await defaultTags();
  assert.ok(tags.length >= 20);
  const { id } = await create(company, { tags });
  assert.deepEqual((await person(company, id)).tags.sort(), tags);
});

for (const [field, first, second] of [
  ['tags', 'witness', 'next-of-kin'],
  ['custom_tags', 'vip-client', 'newsletter'],
] as const) {
  const other = field === 'tags' ? 'custom_tags' : 'tags';
  const dashed = field === 'tags' ? second : first;

  test(`${field} sent with a create are on the entry, each once`, async () => {
    const company = await app.company();
    const { id } = await create(company, { [field]: [first, second, first] });
    const data = await person(company, id);
    assert.deepEqual(data[field].sort(), [first, second].sort());
    assert.deepEqual(data[other], []);
  });

  test(`${field} sent with an update are added to those on the entry`, async () => {
    const company = await app.company();
    const { id } = await create(company, { [field]: [first] });
    for (const method of UPDATE_METHODS) {
      accepted(await company.send(method, entry(company, id), { ...PERSON, [field]: [second] }));
      assert.deepEqual((await person(company, id))[field].sort(), [first, second].sort());
    }
  });

  test(`${field} already on the entry are ignored`, async () => {
    const company = await app.company();
    const { id } = await create(company, { [field]: [first] });
    await update(company, id, { [field]: [first, second, second, first] });
    assert.deepEqual((await person(company, id))[field].sort(), [first, second].sort());
  });

  for (const empty of [undefined, null, []])
    test(`an update with ${field} ${JSON.stringify(empty)} removes none`, async () => {
      const company = await app.company();
      const { id } = await create(company, { [field]: [first, second] });
      await update(company, id, { [field]: empty, title: 'Dr' });
      assert.deepEqual((await person(company, id))[field].sort(), [first, second].sort());
      const created = await create(company, { [field]: empty });
      assert.deepEqual((await person(company, created.id))[field], []);
    });

  test(`an unknown tag in ${field} is refused and named`, async () => {
    const company = await app.company();
    await assertNoTrace(company, { ...PERSON, [field]: [first, 'no-such-tag', 'nor-such'] }, (answer) => {
      assertRefused(answer, { [`${field}[1]`]: 'unknown', [`${field}[2]`]: 'unknown' });
      assert.match(answer.text, /no-such-tag/);
      assert.match(answer.text, /nor-such/);
    });
  });

  test(`a tag of ${other} is none of ${field}`, async () => {
    const company = await app.company();
    const tag = field === 'tags' ? 'vip-client' : 'witness';
    await assertNeverTaken(company, { [field]: [tag] }, { [`${field}[0]`]: 'unknown' });
  });

  test(`${field} with capitals, spaces, underscores or blanks are refused`, async () => {
    const company = await app.company();
    const spaced = dashed.replaceAll('-', ' ');
    const forms = [
      first.toUpperCase(),
      spaced,
      dashed.replaceAll('-', '_'),
      dashed.replaceAll('-', ''),
      ` ${first}`,
      '',
    ];
    for (const tag of forms) await assertNeverTaken(company, { [field]: [tag] }, { [`${field}[0]`]: 'unknown' });
  });

  test(`${field} that are not an array of texts are refused`, async () => {
    const company = await app.company();
    for (const value of [first, 5, true, { 0: first }])
      await assertNeverTaken(company, { [field]: value }, { [field]: 'type' });
    for (const value of [5, [first], { tag: first }])
      await assertNeverTaken(company, { [field]: [first, value] }, { [`${field}[1]`]: 'type' });
    await assertNeverTaken(company, { [field]: [first, null] }, { [`${field}[1]`]: 'required' });
  });

  test(`${field} take at most 100 in one request`, async () => {
    const company = await app.company();
    const { id } = await create(company, { [field]: Array(100).fill(first) });
    assert.deepEqual((await person(company, id))[field], [first]);
    await assertNeverTaken(company, { [field]: Array(101).fill(first) }, { [field]: 'too_many' });
  });

  test(`a tag of more than 100 characters in ${field} is refused as too long`, async () => {
    const company = await app.company();
    await assertNeverTaken(company, { [field]: ['🏷'.repeat(100)] }, { [`${field}[0]`]: 'unknown' });
    await assertNeverTaken(company, { [field]: ['🏷'.repeat(101)] }, { [`${field}[0]`]: 'too_long' });
  });

  test(`a NUL character in ${field} is refused`, async () => {
    const company = await app.company();
    await assertNoTrace(company, { ...PERSON, [field]: [`${first}\u0000`] }, (answer) => {
      assert.equal(answer.status, 400, answer.text);
      assert.equal(answer.body.errors[0].field, `${field}[0]`);
    });
  });
}

test('a custom tag of another company is unknown', async () => {
  const company = await app.company();
  const stranger = await app.company();
  await app.sql('INSERT INTO custom_tags (company_id, tag, created_at) VALUES ($1, $2, now())', [
    stranger.companyId,
    'theirs-alone',
  ]);
  await create(stranger, { custom_tags: ['theirs-alone'] });
  await assertNeverTaken(company, { custom_tags: ['theirs-alone'] }, { 'custom_tags[0]': 'unknown' });
});

test('all faults are named at once, those of the form together with those that only the database knows', async () => {
  const company = await app.company();
  const [john, ann] = company.customers;
  const { first_names, ...rest } = PERSON;
  const body = {
    ...rest,
    title: 5,
    middle_names: 'x'.repeat(1001),
    email: 'nobody',
    dob: '31/02/1970',
    occupation: 'a\u0000b',
    relationship: { [john.id]: '', [ann.id]: 'Sister', [UNKNOWN_ID]: 'Ghost', nobody: 'Ghost' },
    address: { postcode: 5, address_1: 'x'.repeat(1001), address_2: 'fine' },
    tags: ['witness', 'no-such-tag'],
    custom_tags: ['no-such-custom', 'vip-client'],
  };
  await assertNoTrace(company, body, (answer) =>
    assertRefused(answer, {
      title: 'type',
      first_names: 'required',
      middle_names: 'too_long',
      email: 'format',
      dob: 'format',
      occupation: 'invalid_character',
      [`relationship.${john.id}`]: 'too_short',
      [`relationship.${UNKNOWN_ID}`]: 'unknown',
      'relationship.nobody': 'unknown',
      'address.postcode': 'type',
      'address.address_1': 'too_long',
      'tags[1]': 'unknown',
      'custom_tags[0]': 'unknown',
    }),
  );
});

test('an unknown tag or customer is named beside one whose form is wrong', async () => {
  const company = await app.company();
  const [john] = company.customers;
  await assertNeverTaken(
    company,
    {
      tags: [7, 'no-such-tag'],
      custom_tags: ['no-such-custom', null],
      relationship: { [john.id]: 7, [UNKNOWN_ID]: 'Ghost' },
    },
    {
      'tags[0]': 'type',
      'tags[1]': 'unknown',
      'custom_tags[0]': 'unknown',
      'custom_tags[1]': 'required',
      [`relationship.${john.id}`]: 'type',
      [`relationship.${UNKNOWN_ID}`]: 'unknown',
    },
  );
});

test('too many of one field do not hide the faults of the others', async () => {
  const company = await app.company();
  const crowd = Array(101).fill('witness');
  await assertNeverTaken(company, { tags: crowd, email: 'nobody' }, { tags: 'too_many', email: 'format' });
  await assertNeverTaken(company, { tags: crowd, title: 5 }, { tags: 'too_many', title: 'type' });
  await assertNeverTaken(company, { tags: crowd, custom_tags: 5 }, { tags: 'too_many', custom_tags: 'type' });
});

test('no field can hold anything that breaks the service', async () => {
  const company = await app.company();
  const { id } = await create(company);
  const crowd = Array(101).fill('witness');
  const anything = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom('', '\0', '\ud800', crowd));
  const under = (...keys: string[]) => fc.dictionary(fc.constantFrom(...keys), anything, { maxKeys: 2 });
  const field = fc.oneof(
    fc.tuple(
      fc.constantFrom(...REQUIRED, ...OPTIONAL_NAMES, 'relationship', 'address', 'tags', 'custom_tags'),
      anything,
    ),
    fc.tuple(fc.constantFrom('tags', 'custom_tags'), fc.array(anything, { maxLength: 2 })),
    fc.tuple(fc.constant('address'), under('address_1', 'postcode', 'id', 'company_id', 'created_at')),
    fc.tuple(fc.constant('relationship'), under(company.customers[0].id, UNKNOWN_ID, '0', '__proto__')),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(field, { minLength: 1, maxLength: 2 }), async (fields) => {
      for (const path of [entries(company), entry(company, id)]) {
        const answer = await company.post(path, { ...PERSON, ...Object.fromEntries(fields) });
        assert.ok([200, 400].includes(answer.status), answer.text);
      }
    }),
    { numRuns: 200 },
  );
});

test('a dob in the future is named together with an unknown tag', async () => {
  const company = await app.company();
  await assertNeverTaken(
    company,
    { dob: '02/06/2026', tags: ['no-such-tag'], relationship: { [UNKNOWN_ID]: 'Ghost' } },
    { dob: 'out_of_range', 'tags[0]': 'unknown', [`relationship.${UNKNOWN_ID}`]: 'unknown' },
  );
});

test('a fault anywhere keeps every part of an update from being written', async () => {
  const company = await app.company();
  const good = {
    ...CHANGED,
    title: 'Dr',
    relationship: { [company.customers[1].id]: 'Friend' },
    address: { postcode: 'SW1A 1AA' },
    tags: ['trustee'],
    custom_tags: ['newsletter'],
  };
  await assertNeverTaken(company, { ...good, tags: ['trustee', 'no-such-tag'] }, { 'tags[1]': 'unknown' });
  await assertNeverTaken(company, { ...good, dob: 'x' }, { dob: 'format' });
});

test('unknown fields are ignored, those that only answers carry included', async () => {
  const company = await app.company();
  const extra = {
    id: UNKNOWN_ID,
    customer_case_id: UNKNOWN_ID,
    company_id: UNKNOWN_ID,
    created_at: '2000-01-01T00:00:00.000000Z',
    notes: 'no field of a request',
    is_company_global: true,
    data: { title: 'Dr' },
    colour: 'red',
  };
  const created = await create(company, { ...extra, address: { ...ADDRESS, town: 'Leeds', id: UNKNOWN_ID } });
  assert.notEqual(created.id, UNKNOWN_ID);
  assert.equal(created.customer_case_id, company.caseId);
  assert.equal(created.created_at, '2026-06-01T09:00:00.000000Z');
  const updated = await update(company, created.id, { ...extra, address: { town: 'York' } });
  assert.equal(updated.id, created.id);
  assert.equal(updated.company_id, company.companyId);
  assert.equal(updated.notes, null);
  assert.equal(updated.is_company_global, null);
  assert.equal(updated.created_at, created.created_at);
  assert.ok(!('colour' in updated.data));
  assert.deepEqual(await addressOf(company, created.id), ADDRESS);
});

test('unknown fields of an address are ignored, whatever they hold', async () => {
  const company = await app.company();
  for (const extra of [
    { id: 'x' },
    { created_at: 'never' },
    { company_id: 5, case_id: [] },
    { town: { name: 'Leeds' } },
  ]) {
    const { id } = await create(company, { address: { ...ADDRESS, ...extra } });
    await update(company, id, { address: { postcode: 'SW1A 1AA', ...extra } });
    assert.deepEqual(await addressOf(company, id), { ...ADDRESS, postcode: 'SW1A 1AA' });
  }
});

test('a number is no text, however many digits it has', async () => {
  const company = await app.company();
  for (const digits of ['7', '123456789012345', '12345678901234567890', '0.12345678901234567890'])
    for (const name of ['title', 'tel_1']) {
      const body = JSON.stringify({ ...PERSON, [name]: 'HERE' }).replace('"HERE"', digits);
      await assertNoTrace(company, body, (answer) => assertRefused(answer, { [name]: 'type' }));
    }
});

test('a field named __proto__ is ignored like any unknown one', async () => {
  const company = await app.company();
  const body = `{"__proto__":{"alias":"ghost"},"constructor":{"prototype":{"alias":"ghost"}},${JSON.stringify(PERSON).slice(1)}`;
  const { id } = accepted(await company.post(entries(company), body));
  accepted(await company.patch(entry(company, id), body));
  assert.equal((await person(company, id)).alias, null);
  assert.equal(({} as Body).alias, undefined);
});

test('the book lists people and addresses oldest first, updated or not', async () => {
  const company = await app.company();
  const created: { id: string; data: { address: string } }[] = [];
  for (let i = 0; i < 4; i++) {
    created.push(await create(company));
    app.clock.advance({ seconds: 1 });
  }
  const inOrder = async () => {
    const shown = await list(company);
    assert.deepEqual(
      idsOf(shown, 'person'),
      created.map(({ id }) => id),
    );
    assert.deepEqual(
      idsOf(shown, 'address'),
      created.map(({ data }) => data.address),
    );
    const rank = new Map(
      created.flatMap(({ id, data }, index) => [[id, index] as const, [data.address, index] as const]),
    );
    const ranks = shown.map(({ id }) => Number(rank.get(id)));
    assert.deepEqual(
      ranks,
      ranks.toSorted((a, b) => a - b),
    );
  };
  await inOrder();
  await update(company, String(created[0]?.id), { title: 'Dr', address: ADDRESS });
  await update(company, String(created[2]?.id), { title: 'Dr', address: ADDRESS });
  await inOrder();
});

test('entries made in one and the same instant keep the order of their creation', async () => {
  const company = await app.company();
  const made: string[] = [];
  for (let i = 0; i < 12; i++) made.push((await create(company)).id);
  assert.deepEqual(idsOf(await list(company), 'person'), made);
});

test('a create that is sent twice is two entries', async () => {
  const company = await app.company();
  const first = await create(company, OPTIONAL);
  const second = await create(company, OPTIONAL);
  assert.notEqual(first.id, second.id);
  assert.equal((await list(company)).length, 4);
});

test('an update changes its own entry only', async () => {
  const company = await app.company();
  const relationship = { [company.customers[0].id]: 'Sister' };
  const bystander = await create(company, { ...OPTIONAL, relationship, address: ADDRESS, tags: ['witness'] });
  const { id } = await create(company, { ...OPTIONAL, relationship, address: ADDRESS, tags: ['witness'] });
  const before = [await item(company, bystander.id), await item(company, bystander.data.address)];
  await update(company, id, {
    ...CHANGED,
    relationship: {},
    address: null,
    tags: ['trustee'],
    custom_tags: ['newsletter'],
  });
  assert.deepEqual([await item(company, bystander.id), await item(company, bystander.data.address)], before);
});

test('after any series of updates an entry holds what the rules say', async () => {
  const company = await app.company();
  const [john, ann] = company.customers;
  const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 3 });
  const some = <T>(values: Record<string, fc.Arbitrary<T>>) =>
    fc.record(values, { requiredKeys: [], noNullPrototype: true });
  const word = fc.constantFrom('Sister', 'Friend');
  const line = orNull(fc.constantFrom('one', 'two', ''));
  const change: fc.Arbitrary<Body> = some<unknown>({
    ...Object.fromEntries(OPTIONAL_NAMES.map((name) => [name, orNull(fc.constantFrom(OPTIONAL[name], CHANGED[name]))])),
    relationship: orNull(some({ [john.id]: word, [ann.id]: word })),
    address: orNull(some({ address_1: line, address_2: line, address_3: line, postcode: line })),
    tags: orNull(fc.subarray(['witness', 'trustee', 'next-of-kin'])),
    custom_tags: orNull(fc.subarray(company.customTags)),
  });
  const rules: Record<string, (held: unknown, sent: unknown) => unknown> = {
    gender: (_, sent) => sent ?? '',
    marital_status: (_, sent) => sent ?? '',
    relationship: (_, sent) => sent ?? {},
    tags: union,
    custom_tags: union,
    address: (held, sent) => {
      const lines = Object.entries(sent ?? NO_ADDRESS).map(([name, value]) => [name, value ?? '']);
      return { ...(held as Body), ...Object.fromEntries(lines) };
    },
  };
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 5 }), async (changes) => {
      const { id, data } = await create(company);
      const { entity_id: _, ...names } = PERSON;
      const expected: Body = { ...names, ...UNKNOWN_PERSON, address: NO_ADDRESS };
      for (const sent of changes) {
        await update(company, id, sent);
        for (const [name, value] of Object.entries(sent))
          expected[name] = rules[name] ? rules[name](expected[name], value) : value;
      }
      const shown = await person(company, id);
      assert.equal(shown.address, data.address);
      const { tags, custom_tags, ...rest } = shown;
      assert.deepEqual(
        { ...rest, address: await addressOf(company, id), tags: tags.sort(), custom_tags: custom_tags.sort() },
        expected,
      );
    }),
    { numRuns: 25 },
  );
});

test('two updates at once that replace relationship never mix', async () => {
  const company = await app.company();
  const [john, ann] = company.customers;
  const { id } = await create(company);
  const wanted = [{ [john.id]: 'Sister' }, { [ann.id]: 'Friend' }];
  for (const start of [{}, { [john.id]: 'old' }, { [ann.id]: 'old' }, { [john.id]: 'old', [ann.id]: 'old' }]) {
    await update(company, id, { relationship: start });
    const answers = await updateAtOnce(
      company,
      id,
      wanted.map((relationship) => ({ relationship })),
    );
    assert.deepEqual(
      answers.map(({ data }) => data.relationship),
      wanted,
    );
    const { relationship } = await person(company, id);
    assert.equal(Object.keys(relationship).length, 1, JSON.stringify(relationship));
    assert.ok(wanted.some((one) => isDeepStrictEqual(one, relationship)));
  }
});

test('updates at once of the whole entry never mix, the address included', async () => {
  const company = await app.company();
  const [john, ann] = company.customers;
  const { id } = await create(company);
  const whole = (mark: string) => ({
    title: mark,
    alias: mark,
    relationship: Number(mark) % 2 ? { [john.id]: mark } : { [ann.id]: mark },
    address: { address_1: mark, postcode: mark },
  });
  const marks = Array.from({ length: 6 }, (_, index) => String(index));
  const answers = await updateAtOnce(company, id, marks.map(whole));
  for (const [index, { data }] of answers.entries()) {
    const { title, alias, relationship } = whole(String(index));
    assert.deepEqual([data.title, data.alias, data.relationship], [title, alias, relationship]);
  }
  const shown = await person(company, id);
  const last = whole(shown.title);
  assert.ok(marks.includes(shown.title));
  assert.deepEqual([shown.alias, shown.relationship], [last.alias, last.relationship]);
  assert.deepEqual(await addressOf(company, id), { ...NO_ADDRESS, ...last.address });
});

test('twenty updates at once that each add a different tag leave all twenty', async () => {
  const company = await app.company();
  const tags = (await defaultTags()).slice(0, 20);
  const { id } = await create(company);
  const changes = tags.map((tag) => ({ tags: [tag] }));
  await updateAtOnce(company, id, changes);
  assert.deepEqual((await person(company, id)).tags.sort(), tags);
});

test('updates at once that add the same tag leave it once', async () => {
  const company = await app.company();
  const { id } = await create(company);
  await updateAtOnce(company, id, Array(6).fill({ tags: ['witness'], custom_tags: ['vip-client'] }));
  const { tags, custom_tags } = await person(company, id);
  assert.deepEqual([tags, custom_tags], [['witness'], ['vip-client']]);
});

test('updates at once that change different fields all hold', async () => {
  const company = await app.company();
  const { id } = await create(company, { ...OPTIONAL, address: ADDRESS });
  const before = await person(company, id);
  const changes: Body[] = [
    ...OPTIONAL_NAMES.map((name) => ({ [name]: CHANGED[name] })),
    ...Object.keys(ADDRESS).map((name) => ({ address: { [name]: 'changed' } })),
    { relationship: { [company.customers[0].id]: 'Sister' } },
  ];
  await updateAtOnce(company, id, changes);
  assert.deepEqual(await person(company, id), {
    ...before,
    ...CHANGED,
    relationship: { [company.customers[0].id]: 'Sister' },
  });
  assert.deepEqual(
    await addressOf(company, id),
    Object.fromEntries(Object.keys(ADDRESS).map((name) => [name, 'changed'])),
  );
});

test('creates at once are each written once, with an address each', async () => {
  const company = await app.company();
  const answers = await Promise.all(Array.from({ length: 10 }, () => company.post(entries(company), PERSON)));
  const created = answers.map(accepted);
  const shown = await list(company);
  assert.deepEqual(idsOf(shown, 'person').sort(), created.map(({ id }) => id).sort());
  assert.deepEqual(idsOf(shown, 'address').sort(), created.map(({ data }) => data.address).sort());
  assert.equal(new Set(shown.map(({ id }) => id)).size, 20);
});

test('a case shows only its own entries', async () => {
  const company = await app.company();
  const otherCase = await company.openCase();
  const here = await create(company);
  const there = accepted(await company.post(`${bookOf(otherCase)}/entry`, PERSON));
  assert.equal(there.customer_case_id, otherCase);
  assert.deepEqual((await list(company)).map(({ id }) => id).sort(), [here.id, here.data.address].sort());
  const theirs = await list(company, bookOf(otherCase));
  assert.deepEqual(theirs.map(({ id }) => id).sort(), [there.id, there.data.address].sort());
});

test('an entry of another case of the company is not found through this one, whatever the body', async () => {
  const company = await app.company();
  const otherCase = await company.openCase();
  const { id } = await create(company);
  const before = await list(company);
  for (const spelling of SPELLINGS)
    for (const method of UPDATE_METHODS)
      for (const body of [{ ...PERSON, title: 'stolen' }, {}])
        assertNotFound(await company.send(method, `${bookOf(otherCase, spelling)}/entry/${id}`, body));
  assert.deepEqual(await list(company), before);
});

test('a case of another company does not exist', async () => {
  const company = await app.company();
  const stranger = await app.company();
  const { id } = await create(company);
  const before = await list(company);
  for (const spelling of SPELLINGS) {
    const book = bookOf(company.caseId, spelling);
    assertNotFound(await stranger.get(book));
    for (const body of [PERSON, {}]) {
      assertNotFound(await stranger.post(`${book}/entry`, body));
      for (const method of UPDATE_METHODS) {
        assertNotFound(await stranger.send(method, `${book}/entry/${id}`, body));
        assertNotFound(await stranger.send(method, `${bookOf(stranger.caseId, spelling)}/entry/${id}`, body));
      }
    }
  }
  assert.deepEqual(await list(company), before);
  assert.deepEqual(await list(stranger), []);
});

for (const caseId of [UNKNOWN_ID, 'not-a-uuid', '1', `${UNKNOWN_ID}0`, '%00', 'null'])
  test(`the case ${caseId} is not found, whatever the body`, async () => {
    const company = await app.company();
    const { id } = await create(company);
    for (const spelling of SPELLINGS) {
      const book = bookOf(caseId, spelling);
      assertNotFound(await company.get(book));
      for (const body of [PERSON, {}, '{']) {
        assertNotFound(await company.post(`${book}/entry`, body));
        for (const method of UPDATE_METHODS) assertNotFound(await company.send(method, `${book}/entry/${id}`, body));
      }
    }
  });

for (const id of [UNKNOWN_ID, 'not-a-uuid', '1', '%00', '%27'])
  test(`the entry ${id} is not found, whatever the body`, async () => {
    const company = await app.company();
    for (const method of UPDATE_METHODS)
      for (const body of [PERSON, {}, '[]']) assertNotFound(await company.send(method, entry(company, id), body));
    assert.deepEqual(await list(company), []);
  });

test('path identifiers in capitals are the same identifiers', async () => {
  const company = await app.company();
  const { id } = await create(company);
  const path = `${bookOf(company.caseId.toUpperCase())}/entry/${id.toUpperCase()}`;
  const updated = accepted(await company.patch(path, { ...PERSON, title: 'Dr' }));
  assert.deepEqual([updated.id, updated.customer_case_id], [id, company.caseId]);
  assert.equal((await person(company, id)).title, 'Dr');
});

test('neither an address nor a customer is an entry', async () => {
  const company = await app.company();
  const { data } = await create(company, { address: ADDRESS });
  const before = await list(company);
  for (const id of [data.address, company.customers[0].id, company.caseId])
    for (const method of UPDATE_METHODS) assertNotFound(await company.send(method, entry(company, id), PERSON));
  assert.deepEqual(await list(company), before);
});

test('a body that is not one JSON object is refused', async () => {
  const company = await app.company();
  for (const body of ['[]', '"person"', 'null', '7', '', '{"title":', `${JSON.stringify(PERSON)} {}`, undefined])
    await assertNoTrace(company, body, (answer) => {
      assert.equal(answer.status, 400, `${body}: ${answer.text}`);
      assert.equal(answer.body.code, 'invalid_request');
    });
});

test('every operation asks for Content-Type: application/json, the list too', async () => {
  const company = await app.company();
  const { id } = await create(company);
  const before = await list(company);
  for (const spelling of SPELLINGS)
    for (const type of [undefined, 'text/plain']) {
      const book = bookOf(company.caseId, spelling);
      for (const [method, path, body] of [
        ['GET', book, undefined],
        ['POST', `${book}/entry`, PERSON],
        ['PATCH', `${book}/entry/${id}`, PERSON],
        ['POST', `${book}/entry/${id}`, PERSON],
      ] as const) {
        const answer = await company.send(method, path, body, { 'content-type': type });
        assert.equal(answer.status, 400, answer.text);
        assert.match(answer.text, /content-type/i);
      }
    }
  assert.deepEqual(await list(company), before);
});

test('nobody reads or writes without a token', async () => {
  const company = await app.company();
  const { id } = await create(company);
  const before = await list(company);
  for (const spelling of SPELLINGS) {
    const book = bookOf(company.caseId, spelling);
    for (const [method, path, body] of [
      ['GET', book, undefined],
      ['POST', `${book}/entry`, PERSON],
      ['PATCH', `${book}/entry/${id}`, PERSON],
      ['POST', `${book}/entry/${id}`, PERSON],
      ['POST', `${bookOf(UNKNOWN_ID, spelling)}/entry`, {}],
    ] as const) {
      const answer = await app.anonymous.send(method, path, body);
      assert.equal(answer.status, 401, answer.text);
      assert.equal(answer.body.code, 'invalid_token');
    }
  }
  assert.deepEqual(await list(company), before);
});

test('reading needs the scope address_book:read, writing address_book:write', async () => {
  const company = await app.company();
  const { id } = await create(company);
  const before = await list(company);
  const reader = await company.withScopes('address_book:read');
  const writer = await company.withScopes('address_book:write');
  const bystander = await company.withScopes('interactions:read', 'interactions:write', 'invoices:write');
  for (const spelling of SPELLINGS) {
    const book = bookOf(company.caseId, spelling);
    accepted(await reader.get(book));
    for (const answer of [
      await writer.get(book),
      await bystander.get(book),
      await reader.post(`${book}/entry`, PERSON),
      await bystander.post(`${book}/entry`, PERSON),
      await reader.patch(`${book}/entry/${id}`, PERSON),
      await reader.post(`${book}/entry/${id}`, PERSON),
      await bystander.patch(`${book}/entry/${id}`, PERSON),
    ]) {
      assert.equal(answer.status, 403, answer.text);
      assert.equal(answer.body.code, 'insufficient_scope');
    }
    assert.deepEqual(await list(company), before);
  }
  accepted(await writer.post(entries(company), PERSON));
  accepted(await writer.patch(entry(company, id), PERSON));
});

test('a relationship key as long as the body is refused at once, and named in short', async () => {
  const company = await app.company();
  const key = '.'.repeat(1_000_000);
  const answer = await company.post(`${company.path}/address-book/entry`, {
    entity_id: 'person',
    title: '',
    first_names: '',
    last_name: '',
    relationship: { [key]: 'son' },
  });
  assert.equal(answer.status, 400, answer.text.slice(0, 500));
  assert.ok(answer.body.errors[0].field.length < 300);
});
