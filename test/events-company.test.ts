import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import type { Statement } from '../src/kernel/sql/statement.ts';
import { type Firm, openWorld } from './harness/app.ts';
import { type Answer, type Caller, caller } from './harness/http.ts';
import { secrets } from './harness/meeting-rooms.ts';
import { overlapping } from './harness/overlap.ts';
import { CREDENTIALS } from './harness/zoom.ts';

/** What the log keeps of the company itself, its advisers, cases, customers, tags, clients and keys. */

const world = await openWorld({ secrets });
const UNKNOWN = '0198c0de-0000-7000-8000-000000000000';
const ZOOM = { provider: 'zoom', ...CREDENTIALS };

type Image = Record<string, unknown>;
type Event = {
  id: string;
  type: string;
  actor: Image;
  request_id: string | null;
  case_id: string | null;
  record: { type: string; id: string };
  changed: string[] | null;
  before: Image | null;
  after: Image | null;
};

async function ok(answer: Promise<Answer>) {
  const { status, body, text } = await answer;
  assert.equal(status, 200, text);
  return body;
}

const historyOf = (firm: Caller, path: string): Promise<Event[]> => ok(firm.get(`${path}/history?limit=500`));

/** The answer of what is done, and every entry that it leaves in the firm's log. */
async function logged(firm: Caller, work: () => Promise<Answer>): Promise<{ answer: Answer; events: Event[] }> {
  const { headers } = await firm.get('/events?after=latest');
  const [, next = ''] = /<(.*)>/.exec(String(headers.link)) ?? [];
  const answer = await work();
  return { answer, events: await ok(firm.get(next)) };
}

/** The key with which the firm calls. */
async function keyOf(firm: Firm): Promise<Image> {
  const [{ id, name }] = await ok(firm.get('/manage/keys'));
  return { type: 'key', id, name };
}

async function adviserOf(firm: Firm): Promise<string> {
  const [{ id }] = await ok(firm.get(`/manage/advisers?search=${firm.adviser}`));
  return `/manage/advisers/${id}`;
}
const customerOf = ({ caseId, customers }: Firm) => `/manage/cases/${caseId}/customers/${customers[0].id}`;
const caseOf = ({ caseId }: Firm) => `/manage/cases/${caseId}`;
const made = (list: string, body: unknown) => async (firm: Firm) => `${list}/${(await ok(firm.post(list, body))).id}`;
const clientOf = made('/manage/clients', { name: 'website', scopes: ['invoices:read'] });
const otherKeyOf = made('/manage/keys', { name: 'export', scopes: ['invoices:read'] });
/** As it is after a request to the path below it. */
const after =
  (path: (firm: Firm) => Promise<string> | string, method: string, below = '', body?: unknown) =>
  async (firm: Firm) => {
    const found = await path(firm);
    await ok(firm.send(method, `${found}${below}`, body));
    return found;
  };

const company = () => '/manage/company';
const EVE = { email: 'eve@firm.example', name: 'Eve Example' };
const DOE = { title: 'Ms', first_names: 'Jane', last_name: 'Doe', email: 'jane@client.example', phone: '07400 111222' };
const ALPHA = { name: 'alpha', scopes: ['invoices:read'] };

type Write = {
  type: string;
  /** Where the record is read; where the request makes it, the list that it is then in. */
  path: (firm: Firm) => Promise<string> | string;
  method: string;
  below?: string;
  body?: unknown;
  inCase?: boolean;
};

const CREATES: Write[] = [
  { type: 'adviser.created', path: () => '/manage/advisers', method: 'POST', body: EVE },
  { type: 'case.created', path: () => '/manage/cases', method: 'POST', body: { reference: 'Doe' } },
  { type: 'customer.created', path: (firm) => `${caseOf(firm)}/customers`, method: 'POST', body: DOE, inCase: true },
  { type: 'api_client.created', path: () => '/manage/clients', method: 'POST', body: ALPHA },
  { type: 'api_key.created', path: () => '/manage/keys', method: 'POST', body: ALPHA },
];

