import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestCompany } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import {
  ALPHA,
  adviserOf,
  after,
  app,
  caseOf,
  clientOf,
  companyPath,
  customerOf,
  type Event,
  historyOf,
  type Image,
  kindOf,
  otherKeyOf,
  UNKNOWN,
  ZOOM,
} from './harness/events-company.ts';
import { type Answer, type Caller, caller } from './harness/http.ts';
import { overlapping } from './harness/overlap.ts';

/** The answer, and every event that the work leaves in the company's log. */
async function logged(company: Caller, work: () => Promise<Answer>): Promise<{ answer: Answer; events: Event[] }> {
  const { headers } = await company.get('/events?after=latest');
  const [, next = ''] = /<(.*)>/.exec(String(headers.link)) ?? [];
  const answer = await work();
  return { answer, events: await ok(company.get(next)) };
}

/** The key that the company's requests use. */
async function keyOf(company: TestCompany): Promise<Image> {
  const [{ id, name }] = await ok(company.get('/manage/keys'));
  return { type: 'key', id, name };
}
const EVE = { email: 'eve@firm.example', name: 'Eve Example' };
const DOE = { title: 'Ms', first_names: 'Jane', last_name: 'Doe', email: 'jane@client.example', phone: '07400 111222' };

type Write = {
  type: string;
  /** The path of the record, or of its list if the request creates it. */
  path: (company: TestCompany) => Promise<string> | string;
  method: string;
  below?: string;
  body?: unknown;
  inCase?: boolean;
};

const CREATES: Write[] = [
  { type: 'adviser.created', path: () => '/manage/advisers', method: 'POST', body: EVE },
  { type: 'case.created', path: () => '/manage/cases', method: 'POST', body: { reference: 'Doe' } },
  {
    type: 'customer.created',
    path: (company) => `${caseOf(company)}/customers`,
    method: 'POST',
    body: DOE,
    inCase: true,
  },
  { type: 'case_kind.created', path: () => '/manage/case-kinds', method: 'POST', body: { name: 'Wills' } },
  { type: 'api_client.created', path: () => '/manage/clients', method: 'POST', body: ALPHA },
  { type: 'api_key.created', path: () => '/manage/keys', method: 'POST', body: ALPHA },
];

const CHANGES: Write[] = [
  { type: 'company.updated', path: companyPath, method: 'PATCH', body: { terms: 'Net', reminder_lead_days: 3 } },
  { type: 'adviser.updated', path: adviserOf, method: 'PATCH', body: { name: 'A', active: false } },
  { type: 'adviser.updated', path: adviserOf, method: 'PATCH', body: { video_provider: 'jitsi' } },
  {
    type: 'adviser.video_account_connected',
    path: adviserOf,
    method: 'PUT',
    below: '/video-account',
    body: { provider: 'jitsi' },
  },
  { type: 'adviser.video_account_connected', path: adviserOf, method: 'PUT', below: '/video-account', body: ZOOM },
  {
    type: 'adviser.video_account_disconnected',
    path: after(adviserOf, 'PUT', '/video-account', ZOOM),
    method: 'DELETE',
    below: '/video-account',
  },
  { type: 'adviser.removed', path: after(adviserOf, 'PUT', '/video-account', ZOOM), method: 'DELETE' },
  { type: 'adviser.restored', path: after(adviserOf, 'DELETE'), method: 'POST', below: '/restore' },
  { type: 'case.updated', path: caseOf, method: 'PATCH', body: { reference: 'Smith, trusts' }, inCase: true },
  { type: 'case.closed', path: caseOf, method: 'PATCH', body: { state: 'closed' }, inCase: true },
  { type: 'case.archived', path: caseOf, method: 'PATCH', body: { state: 'archived' }, inCase: true },
  {
    type: 'case.reopened',
    path: after(caseOf, 'PATCH', '', { state: 'archived' }),
    method: 'PATCH',
    body: { state: 'open', reference: 'Smith, again' },
    inCase: true,
  },
  {
    type: 'case.updated',
    path: after(caseOf, 'PATCH', '', { state: 'closed' }),
    method: 'PATCH',
    body: { state: 'closed' },
    inCase: true,
  },
  { type: 'case_kind.updated', path: kindOf, method: 'PATCH', body: { name: 'Trusts' } },
  { type: 'case_kind.removed', path: kindOf, method: 'DELETE' },
  { type: 'case_kind.restored', path: after(kindOf, 'DELETE'), method: 'POST', below: '/restore' },
  { type: 'customer.updated', path: customerOf, method: 'PATCH', body: { phone: null, title: 'Dr' }, inCase: true },
  { type: 'customer.removed', path: customerOf, method: 'DELETE', inCase: true },
  { type: 'customer.restored', path: after(customerOf, 'DELETE'), method: 'POST', below: '/restore', inCase: true },
  { type: 'api_client.updated', path: clientOf, method: 'PATCH', body: { name: 'b', scopes: ['manage'] } },
  { type: 'api_client.rotated', path: clientOf, method: 'POST', below: '/rotate' },
  { type: 'api_client.disabled', path: clientOf, method: 'POST', below: '/disable' },
  { type: 'api_client.enabled', path: after(clientOf, 'POST', '/disable'), method: 'POST', below: '/enable' },
  { type: 'api_key.revoked', path: otherKeyOf, method: 'DELETE' },
];

