import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertProblem, ok, refused } from './harness/assert.ts';
import {
  addAppointment,
  addCalls,
  addEntry,
  addInteraction,
  addInvoice,
  app,
  ids,
  index,
  marked,
  openCase,
  search,
  titles,
} from './harness/search.ts';

/** GET /search: what is found, by whom, and in which order. */

test('the man who rang about the Smith will is found, although the words are in several records', async () => {
  const company = await app.company();
  const smith = await openCase(company, 'Smith, wills');
  const other = await openCase(company, 'Jones, wills');
  const call = await addInteraction(company, smith, { notes: 'A man rang and would not say his name.' });
  await addInteraction(company, other, { notes: 'A man rang and would not say his name.' });
  await addInteraction(company, smith, { notes: 'Sent the draft.' });
  await index();
  const [hit, ...others] = await search(company, 'the man who rang about the Smith will');
  assert.deepEqual(others, []);
  assert.ok(hit);
  assert.deepEqual([hit.kind, hit.id, hit.case], ['interaction', call, { id: smith, reference: 'Smith, wills' }]);
  assert.equal(marked(hit), 'A [man] [rang] and would not say his name.');
});

test('every kind of record is found by what it is known by', async () => {
  const company = await app.company();
  const caseId = await openCase(company, 'Ågren 2026/77', [
    { title: 'Mr', first_names: 'Björn', last_name: 'Ågren', email: 'bjorn@agren.example', phone: '07700 900555' },
  ]);
  const entry = await addEntry(company, caseId, {
    ...{ first_names: 'Zoë', last_name: "O'Brien", email: 'zoe@obrien.example', tel_1: '020 7946 0958' },
    ...{ known_as: 'Zozo', occupation: 'Glazier', tags: ['executor'] },
    address: { address_1: '7 Quarry Lane', postcode: 'YO1 9QQ' },
  });
  const interaction = await addInteraction(company, caseId, {
    ...{ type: 'letter', notes: 'About the codicil', sender: 'Dr Quince', recipient: 'Registry' },
  });
  const invoice = await addInvoice(company, caseId, {
    invoice_number: 'KX-2026-0042',
    items: [{ description: 'Mirror wills', quantity: 1, rate: 100, amount: 120 }],
  });
  const appointment = await addAppointment(company, caseId, {
    ...{ notes: 'Bring the deeds', location: 'Town hall', email_recipient: 'bjorn@agren.example' },
    ...{ sms_recipient: '07700 900777', email_confirmation: true, sms_confirmation: true },
  });
  await index();
  const found: Record<string, readonly string[]> = {
    entry: [
      "o'brien",
      'obrien zoe',
      'zozo',
      'glazier',
      'executor',
      'quarry',
      'yo19qq',
      '+442079460958',
      '460958',
      '@obrien.example',
    ],
    interaction: ['codicil', 'quince', 'registry letter'],
    invoice: ['KX-2026-0042', 'kx 42', '2026-0042', 'mirror', '120.00'],
    appointment: ['deeds', 'town hall', 'agren.example', '07700 900777', company.adviser],
    customer: ['bjorn agren', 'bjorn@agren.example', '(07700) 900-555'],
    case: ['agren 77'],
  };
  const idOf: Record<string, string> = { entry, interaction, invoice, appointment, case: caseId };
  for (const [kind, queries] of Object.entries(found)) {
    for (const q of queries) {
      const hits = await search(company, q, `&kinds=${kind}`);
      assert.equal(hits.length, 1, `${kind} by ${q}`);
      assert.equal(hits[0]?.kind, kind);
      if (idOf[kind]) assert.equal(hits[0]?.id, idOf[kind], q);
      assert.equal(hits[0]?.case.id, caseId);
      assert.match(marked(hits[0] as never), /\[/, `${kind} by ${q} is marked`);
    }
  }
  assert.deepEqual(titles(await search(company, 'zozo')), ["entry Mrs Zoë O'Brien"]);
});

test('every kind of record is found by its external id', async () => {
  const company = await app.company();
  const caseId = await openCase(company, 'Tansy', [{ last_name: 'Tansy' }]);
  const path = `/cases/${caseId}`;
  await index();
  const [customer] = ids(await search(company, 'tansy', '&kinds=customer'));
  const paths = {
    case: `/manage${path}`,
    customer: `/manage${path}/customers/${customer}`,
    entry: `${path}/address-book/entry/${await addEntry(company, caseId, {})}`,
    interaction: `${path}/interactions/${await addInteraction(company, caseId, {})}`,
    invoice: `${path}/invoices/${await addInvoice(company, caseId, {})}`,
    appointment: `${path}/appointments/${await addAppointment(company, caseId, {})}`,
  };
  for (const [kind, one] of Object.entries(paths))
    await ok(company.send('PUT', `${one}/external-id`, { external_id: `crm-7-${kind}` }));
  await index();
  for (const kind of Object.keys(paths)) {
    const found = (await search(company, `crm-7-${kind}`)).map((hit) => hit.kind);
    assert.deepEqual(found, [kind]);
  }
});

test('an invoice is found by each of its items that is not cancelled', async () => {
  const company = await app.company();
  const invoice = await addInvoice(company, company.caseId, {
    items: ['Mirror wills', 'Lasting power'].map((description) => ({ description, quantity: 1, rate: 50, amount: 60 })),
  });
  const path = `${company.path}/invoices/${invoice}`;
  await index();
  for (const q of ['mirror', 'lasting', 'lasting mirror'])
    assert.deepEqual(ids(await search(company, q)), [invoice], q);
  const { items } = await ok(company.get(path));
  const second = items.find(({ description }: { description: string }) => description === 'Lasting power');
  await ok(company.post(`${path}/items/${second.id}/cancel`));
  await index();
  assert.deepEqual(await search(company, 'lasting'), []);
  assert.deepEqual(ids(await search(company, 'mirror')), [invoice]);
});

test('a record is found by the name of each of the first twenty customers of its case, and of no later one', async () => {
  const company = await app.company();
  const names = Array.from({ length: 20 }, (_, i) => `Tamarisk${String.fromCharCode(97 + i)}`);
  const caseId = await openCase(
    company,
    'Trees',
    names.map((last_name) => ({ last_name })),
  );
  app.clock.advance({ seconds: 1 });
  await ok(company.post(`/manage/cases/${caseId}/customers`, { last_name: 'Tamarisklast' }));
  const call = await addInteraction(company, caseId, { notes: 'a call' });
  await index();
  for (const name of names) assert.deepEqual(ids(await search(company, name, '&kinds=interaction')), [call], name);
  assert.deepEqual(await search(company, 'Tamarisklast', '&kinds=interaction'), []);
});

test('a record needs all words', async () => {
  const company = await app.company();
  const caseId = await openCase(company, 'Quartz');
  await addInteraction(company, caseId, { notes: 'violet umbrella' });
  await index();
  assert.equal((await search(company, 'umbrella violet')).length, 1);
  assert.deepEqual(await search(company, 'umbrella crimson'), []);
});

test('a record that is not among the newest is found by one word and by many, of which the last may be begun', async () => {
  const company = await app.company();
  const caseId = await openCase(company, 'Quartz');
  const words = ['violet', 'umbrella', 'crimson', 'lantern', 'harbour', 'meadow'];
  await addInteraction(company, caseId, { notes: words.join(' '), when: '2020-01-01 10:00' });
  await index();
  // Newer ones of no company's words, so that only the index knows the old one.
  await app.sql(
    `INSERT INTO search_documents (company_id, case_id, kind, id, at, words)
     SELECT $1, $2, 'interaction', gen_random_uuid(), now(), '' FROM generate_series(1, 7000)`,
    [company.companyId, caseId],
  );
  for (let count = 1; count <= words.length; count++) {
    const typed = words.slice(0, count).join(' ');
    assert.equal((await search(company, typed)).length, 1, typed);
    assert.equal((await search(company, typed.slice(0, -2))).length, 1, typed.slice(0, -2));
    assert.deepEqual(await search(company, `${typed} absent`), []);
  }
});

test('names come before texts, whole words before beginnings, and of equals the newest comes first', async () => {
  const company = await app.company();
  const caseId = await openCase(company, 'another');
  await addInteraction(company, caseId, { notes: 'Larkspur', when: '2026-05-01 10:00' });
  await addInteraction(company, caseId, { notes: 'Larkspur', when: '2026-05-03 10:00' });
  await addInteraction(company, caseId, { notes: 'Larkspurs', when: '2026-05-05 10:00' });
  await addEntry(company, caseId, { last_name: 'Larkspurson' });
  await addEntry(company, caseId, { last_name: 'Larkspur' });
  const inCase = await openCase(company, 'Larkspur');
  await addInteraction(company, inCase, { notes: 'only its case has the name' });
  await index();
  const found = (await search(company, 'larkspur')).map((hit) => `${hit.kind} ${marked(hit)}`);
  assert.deepEqual(found.slice(0, 2).sort(), ['case [Larkspur]', 'entry Mrs Jane [Larkspur]']);
  assert.deepEqual(found.slice(2), [
    'entry Mrs Jane [Larkspurson]',
    'interaction [Larkspur]',
    'interaction [Larkspur]',
    'interaction [Larkspurs]',
    'interaction only its case has the name',
  ]);
  const times = (await search(company, 'larkspur', '&kinds=interaction')).map(({ at }) => at);
  assert.deepEqual(times.slice(0, 2), ['2026-05-03T09:00:00.000000Z', '2026-05-01T09:00:00.000000Z']);
});

test('numbers and addresses that records are known by come before texts that have them', async () => {
  const company = await app.company();
  const invoice = await addInvoice(company, company.caseId, { invoice_number: 'KX-77' });
  const entry = await addEntry(company, company.caseId, {
    ...{ known_as: 'Zozo', email: 'zoe@obrien.example' },
    address: { address_1: '7 Quarry Lane', postcode: 'YO1 9QQ' },
  });
  await ok(company.send('PUT', `${company.path}/invoices/${invoice}/external-id`, { external_id: 'crm-5' }));
  const known: [q: string, id: string][] = [
    ...['KX-77', 'crm-5'].map((q): [string, string] => [q, invoice]),
    ...['Zozo', 'zoe@obrien.example', 'Quarry Lane', 'YO1 9QQ'].map((q): [string, string] => [q, entry]),
  ];
  await addCalls(
    company,
    company.caseId,
    known.map(([notes]) => ({ notes, at: '2026-10-01T10:00:00Z' })),
  );
  await rebuilt(company.companyId);
  for (const [q, id] of known) {
    const found = await search(company, q);
    assert.deepEqual([found[0]?.id, found[1]?.kind, found.length], [id, 'interaction', 2], q);
  }
});

test('an invoice is found by its number, however many phone numbers end with the last digit of it', async () => {
  const company = await app.company();
  const invoice = await addInvoice(company, company.caseId, { invoice_number: 'INV-0001' });
  await app.sql(
    `INSERT INTO customers (company_id, case_id, id, title, first_names, last_name, phone, created_at, updated_at)
     SELECT $1, $2, gen_random_uuid(), '', '', 'Caller', '+447700900' || lpad((n * 10 + 1)::text, 3, '0'), now(), now()
       FROM generate_series(1, 60) n`,
    [company.companyId, company.caseId],
  );
  await app.sql('DELETE FROM search_progress WHERE company_id = $1', [company.companyId]);
  await index();
  for (const q of ['0001', 'INV-0001']) {
    const hits = await search(company, q, '&limit=50');
    assert.ok(ids(hits).includes(invoice), q);
    assert.ok(!titles(hits).includes('customer Caller'), q);
  }
});

test('two phone numbers in one field are found, each by its last digits and as a whole', async () => {
  const company = await app.company();
  const entry = await addEntry(company, company.caseId, { tel_1: '07700 900123 / 020 7946 0958' });
  await index();
  for (const [q, match] of [
    ['+44 7700 900123', '07700 900123'],
    ['0123', '07700 900123'],
    ['(020) 79460958', '020 7946 0958'],
    ['460958', '020 7946 0958'],
  ] as const) {
    const [hit, ...others] = await search(company, q, '&kinds=entry');
    assert.deepEqual([hit?.id, others], [entry, []], q);
    assert.ok(hit && marked(hit).includes(`[${match}]`), q);
  }
});

test('a credential finds what its scopes allow', async () => {
  const company = await app.company();
  const caseId = await openCase(company, 'Marigold', [{ last_name: 'Marigold' }]);
  await addEntry(company, caseId, { last_name: 'Marigold' });
  await addInteraction(company, caseId, { notes: 'Marigold' });
  await addInvoice(company, caseId, {});
  await addAppointment(company, caseId, { notes: 'Marigold' });
  await addAppointment(company, caseId, { notes: 'by its case alone' });
  await index();
  const kindsFor = async (...scopes: string[]) => {
    const hits = await search(await company.withScopes(...scopes), 'marigold');
    const mayKnow = scopes.some((scope) => ['cases:read', 'manage'].includes(scope));
    for (const hit of hits) assert.equal(hit.case.reference, mayKnow ? 'Marigold' : null);
    return [...new Set(hits.map(({ kind }) => kind))].sort();
  };
  assert.deepEqual(await kindsFor('invoices:read'), ['invoice']);
  assert.deepEqual(await kindsFor('address_book:read'), ['entry']);
  assert.deepEqual(await kindsFor('interactions:read', 'appointments:read'), ['appointment', 'interaction']);
  assert.deepEqual(await kindsFor('cases:read'), ['case', 'customer']);
  assert.deepEqual(await kindsFor('manage'), ['case', 'customer']);
  const appointments = async (...scopes: string[]) =>
    (await search(await company.withScopes(...scopes), 'marigold', '&kinds=appointment,case')).length;
  assert.equal(await appointments('appointments:read'), 1, 'the words of the case are no way to its reference');
  assert.equal(await appointments('appointments:read', 'cases:read'), 3);
  for (const scopes of [[], ['events:read'], ['invoices:write', 'webhooks'], ['operator']]) {
    assertProblem(await (await company.withScopes(...scopes)).get('/search?q=marigold'), 403, 'insufficient_scope');
  }
});

test('no company finds or counts records of another, whatever these are', async () => {
  const [company, stranger] = [await app.company(), await app.company()];
  for (let i = 0; i < 30; i++) {
    await addEntry(stranger, stranger.caseId, { last_name: 'Foxglove' });
  }
  const own = await addInteraction(company, company.caseId, { notes: 'foxglove' });
  await index();
  assert.deepEqual(ids(await search(company, 'foxglove')), [own]);
  assert.equal((await search(stranger, 'foxglove', '&limit=50')).length, 30);
  const before = await company.get('/search?q=foxg');
  await addEntry(stranger, stranger.caseId, { last_name: 'Foxglove' });
  await index();
  assert.equal((await company.get('/search?q=foxg')).text, before.text);
});

test('more matches than a search reads: the best are returned, and they are the newest', async () => {
  const company = await app.company();
  await app.sql(
    `INSERT INTO interactions (company_id, case_id, id, type, notes, recipient, happened_at, created_at, updated_at)
     SELECT $1, $2, gen_random_uuid(), 'phone', 'hollyhock ' || n, '', timestamptz '2020-01-01T00:00:00Z' + n * interval '1 minute',
            now(), now() FROM generate_series(1, 3000) n`,
    [company.companyId, company.caseId],
  );
  await rebuilt(company.companyId);
  const notes = (await search(company, 'hollyhock', '&limit=3')).map(marked);
  assert.deepEqual(notes, ['[hollyhock] 3000', '[hollyhock] 2999', '[hollyhock] 2998']);
  assert.equal((await search(company, 'hollyhock', '&limit=50')).length, 50);
  assert.deepEqual((await search(company, 'hollyhock 7')).map(marked), ['[hollyhock] [7]']);
  assert.equal((await search(company, 'hollyhock 12')).length, 20);
  assert.deepEqual((await search(company, '1234 hollyhock')).map(marked), ['[hollyhock] [1234]']);
});

async function rebuilt(companyId: string): Promise<void> {
  await app.sql('UPDATE search_progress SET edition = 0 WHERE company_id = $1', [companyId]);
  await index();
}

test('a fragment is a piece of a long text around the first match', async () => {
  const company = await app.company();
  const filler = 'lorem ipsum dolor '.repeat(6);
  await addInteraction(company, company.caseId, { notes: `${filler}the <b>periwinkle</b> & “more” ${filler}` });
  await index();
  const [hit] = await search(company, 'periwinkle');
  assert.ok(hit);
  assert.match(marked(hit), /^(lorem|ipsum|dolor) .*the <b>\[periwinkle\]<\/b> & “more” .*(lorem|ipsum|dolor)\s?$/);
  assert.ok(marked(hit).length < 220);
});

test('a hit shows the field with the most matches, and of equal ones the first', async () => {
  const company = await app.company();
  await addInteraction(company, company.caseId, { notes: 'violet', sender: 'Violet Lantern', recipient: 'Lantern' });
  await index();
  for (const [q, field] of [
    ['violet', 'notes'],
    ['violet lantern', 'sender'],
    ['lantern', 'sender'],
  ] as const) {
    const [hit] = await search(company, q);
    assert.equal(hit?.fragment.field, field, q);
  }
});

test('every fault of a request is named', async () => {
  const company = await app.company();
  const get = (query: string) => company.get(`/search?${query}`);
  await refused(get(''), { q: 'required' });
  await refused(get('q='), { q: 'too_short' });
  await refused(get('q=%20-%20'), { q: 'format' });
  await refused(get('q=a%00b'), { q: 'invalid_character' });
  await refused(get(`q=${'x'.repeat(201)}`), { q: 'too_long' });
  await refused(get(`q=${'ab+'.repeat(11)}`), { q: 'too_many' });
  await refused(get('q=a&kinds=payment'), { kinds: 'not_allowed' });
  await refused(get('q=a&limit=51'), { limit: 'out_of_range' });
  await refused(get('q=a&limit=0&kinds='), { limit: 'format', kinds: 'not_allowed' });
  await ok(get(`q=${'ab+'.repeat(10)}`));
  await ok(get(`q=${'x'.repeat(200)}`));
  await ok(get(`q=${encodeURIComponent('a\' | b:* & !c <-> \\ "d" @ 1!x % _ \'')}`));
});

test('nothing that is typed is an operator', async () => {
  const company = await app.company();
  await addInteraction(company, company.caseId, { notes: 'snapdragon' });
  await index();
  for (const q of ['snapdragon | x', '!x', "'snapdragon':*", 'snapdragon & !y', '1:snapdragon', 'snap:*']) {
    const words = q.match(/\w+/g) ?? [];
    const all = words.every((word) => 'snapdragon'.startsWith(word) && word.length > 1);
    assert.equal((await search(company, q)).length, all ? 1 : 0, q);
  }
});