const CHANGES: Write[] = [
  { type: 'company.updated', path: company, method: 'PATCH', body: { terms: 'Net', reminder_lead_days: 3 } },
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
  { type: 'customer.updated', path: customerOf, method: 'PATCH', body: { phone: null, title: 'Dr' }, inCase: true },
  { type: 'customer.removed', path: customerOf, method: 'DELETE', inCase: true },
  { type: 'customer.restored', path: after(customerOf, 'DELETE'), method: 'POST', below: '/restore', inCase: true },
  { type: 'api_client.updated', path: clientOf, method: 'PATCH', body: { name: 'b', scopes: ['manage'] } },
  { type: 'api_client.rotated', path: clientOf, method: 'POST', below: '/rotate' },
  { type: 'api_client.disabled', path: clientOf, method: 'POST', below: '/disable' },
  { type: 'api_client.enabled', path: after(clientOf, 'POST', '/disable'), method: 'POST', below: '/enable' },
  { type: 'api_key.revoked', path: otherKeyOf, method: 'DELETE' },
];

/** The fields of an image: these and no others. */
const COMPANY =
  'id name time_zone phone_region terms payment_terms reminder_lead_days sender_name sender_address contact_email';
const FIELDS: Record<string, string> = {
  company: `${COMPANY} created_at updated_at`,
  adviser: 'id email name active video_provider video_account created_at updated_at removed_at',
  case: 'id reference created_at updated_at',
  customer: 'id case_id title first_names last_name email phone created_at updated_at removed_at',
  api_client: 'id name scopes created_at updated_at rotated_at disabled_at created_by rotated_by',
  api_key: 'id name scopes created_at expires_at revoked_at created_by',
};

/** What the API shows of a record, the image shows too; but for what is no part of it. */
function assertShows(image: Image | null, shown: Image, type: string): void {
  const { customers, last_used_at, key, client_secret, ...fields } = shown;
  assert.ok(image, 'an image');
  assert.deepEqual(Object.keys(image), FIELDS[type]?.split(' '));
  assert.deepEqual({ ...image, ...fields }, image);
}

for (const { type, path, method, below = '', body, inCase } of CREATES) {
  test(`${type} is the one entry of a create: by whom, in which request, and what there is now`, async () => {
    const firm = await world.firm();
    const actor = await keyOf(firm);
    const list = await path(firm);
    const { answer, events } = await logged(firm, () => firm.send(method, `${list}${below}`, body));
    assert.equal(answer.status, 200, answer.text);
    assert.equal(events.length, 1);
    const [event] = events as [Event];
    assert.equal(event.type, type);
    assert.deepEqual(event.actor, actor);
    assert.equal(event.request_id, answer.headers['x-request-id']);
    assert.deepEqual(event.record, { type: type.split('.')[0], id: answer.body.id });
    assert.equal(event.case_id, type === 'case.created' ? answer.body.id : inCase ? firm.caseId : null);
    assert.deepEqual([event.before, event.changed], [null, null]);
    assertShows(event.after, answer.body, event.record.type);
    assert.deepEqual(await historyOf(firm, `${list}/${answer.body.id}`), events);
  });
}