/** The exact fields of a snapshot. */
const COMPANY =
  'id name time_zone phone_region terms payment_terms reminder_lead_days sender_name sender_address contact_email ' +
  'client_contact_email client_contact_phone contact_line message_signature session_idle_minutes session_hours ' +
  'legal_name address company_number tax_number ' +
  'currency';
const FIELDS: Record<string, string> = {
  company: `${COMPANY} created_at updated_at`,
  adviser: 'id email name active video_provider video_account created_at updated_at removed_at',
  case: 'id external_id reference kind_id state opened_at closed_at responsible_adviser_id created_at updated_at',
  case_kind: 'id name created_at updated_at removed_at',
  customer: 'id case_id external_id title first_names last_name email phone created_at updated_at removed_at',
  api_client: 'id name scopes created_at updated_at rotated_at disabled_at created_by rotated_by',
  api_key: 'id name scopes created_at expires_at revoked_at created_by',
};

/** The snapshot shows what the API shows, except what is not part of the record. */
function assertShows(image: Image | null, shown: Image, type: string): void {
  const { customers, kind, last_used_at, key, client_secret, ...fields } = shown;
  assert.ok(image, 'an image');
  assert.deepEqual(Object.keys(image), FIELDS[type]?.split(' '));
  assert.deepEqual({ ...image, ...fields }, image);
}

for (const { type, path, method, below = '', body, inCase } of CREATES) {
  test(`${type} is the one entry of a create: by whom, in which request, and what there is now`, async () => {
    const company = await app.company();
    const actor = await keyOf(company);
    const list = await path(company);
    const { answer, events } = await logged(company, () => company.send(method, `${list}${below}`, body));
    assert.equal(answer.status, 200, answer.text);
    assert.equal(events.length, 1);
    const [event] = events as [Event];
    assert.equal(event.type, type);
    assert.deepEqual(event.actor, actor);
    assert.equal(event.request_id, answer.headers['x-request-id']);
    assert.deepEqual(event.record, { type: type.split('.')[0], id: answer.body.id });
    assert.equal(event.case_id, type === 'case.created' ? answer.body.id : inCase ? company.caseId : null);
    assert.deepEqual([event.before, event.changed], [null, null]);
    assertShows(event.after, answer.body, event.record.type);
    assert.deepEqual(await historyOf(company, `${list}/${answer.body.id}`), events);
  });
}

for (const { type, path, method, below = '', body, inCase } of CHANGES) {
  test(`${type} is the one entry of ${method} …${below}: what was, and what became of it`, async () => {
    const company = await app.company();
    const actor = await keyOf(company);
    const one = await path(company);
    const current = async () => (await historyOf(company, one)).at(-1)?.after ?? null;
    const shown = await company.get(one);
    const was = await current();
    app.clock.advance({ minutes: 1 });
    const { answer, events } = await logged(company, () => company.send(method, `${one}${below}`, body));
    assert.equal(answer.status, 200, answer.text);
    assert.equal(events.length, 1);
    const [event] = events as [Event];
    assert.equal(event.type, type);
    assert.deepEqual(event.actor, actor);
    assert.equal(event.request_id, answer.headers['x-request-id']);
    assert.equal(event.case_id, inCase ? company.caseId : null);
    const record = event.record.type;
    assert.deepEqual(event.before, was);
    if (shown.status === 200) assertShows(event.before, shown.body, record);
    const now = await company.get(one);
    if (now.status === 200) assertShows(event.after, now.body, record);
    else assert.equal(event.after?.removed_at, answer.body.removed_at);
    const differing = Object.keys(event.after ?? {}).filter(
      (name) => JSON.stringify(event.before?.[name]) !== JSON.stringify(event.after?.[name]),
    );
    assert.deepEqual(event.changed, differing.sort());
    assert.notEqual(differing.length, 0);
    assert.deepEqual((await historyOf(company, one)).at(-1), event);
  });
}

