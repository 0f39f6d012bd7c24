import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  ADDRESS,
  accepted,
  addressOf,
  app,
  assertNeverTaken,
  assertNoTrace,
  create,
  defaultTags,
  entries,
  entry,
  idsOf,
  item,
  list,
  NO_ADDRESS,
  person,
  UPDATE_METHODS,
  update,
} from './harness/address-book.ts';
import { assertRefused } from './harness/assert.ts';
import { PERSON } from './harness/bodies.ts';

test('an email that looks like one is accepted', async () => {
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