for (const { type, path, method, below = '', body, inCase } of CHANGES) {
  test(`${type} is the one entry of ${method} …${below}: what was, and what became of it`, async () => {
    const firm = await world.firm();
    const actor = await keyOf(firm);
    const one = await path(firm);
    const current = async () => (await historyOf(firm, one)).at(-1)?.after ?? null;
    const shown = await firm.get(one);
    const was = await current();
    world.clock.advance({ minutes: 1 });
    const { answer, events } = await logged(firm, () => firm.send(method, `${one}${below}`, body));
    assert.equal(answer.status, 200, answer.text);
    assert.equal(events.length, 1);
    const [event] = events as [Event];
    assert.equal(event.type, type);
    assert.deepEqual(event.actor, actor);
    assert.equal(event.request_id, answer.headers['x-request-id']);
    assert.equal(event.case_id, inCase ? firm.caseId : null);
    const record = event.record.type;
    assert.deepEqual(event.before, was);
    if (shown.status === 200) assertShows(event.before, shown.body, record);
    const now = await firm.get(one);
    if (now.status === 200) assertShows(event.after, now.body, record);
    else assert.equal(event.after?.removed_at, answer.body.removed_at);
    const differing = Object.keys(event.after ?? {}).filter(
      (name) => JSON.stringify(event.before?.[name]) !== JSON.stringify(event.after?.[name]),
    );
    assert.deepEqual(event.changed, differing.sort());
    assert.notEqual(differing.length, 0);
    assert.deepEqual((await historyOf(firm, one)).at(-1), event);
  });
}

test('the entry of an adviser says which video account, before and after', async () => {
  const firm = await world.firm();
  const adviser = await adviserOf(firm);
  const zoom = { account_id: ZOOM.account_id, user: ZOOM.user };
  const put = (body: unknown) => ok(firm.send('PUT', `${adviser}/video-account`, body));
  await put(ZOOM);
  await put({ ...ZOOM, client_id: 'another', client_secret: 'another-secret' });
  await put({ ...ZOOM, user: 'other@firm.example' });
  await put({ provider: 'jitsi' });
  const seen = (await historyOf(firm, adviser)).map(({ after }) => [after?.video_provider, after?.video_account]);
  assert.deepEqual(seen, [
    [null, null],
    ['zoom', zoom],
    ['zoom', zoom],
    ['zoom', { ...zoom, user: 'other@firm.example' }],
    ['jitsi', null],
  ]);
});

test('a case that is opened with customers has one entry and each customer has one, the case first', async () => {
  const firm = await world.firm();
  const customers = ['Doe', 'Roe', 'Poe', 'Loe'].map((last_name) => ({ last_name }));
  const body = { reference: 'Doe and others', customers };
  const { answer, events } = await logged(firm, () => firm.post('/manage/cases', body));
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
  assert.deepEqual(await ok(firm.get(`/cases/${opened.id}/events`)), events);
});