test('the entry of an adviser says which video account, before and after', async () => {
  const company = await app.company();
  const adviser = await adviserOf(company);
  const zoom = { account_id: ZOOM.account_id, user: ZOOM.user };
  const put = (body: unknown) => ok(company.send('PUT', `${adviser}/video-account`, body));
  await put(ZOOM);
  await put({ ...ZOOM, client_id: 'another', client_secret: 'another-secret' });
  await put({ ...ZOOM, user: 'other@firm.example' });
  await put({ provider: 'jitsi' });
  const seen = (await historyOf(company, adviser)).map(({ after }) => [after?.video_provider, after?.video_account]);
  assert.deepEqual(seen, [
    [null, null],
    ['zoom', zoom],
    ['zoom', zoom],
    ['zoom', { ...zoom, user: 'other@firm.example' }],
    ['jitsi', null],
  ]);
});

test('a case that is opened with customers has one entry and each customer has one, the case first', async () => {
  const company = await app.company();
  const customers = ['Doe', 'Roe', 'Poe', 'Loe'].map((last_name) => ({ last_name }));
  const body = { reference: 'Doe and others', customers };
  const { answer, events } = await logged(company, () => company.post('/manage/cases', body));
  const opened = answer.body;
  assert.deepEqual(
    events.map(({ type, record, case_id, before }) => [type, record.id, case_id, before]),
    [
      ['case.created', opened.id, opened.id, null],
      ...opened.customers.map(({ id }: { id: string }) => ['customer.created', id, opened.id, null]),
    ],
  );
  assert.deepEqual(
    events.map(({ after }) => after?.last_name),
    [undefined, 'Doe', 'Roe', 'Poe', 'Loe'],
  );
  assert.deepEqual(await ok(company.get(`/cases/${opened.id}/events`)), events);
});

test('a tag is made and removed, again and again, and each time there is an entry', async () => {
  const company = await app.company();
  const actor = await keyOf(company);
  const { events } = await logged(company, async () => {
    for (let round = 0; round < 2; round++) {
      await ok(company.post('/manage/custom-tags', { tag: 'gold' }));
      app.clock.advance({ minutes: 1 });
      await ok(company.delete('/manage/custom-tags/gold'));
    }
    return company.post('/manage/custom-tags', { tag: 'silver' });
  });
  assert.deepEqual(
    events.map(({ type, before, after }) => [type, before?.tag ?? null, after?.tag ?? null]),
    [
      ['tag.created', null, 'gold'],
      ['tag.removed', 'gold', null],
      ['tag.created', null, 'gold'],
      ['tag.removed', 'gold', null],
      ['tag.created', null, 'silver'],
    ],
  );
  assert.equal(new Set(events.slice(0, 4).map(({ record }) => record.id)).size, 1);
  assert.notEqual(events[4]?.record.id, events[0]?.record.id);
  for (const event of events) assert.deepEqual(event.actor, actor);
  const tags = await ok(company.get('/manage/custom-tags'));
  assert.deepEqual(
    events[4]?.after,
    tags.find(({ tag }: { tag: string }) => tag === 'silver'),
  );
});