test('a tag is made and removed, again and again, and each time there is an entry', async () => {
  const firm = await world.firm();
  const actor = await keyOf(firm);
  const { events } = await logged(firm, async () => {
    for (let round = 0; round < 2; round++) {
      await ok(firm.post('/manage/custom-tags', { tag: 'gold' }));
      world.clock.advance({ minutes: 1 });
      await ok(firm.delete('/manage/custom-tags/gold'));
    }
    return firm.post('/manage/custom-tags', { tag: 'silver' });
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
  const tags = await ok(firm.get('/manage/custom-tags'));
  assert.deepEqual(
    events[4]?.after,
    tags.find(({ tag }: { tag: string }) => tag === 'silver'),
  );
});

test('a company is set up by an operator’s key, and its log says so from the first entry on', async () => {
  const office = await world.firm();
  const operator = await office.withScopes('operator');
  const made = await operator.post('/manage/companies', { name: 'New & Co' });
  const changed = await operator.patch(`/manage/companies/${made.body.id}`, { name: 'Newer & Co' });
  const given = await operator.post(`/manage/companies/${made.body.id}/keys`, {
    name: 'first',
    scopes: ['manage', 'events:read'],
  });
  const events: Event[] = await ok(caller(world.baseUrl, given.body.key).get('/events'));
  assert.deepEqual(
    events.map(({ type, request_id, before, after }) => [type, request_id, before?.name, after?.name]),
    [
      ['company.created', made.headers['x-request-id'], undefined, 'New & Co'],
      ['company.updated', changed.headers['x-request-id'], 'New & Co', 'Newer & Co'],
      ['api_key.created', given.headers['x-request-id'], undefined, 'first'],
    ],
  );
  const keys: { id: string; scopes: string[] }[] = await ok(office.get('/manage/keys'));
  const { id } = keys.find(({ scopes }) => scopes.includes('operator')) ?? { id: '' };
  for (const { actor } of events) assert.deepEqual(actor, { type: 'key', id, name: 'test' });
});

test('what is done without a key is the operator’s, and an access token counts as its client', async () => {
  const firm = await world.firm();
  const [first]: Event[] = await ok(firm.get('/events?limit=1'));
  assert.deepEqual([first?.type, first?.actor, first?.request_id], ['company.created', { type: 'operator' }, null]);
  const client = await ok(firm.post('/manage/clients', { name: 'website', scopes: ['manage'] }));
  const { access_token } = await ok(
    world.anonymous.post('/oauth/token', {
      grant_type: 'client_credentials',
      client_id: client.id,
      client_secret: client.client_secret,
    }),
  );
  const website = caller(world.baseUrl, access_token);
  const { events } = await logged(firm, () => website.patch('/manage/company', { terms: 'Net' }));
  assert.deepEqual(
    events.map(({ actor }) => actor),
    [{ type: 'client', id: client.id, name: 'website' }],
  );
});

const REFUSED: Record<string, (firm: Firm) => Promise<() => Promise<Answer>>> = {
  'a company in an unknown zone': async (firm) => () => firm.patch('/manage/company', { time_zone: 'Europe/Nowhere' }),
  'a company onto another state of it': async (firm) => () =>
    firm.patch('/manage/company', { terms: 'Net' }, { 'if-match': '"another"' }),
  'an adviser without a name': async (firm) => () => firm.post('/manage/advisers', { email: 'a@firm.example' }),
  'an adviser with a taken email': async (firm) => () =>
    firm.post('/manage/advisers', { email: firm.adviser, name: 'A' }),
  'a change to a taken email': async (firm) => {
    const adviser = await adviserOf(firm);
    return () => firm.patch(adviser, { email: firm.adviserWithVideo });
  },
  'Zoom without credentials': async (firm) => {
    const adviser = await adviserOf(firm);
    return () => firm.patch(adviser, { video_provider: 'zoom' });
  },
  'an account that lacks its secret': async (firm) => {
    const adviser = await adviserOf(firm);
    return () => firm.send('PUT', `${adviser}/video-account`, { ...ZOOM, client_secret: null });
  },
  'a disconnection of nothing': async (firm) => {
    const adviser = await adviserOf(firm);
    return () => firm.delete(`${adviser}/video-account`);
  },
  'a second removal of an adviser': async (firm) => {
    const adviser = await after(adviserOf, 'DELETE')(firm);
    return () => firm.delete(adviser);
  },
  'a restore of an adviser who is there': async (firm) => {
    const adviser = await adviserOf(firm);
    return () => firm.post(`${adviser}/restore`);
  },
  'a case with a faulty customer': async (firm) => () =>
    firm.post('/manage/cases', { reference: 'A', customers: [DOE, { last_name: 'Doe', phone: 'none' }] }),
  'a case without a reference': async (firm) => () => firm.patch(caseOf(firm), { reference: '' }),
  'a customer of an unknown case': async (firm) => () => firm.post(`/manage/cases/${UNKNOWN}/customers`, DOE),
  'a customer with a faulty email': async (firm) => () => firm.patch(customerOf(firm), { email: 'none' }),
  'a second removal of a customer': async (firm) => {
    const customer = await after(customerOf, 'DELETE')(firm);
    return () => firm.delete(customer);
  },
  'a restore of a customer who is there': async (firm) => () => firm.post(`${customerOf(firm)}/restore`),
  'a tag that is taken': async (firm) => () => firm.post('/manage/custom-tags', { tag: firm.customTags[0] }),
  'a tag that is not there': async (firm) => () => firm.delete('/manage/custom-tags/gold'),
  'a client with an unknown scope': async (firm) => () => firm.post('/manage/clients', { name: 'a', scopes: ['b'] }),
  'scopes that the caller lacks': async (firm) => {
    const client = await clientOf(firm);
    const weak = await firm.withScopes('manage');
    return () => weak.patch(client, { scopes: ['invoices:write'] });
  },
  'a rotation by a caller who lacks its scopes': async (firm) => {
    const client = await clientOf(firm);
    const weak = await firm.withScopes('manage');
    return () => weak.post(`${client}/rotate`);
  },
  'a disabling of an unknown client': async (firm) => () => firm.post(`/manage/clients/${UNKNOWN}/disable`),
  'a key that has ended already': async (firm) => () =>
    firm.post('/manage/keys', { ...ALPHA, expires_at: '2020-01-01 00:00' }),
  'a revocation of an unknown key': async (firm) => () => firm.delete(`/manage/keys/${UNKNOWN}`),
  'a caller without the scope': async (firm) => {
    const weak = await firm.withScopes('invoices:read');
    return () => weak.patch('/manage/company', { terms: 'Net' });
  },
};

for (const [name, prepare] of Object.entries(REFUSED)) {
  test(`refused and not logged: ${name}`, async () => {
    const firm = await world.firm();
    const { answer, events } = await logged(firm, await prepare(firm));
    assert.ok(answer.status >= 400 && answer.status < 500, answer.text);
    assert.deepEqual(events, []);
  });
}

test('what is so already is not logged again', async () => {
  const firm = await world.firm();
  const client = await clientOf(firm);
  const key = await otherKeyOf(firm);
  const { events } = await logged(firm, async () => {
    await ok(firm.post(`${client}/enable`));
    await ok(firm.post(`${client}/disable`));
    await ok(firm.delete(key));
    world.clock.advance({ minutes: 1 });
    const again = [await ok(firm.post(`${client}/disable`)), await ok(firm.delete(key))];
    const made = { also_ended: [], still_working: [] };
    const shown = [await ok(firm.get(client)), await ok(firm.get(key))];
    assert.deepEqual(
      again,
      shown.map((record) => ({ ...record, ...made })),
    );
    await ok(firm.post(`${client}/enable`));
    return firm.post(`${client}/enable`);
  });
  assert.deepEqual(
    events.map(({ type }) => type),
    ['api_client.disabled', 'api_key.revoked', 'api_client.enabled'],
  );
});

test('of five that disable a client, or revoke a key, at once one is logged', async () => {
  const firm = await world.firm();
  const client = await clientOf(firm);
  const key = await otherKeyOf(firm);
  const { events } = await logged(firm, async () => {
    for (const [table, path, send] of [
      ['clients', client, () => firm.post(`${client}/disable`)],
      ['tokens', key, () => firm.delete(key)],
    ] as const) {
      const held = `SELECT 1 FROM ${table} WHERE id = $1 FOR NO KEY UPDATE`;
      await overlapping(world, [[held, [path.split('/').at(-1)]]], () => Array.from({ length: 5 }, () => ok(send())));
    }
    return firm.get(client);
  });
  assert.deepEqual(
    events.map(({ type }) => type),
    ['api_client.disabled', 'api_key.revoked'],
  );
});

test('a request that is repeated under its key is logged once', async () => {
  const firm = await world.firm();
  const send = () => firm.post('/manage/advisers', EVE, { 'idempotency-key': 'once' });
  const { events } = await logged(firm, () => send().then(send));
  assert.equal(events.length, 1);
});

test('the use of a key and the tokens of a client are no changes', async () => {
  const firm = await world.firm();
  const client = await ok(firm.post('/manage/clients', ALPHA));
  const key = await ok(firm.post('/manage/keys', { name: 'used', scopes: ['manage'] }));
  const credentials = { client_id: client.id, client_secret: client.client_secret };
  const { events } = await logged(firm, async () => {
    const { access_token } = await ok(
      world.anonymous.post('/oauth/token', { grant_type: 'client_credentials', ...credentials }),
    );
    world.clock.advance({ minutes: 2 });
    await ok(caller(world.baseUrl, key.key).get('/manage/company'));
    return world.anonymous.post('/oauth/revoke', { token: access_token, ...credentials });
  });
  assert.deepEqual(events, []);
  const [token] = await world.sql<{ id: string }>('SELECT id FROM tokens WHERE client_id = $1', [client.id]);
  assert.equal((await firm.get(`/manage/keys/${token?.id}/history`)).status, 404);
});

const CONTENDED: Record<string, [path: (firm: Firm) => Promise<string> | string, field: string]> = {
  'the company': [company, 'terms'],
  'an adviser': [adviserOf, 'name'],
  'a case': [caseOf, 'reference'],
  'a customer': [customerOf, 'last_name'],
  'a client': [clientOf, 'name'],
};

for (const [name, [path, field]] of Object.entries(CONTENDED)) {
  test(`twenty changes of ${name} at once are a chain: each became what its request sent`, async () => {
    const firm = await world.firm();
    const one = await path(firm);
    const first = (await historyOf(firm, one)).at(-1)?.after?.[field];
    const values = Array.from({ length: 20 }, (_, i) => `value ${i}`);
    const answers = await Promise.all(values.map((value) => firm.patch(one, { [field]: value })));
    for (const { status, text } of answers) assert.equal(status, 200, text);
    const sent = new Map(answers.map(({ headers }, i) => [headers['x-request-id'], values[i]]));
    const events = (await historyOf(firm, one)).slice(-20);
    assert.deepEqual(
      events.map(({ after }) => after?.[field]),
      events.map(({ request_id }) => sent.get(String(request_id))),
    );
    assert.deepEqual(
      events.map(({ before }) => before?.[field]),
      [first, ...events.slice(0, -1).map(({ after }) => after?.[field])],
    );
    assert.equal((await ok(firm.get(one)))[field], events.at(-1)?.after?.[field]);
  });

  test(`a change of ${name} that had to wait logs what it then found`, async () => {
    const firm = await world.firm();
    const one = await path(firm);
    const table = { company: 'companies', case: 'cases', client: 'clients' }[name.split(' ')[1] ?? ''];
    const id = name === 'the company' ? firm.companyId : one.split('/').at(-1);
    const held = `UPDATE ${table ?? `${name.split(' ')[1]}s`} SET ${field} = 'meanwhile' WHERE id = $1`;
    const [answer] = await overlapping(world, [[held, [id]]], () => [firm.patch(one, { [field]: 'mine' })]);
    assert.equal(answer?.status, 200, String(answer?.text));
    const event = (await historyOf(firm, one)).at(-1);
    assert.deepEqual([event?.before?.[field], event?.after?.[field]], ['meanwhile', 'mine']);
  });
}

test('accounts and names of an adviser that are changed at once: no entry tells of another’s change', async () => {
  const firm = await world.firm();
  const adviser = await adviserOf(firm);
  const requests = Array.from({ length: 20 }, (_, i) =>
    i % 2 === 0
      ? { field: 'name', value: `name ${i}`, send: () => firm.patch(adviser, { name: `name ${i}` }) }
      : {
          field: 'video_account',
          value: { account_id: ZOOM.account_id, user: `${i}@firm.example` },
          send: () => firm.send('PUT', `${adviser}/video-account`, { ...ZOOM, user: `${i}@firm.example` }),
        },
  );
  const answers = await Promise.all(requests.map(({ send }) => send()));
  const sent = new Map(answers.map(({ headers }, i) => [headers['x-request-id'], requests[i]]));
  const events = (await historyOf(firm, adviser)).slice(-20);
  assert.equal(events.length, 20);
  for (const { request_id, before, after, changed } of events) {
    const { field = '', value } = sent.get(String(request_id)) ?? {};
    assert.deepEqual(after?.[field], value);
    const others = changed?.filter((name) => ![field, 'updated_at', 'video_provider'].includes(name));
    assert.deepEqual(others, [], JSON.stringify({ before, after }));
  }
});

for (const [name, method, below, body] of [
  ['update', 'PATCH', '', { name: 'mine' }],
  ['removal', 'DELETE', '', undefined],
  ['connection', 'PUT', '/video-account', { provider: 'jitsi' }],
  ['disconnection', 'DELETE', '/video-account', undefined],
] as const) {
  test(`the ${name} of an adviser who has got an account meanwhile logs that account`, async () => {
    const firm = await world.firm();
    const adviser = await adviserOf(firm);
    if (name === 'disconnection') await ok(firm.patch(adviser, { video_provider: 'jitsi' }));
    const values = [firm.companyId, adviser.split('/').at(-1), UNKNOWN.replace(/0$/, String(name.length % 10))];
    const [answer] = await overlapping(
      world,
      [
        [
          `INSERT INTO video_accounts (company_id, adviser_id, id, account_id, client_id, host, created_at, updated_at)
           VALUES ($1, $2, $3, 'acme', 'app', 'me', now(), now())`,
          values,
        ],
        [
          `UPDATE advisers SET video_provider = 'zoom', video_account_id = $3 WHERE company_id = $1 AND id = $2`,
          values,
        ],
      ],
      () => [firm.send(method, `${adviser}${below}`, body)],
    );
    assert.equal(answer?.status, 200, String(answer?.text));
    const event = (await historyOf(firm, adviser)).at(-1);
    assert.deepEqual(event?.before?.video_account, { account_id: 'acme', user: 'me' });
  });
}

test('the log holds no secret, no hash and nothing sealed', async () => {
  const firm = await world.firm();
  const client = await ok(firm.post('/manage/clients', { name: 'website', scopes: ['manage'] }));
  const rotated = await ok(firm.post(`/manage/clients/${client.id}/rotate`));
  await ok(firm.patch(`/manage/clients/${client.id}`, { name: 'site' }));
  await ok(firm.post(`/manage/clients/${client.id}/disable`));
  await ok(firm.post(`/manage/clients/${client.id}/enable`));
  const { access_token } = await ok(
    world.anonymous.post('/oauth/token', {
      grant_type: 'client_credentials',
      client_id: client.id,
      client_secret: rotated.client_secret,
    }),
  );
  const key = await ok(firm.post('/manage/keys', ALPHA));
  await ok(firm.delete(`/manage/keys/${key.id}`));
  const adviser = await adviserOf(firm);
  await ok(firm.send('PUT', `${adviser}/video-account`, ZOOM));
  const [account] = await world.sql<{ sealed_secret: string }>(
    'SELECT sealed_secret FROM video_accounts WHERE company_id = $1',
    [firm.companyId],
  );
  await ok(firm.patch(adviser, { name: 'A' }));
  await ok(firm.delete(`${adviser}/video-account`));
  await ok(firm.patch('/manage/company', { terms: 'Net' }));
  const [{ event_key } = { event_key: Buffer.alloc(0) }] = await world.sql<{ event_key: Buffer }>(
    'SELECT event_key FROM companies WHERE id = $1',
    [firm.companyId],
  );

  const stored = await world.sql<{ text: string }>('SELECT e::text AS text FROM events e WHERE company_id = $1', [
    firm.companyId,
  ]);
  const log = `${stored.map(({ text }) => text).join('\n')}\n${(await firm.get('/events?limit=500')).text}`;
  assert.ok(account?.sealed_secret);
  const given: string[] = [
    client.client_secret,
    rotated.client_secret,
    access_token,
    key.key,
    firm.token,
    ZOOM.client_secret,
  ];
  const hashes = given.map((secret) => createHash('sha256').update(secret).digest());
  const encoded = [...hashes, event_key].flatMap((bytes) =>
    (['hex', 'base64', 'base64url'] as const).map((encoding) => bytes.toString(encoding)),
  );
  for (const secret of [...given, ...encoded, account.sealed_secret]) assert.ok(!log.includes(secret), secret);
  assert.doesNotMatch(log, /crs?_[\w-]{20}|sha256|sealed|generation|event_key/);
});

test('the history of what was removed can be read, with its removal', async () => {
  const firm = await world.firm();
  for (const path of [await after(adviserOf, 'DELETE')(firm), await after(customerOf, 'DELETE')(firm)]) {
    assert.equal((await firm.get(path)).status, 404);
    const types = (await historyOf(firm, path)).map(({ type }) => type.split('.')[1]);
    assert.deepEqual(types, ['created', 'removed']);
    assert.deepEqual(await ok(firm.get(`${path}/history?after=latest`)), []);
  }
  await ok(firm.delete(`/manage/custom-tags/${firm.customTags[0]}`));
  const tags: Event[] = await ok(firm.get('/events?types=tag.removed'));
  assert.deepEqual([tags[0]?.before?.tag, tags[0]?.after], [firm.customTags[0], null]);
});

test('the history of another company’s record, of another case’s, of another kind and of none is 404', async () => {
  const firm = await world.firm();
  const other = await world.firm();
  const mine = [adviserOf, caseOf, customerOf, clientOf, otherKeyOf];
  for (const path of mine) {
    const one = await path(firm);
    assert.equal((await firm.get(`${one}/history`)).status, 200);
    assert.equal((await other.get(`${one}/history`)).status, 404);
    assert.equal((await firm.get(`${one.slice(0, -36)}${UNKNOWN}/history`)).status, 404);
  }
  const elsewhere = await firm.openCase();
  assert.equal((await firm.get(customerOf(firm).replace(firm.caseId, elsewhere).concat('/history'))).status, 404);
  const adviser = (await adviserOf(firm)).split('/').at(-1);
  assert.equal((await firm.get(`/manage/clients/${adviser}/history`)).status, 404);
  const reader = await firm.withScopes('interactions:read');
  for (const id of [firm.customers[0].id, firm.caseId]) {
    assert.equal((await reader.get(`${firm.path}/interactions/${id}/history`)).status, 404);
  }
});

test('a history asks for the scope with which its record is read', async () => {
  const firm = await world.firm();
  const reader = await firm.withScopes('events:read', 'interactions:read');
  const manager = await firm.withScopes('manage');
  for (const path of [company, adviserOf, caseOf, customerOf, clientOf, otherKeyOf]) {
    const one = await path(firm);
    assert.equal((await reader.get(`${one}/history`)).status, 403);
    assert.equal((await manager.get(`${one}/history`)).status, 200);
  }
});

/** Why a statement that writes into one of the tables logs nothing. */
const UNLOGGED: Record<string, string> = {
  'tokens.note_uses': 'when a key was last used is no change of it',
  'oauth.issue': 'access tokens are no records',
  'oauth.revoke': 'access tokens are no records',
  'video_accounts.forget': 'a sealed secret is shown nowhere',
  'video_accounts.reencrypt': 'a sealed secret is shown nowhere',
};

test('every statement that writes into the tables of these records also writes into the log', async () => {
  const root = new URL('../src/', import.meta.url);
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.sql.ts'));
  const modules = await Promise.all(files.map((file) => import(new URL(file, root).href)));
  const tables = 'companies|advisers|cases|customers|custom_tags|clients|tokens|video_accounts';
  const writes = new RegExp(`\\b(INSERT INTO|UPDATE|DELETE FROM)\\s+(ONLY\\s+)?(${tables})\\b`);
  const writing = statementsIn(modules).filter(({ text }) => writes.test(text));
  const unlogged = writing.filter(({ text }) => !/\bINSERT INTO events\b/.test(text)).map(({ name }) => name);
  assert.deepEqual([...new Set(unlogged)].sort(), Object.keys(UNLOGGED).sort());
  assert.ok(writing.length >= 25, `${writing.length} statements`);
});

function statementsIn(value: unknown): Statement[] {
  if (typeof value !== 'object' || value === null) return [];
  const { name, text } = value as Partial<Statement>;
  if (typeof name === 'string' && typeof text === 'string') return [{ name, text }];
  return Object.values(value).flatMap(statementsIn);
}