test('a company is set up by an operator’s key, and its log says so from the first entry on', async () => {
  const operatorCompany = await app.company();
  const operator = await operatorCompany.withScopes('operator');
  const made = await operator.post('/manage/companies', { name: 'New & Co' });
  const changed = await operator.patch(`/manage/companies/${made.body.id}`, { name: 'Newer & Co' });
  const given = await operator.post(`/manage/companies/${made.body.id}/keys`, {
    name: 'first',
    scopes: ['manage', 'events:read'],
  });
  const events: Event[] = await ok(caller(app.baseUrl, given.body.key).get('/events'));
  assert.deepEqual(
    events.map(({ type, request_id, before, after }) => [type, request_id, before?.name, after?.name]),
    [
      ['company.created', made.headers['x-request-id'], undefined, 'New & Co'],
      ['company.updated', changed.headers['x-request-id'], 'New & Co', 'Newer & Co'],
      ['api_key.created', given.headers['x-request-id'], undefined, 'first'],
    ],
  );
  const keys: { id: string; scopes: string[] }[] = await ok(operatorCompany.get('/manage/keys'));
  const { id } = keys.find(({ scopes }) => scopes.includes('operator')) ?? { id: '' };
  for (const { actor } of events) assert.deepEqual(actor, { type: 'key', id, name: 'test' });
});

test('what is done without a key is the operator’s, and an access token counts as its client', async () => {
  const company = await app.company();
  const [first]: Event[] = await ok(company.get('/events?limit=1'));
  assert.deepEqual([first?.type, first?.actor, first?.request_id], ['company.created', { type: 'operator' }, null]);
  const client = await ok(company.post('/manage/clients', { name: 'website', scopes: ['manage'] }));
  const { access_token } = await ok(
    app.anonymous.post('/oauth/token', {
      grant_type: 'client_credentials',
      client_id: client.id,
      client_secret: client.client_secret,
    }),
  );
  const website = caller(app.baseUrl, access_token);
  const { events } = await logged(company, () => website.patch('/manage/company', { terms: 'Net' }));
  assert.deepEqual(
    events.map(({ actor }) => actor),
    [{ type: 'client', id: client.id, name: 'website' }],
  );
});

const REFUSED: Record<string, (company: TestCompany) => Promise<() => Promise<Answer>>> = {
  'a company in an unknown zone': async (company) => () =>
    company.patch('/manage/company', { time_zone: 'Europe/Nowhere' }),
  'a company onto another state of it': async (company) => () =>
    company.patch('/manage/company', { terms: 'Net' }, { 'if-match': '"another"' }),
  'an adviser without a name': async (company) => () => company.post('/manage/advisers', { email: 'a@firm.example' }),
  'an adviser with a taken email': async (company) => () =>
    company.post('/manage/advisers', { email: company.adviser, name: 'A' }),
  'a change to a taken email': async (company) => {
    const adviser = await adviserOf(company);
    return () => company.patch(adviser, { email: company.adviserWithVideo });
  },
  'Zoom without credentials': async (company) => {
    const adviser = await adviserOf(company);
    return () => company.patch(adviser, { video_provider: 'zoom' });
  },
  'an account that lacks its secret': async (company) => {
    const adviser = await adviserOf(company);
    return () => company.send('PUT', `${adviser}/video-account`, { ...ZOOM, client_secret: null });
  },
  'a disconnection of nothing': async (company) => {
    const adviser = await adviserOf(company);
    return () => company.delete(`${adviser}/video-account`);
  },
  'a second removal of an adviser': async (company) => {
    const adviser = await after(adviserOf, 'DELETE')(company);
    return () => company.delete(adviser);
  },
  'a restore of an adviser who is there': async (company) => {
    const adviser = await adviserOf(company);
    return () => company.post(`${adviser}/restore`);
  },
  'a case with a faulty customer': async (company) => () =>
    company.post('/manage/cases', { reference: 'A', customers: [DOE, { last_name: 'Doe', phone: 'none' }] }),
  'a case without a reference': async (company) => () => company.patch(caseOf(company), { reference: '' }),
  'a customer of an unknown case': async (company) => () => company.post(`/manage/cases/${UNKNOWN}/customers`, DOE),
  'a customer with a faulty email': async (company) => () => company.patch(customerOf(company), { email: 'none' }),
  'a second removal of a customer': async (company) => {
    const customer = await after(customerOf, 'DELETE')(company);
    return () => company.delete(customer);
  },
  'a restore of a customer who is there': async (company) => () => company.post(`${customerOf(company)}/restore`),
  'a tag that is taken': async (company) => () => company.post('/manage/custom-tags', { tag: company.customTags[0] }),
  'a tag that is not there': async (company) => () => company.delete('/manage/custom-tags/gold'),
  'a client with an unknown scope': async (company) => () =>
    company.post('/manage/clients', { name: 'a', scopes: ['b'] }),
  'scopes that the caller lacks': async (company) => {
    const client = await clientOf(company);
    const weak = await company.withScopes('manage');
    return () => weak.patch(client, { scopes: ['invoices:write'] });
  },
  'a rotation by a caller who lacks its scopes': async (company) => {
    const client = await clientOf(company);
    const weak = await company.withScopes('manage');
    return () => weak.post(`${client}/rotate`);
  },
  'a disabling of an unknown client': async (company) => () => company.post(`/manage/clients/${UNKNOWN}/disable`),
  'a key that has ended already': async (company) => () =>
    company.post('/manage/keys', { ...ALPHA, expires_at: '2020-01-01 00:00' }),
  'a revocation of an unknown key': async (company) => () => company.delete(`/manage/keys/${UNKNOWN}`),
  'a caller without the scope': async (company) => {
    const weak = await company.withScopes('invoices:read');
    return () => weak.patch('/manage/company', { terms: 'Net' });
  },
};

for (const [name, prepare] of Object.entries(REFUSED)) {
  test(`refused and not logged: ${name}`, async () => {
    const company = await app.company();
    const { answer, events } = await logged(company, await prepare(company));
    assert.ok(answer.status >= 400 && answer.status < 500, answer.text);
    assert.deepEqual(events, []);
  });
}

test('what is so already is not logged again', async () => {
  const company = await app.company();
  const client = await clientOf(company);
  const key = await otherKeyOf(company);
  const { events } = await logged(company, async () => {
    await ok(company.post(`${client}/enable`));
    await ok(company.post(`${client}/disable`));
    await ok(company.delete(key));
    app.clock.advance({ minutes: 1 });
    const again = [await ok(company.post(`${client}/disable`)), await ok(company.delete(key))];
    const made = { also_ended: [], still_working: [] };
    const shown = [await ok(company.get(client)), await ok(company.get(key))];
    assert.deepEqual(
      again,
      shown.map((record) => ({ ...record, ...made })),
    );
    await ok(company.post(`${client}/enable`));
    return company.post(`${client}/enable`);
  });
  assert.deepEqual(
    events.map(({ type }) => type),
    ['api_client.disabled', 'api_key.revoked', 'api_client.enabled'],
  );
});

test('of five concurrent requests to disable a client, or to revoke a key, one is logged', async () => {
  const company = await app.company();
  const client = await clientOf(company);
  const key = await otherKeyOf(company);
  const { events } = await logged(company, async () => {
    for (const [table, path, send] of [
      ['clients', client, () => company.post(`${client}/disable`)],
      ['tokens', key, () => company.delete(key)],
    ] as const) {
      const held = `SELECT 1 FROM ${table} WHERE id = $1 FOR NO KEY UPDATE`;
      await overlapping(
        app,
        [[held, [path.split('/').at(-1)]]],
        Array.from({ length: 5 }, () => () => ok(send())),
      );
    }
    return company.get(client);
  });
  assert.deepEqual(
    events.map(({ type }) => type),
    ['api_client.disabled', 'api_key.revoked'],
  );
});

test('a request that is repeated under its key is logged once', async () => {
  const company = await app.company();
  const send = () => company.post('/manage/advisers', EVE, { 'idempotency-key': 'once' });
  const { events } = await logged(company, () => send().then(send));
  assert.equal(events.length, 1);
});

test('the use of a key and the tokens of a client are no changes', async () => {
  const company = await app.company();
  const client = await ok(company.post('/manage/clients', ALPHA));
  const key = await ok(company.post('/manage/keys', { name: 'used', scopes: ['manage'] }));
  const credentials = { client_id: client.id, client_secret: client.client_secret };
  const { events } = await logged(company, async () => {
    const { access_token } = await ok(
      app.anonymous.post('/oauth/token', { grant_type: 'client_credentials', ...credentials }),
    );
    app.clock.advance({ minutes: 2 });
    await ok(caller(app.baseUrl, key.key).get('/manage/company'));
    return app.anonymous.post('/oauth/revoke', { token: access_token, ...credentials });
  });
  assert.deepEqual(events, []);
  const [token] = await app.sql<{ id: string }>('SELECT id FROM tokens WHERE client_id = $1', [client.id]);
  assert.equal((await company.get(`/manage/keys/${token?.id}/history`)).status, 404);
});
