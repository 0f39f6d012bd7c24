import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { beforeEach, test } from 'node:test';
import { allStatements } from '../src/kernel/sql/statement.ts';
import { startApp, type TestCompany } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import { booking, invoiceBody, PERSON } from './harness/bodies.ts';
import { assertShows, type Event, eventsOf, type Image, typesOf } from './harness/events.ts';
import type { Headers } from './harness/http.ts';
import { messageWorker, Recorder } from './harness/message-worker.ts';
import { document } from './harness/openapi.ts';

/** Every write to a case is logged once, with the state before and after it. */

const app = await startApp();
const worker = messageWorker(app, { email: new Recorder(), sms: new Recorder() });

beforeEach(() => app.clock.set('2026-06-01T09:00:00Z'));

const ENTRY = {
  ...PERSON,
  tags: ['executor', 'witness'],
  custom_tags: ['vip-client'],
  address: { address_1: '1 High Street', postcode: 'AB1 2CD' },
};
const INVOICE = invoiceBody({ items: [{ description: 'A', quantity: 1, rate: 100, amount: 120 }] });
const visit = (company: TestCompany, fields: Image = {}) =>
  booking(company, {
    adviser_email: company.adviserWithVideo,
    email_recipient: company.customers[0].email,
    ...fields,
  });

type Request = { method: string; path: string; body?: unknown };
/** A request to send, and the path of the record that it changes, if that exists already. */
type Prepared = Request & { record?: string };
type Write = { does: string; prepare: (company: TestCompany) => Promise<Prepared> };

const made = async (company: TestCompany, list: string, body: unknown) => {
  const path = `${company.path}/${list}`;
  return `${path}/${(await ok(company.post(path, body))).id}`;
};

const creates = (list: string, body: (company: TestCompany) => unknown) => async (company: TestCompany) => ({
  method: 'POST',
  path: `${company.path}/${list}`,
  body: body(company),
});
/** The request to the path `below` a record from `make`, sent after the requests in `first`. */
const changes =
  (make: (company: TestCompany) => Promise<string>, method: string, below = '', body?: unknown, ...first: Request[]) =>
  async (company: TestCompany): Promise<Prepared> => {
    const record = await make(company);
    for (const one of first) await ok(company.send(one.method, record + one.path, one.body));
    return { method, path: record + below, body, record };
  };

const entry = (company: TestCompany) => made(company, 'address-book/entry', ENTRY);
const underscored = async (company: TestCompany) => (await entry(company)).replace('address-book', 'address_book');
const call = (company: TestCompany) => made(company, 'interactions', { type: 'phone', notes: 'a' });
const invoice = (company: TestCompany) => made(company, 'invoices', INVOICE);
const appointment = (company: TestCompany) =>
  made(company, 'appointments', visit(company, { email_notification: true }));
const meeting = (company: TestCompany) => made(company, 'appointments', visit(company, { video_meeting: true }));

const DELETE = { method: 'DELETE', path: '' };
const CANCEL = { method: 'POST', path: '/cancel' };
const CHANGED_PERSON = { ...ENTRY, last_name: 'Roe', tags: ['partner'], address: { postcode: 'ZZ9 9ZZ' } };
const CHANGED_INVOICE = { ...INVOICE, total: 240, items: [{ description: 'B', quantity: 2, rate: 100, amount: 240 }] };
const LATER = { start_time: '2026-06-21 10:00:00', end_time: '2026-06-21 11:00:00', notes: 'moved' };

const onItem =
  (verb: string, ...first: string[]) =>
  async (company: TestCompany) => {
    const record = await invoice(company);
    const item = `${record}/items/${(await ok(company.get(record))).items[0].id}`;
    for (const one of first) await ok(company.post(`${item}/${one}`));
    return { method: 'POST', path: `${item}/${verb}`, record };
  };

/** By method and path of the document, with a suffix if a path has several meanings. */
const WRITES: Record<string, Write> = Object.fromEntries(
  (
    [
      ['POST address-book/entry', 'address_book_entry.created', creates('address-book/entry', () => ENTRY)],
      ['POST address_book/entry', 'address_book_entry.created', creates('address_book/entry', () => ENTRY)],
      ...[entry, underscored].flatMap((make): [string, string, Write['prepare']][] => {
        const one = `${make === entry ? 'address-book' : 'address_book'}/entry/{entryID}`;
        return [
          [`PATCH ${one}`, 'address_book_entry.updated', changes(make, 'PATCH', '', CHANGED_PERSON)],
          [`POST ${one}`, 'address_book_entry.updated', changes(make, 'POST', '', CHANGED_PERSON)],
          [`DELETE ${one}`, 'address_book_entry.deleted', changes(make, 'DELETE')],
          [`POST ${one}/restore`, 'address_book_entry.restored', changes(make, 'POST', '/restore', undefined, DELETE)],
          [`DELETE ${one}/tags/{tag}`, 'address_book_entry.tag_removed', changes(make, 'DELETE', '/tags/executor')],
          [
            `DELETE ${one}/custom-tags/{tag}`,
            'address_book_entry.custom_tag_removed',
            changes(make, 'DELETE', '/custom-tags/vip-client'),
          ],
        ];
      }),
      ...(
        [
          ['address-book/entry', '{entryID}', 'address_book_entry', entry, () => ENTRY],
          ['address_book/entry', '{entryID}', 'address_book_entry', underscored, () => ENTRY],
          ['interactions', '{interactionId}', 'interaction', call, () => ({ type: 'phone' })],
          ['invoices', '{invoiceId}', 'invoice', invoice, () => INVOICE],
          ['appointments', '{appointmentID}', 'appointment', appointment, visit],
        ] as const
      ).flatMap(([list, id, record, make, body]): [string, string, Write['prepare']][] => [
        [
          `PUT ${list}/by-external-id/{externalId}`,
          `${record}.created`,
          async (company) => ({
            method: 'PUT',
            path: `${company.path}/${list}/by-external-id/crm-1`,
            body: body(company),
          }),
        ],
        [
          `PUT ${list}/${id}/external-id`,
          `${record}.updated`,
          changes(make, 'PUT', '/external-id', { external_id: 'crm-1' }),
        ],
      ]),
      ['POST interactions', 'interaction.created', creates('interactions', () => ({ type: 'phone' }))],
      ...['PATCH', 'POST'].map((method): [string, string, Write['prepare']] => [
        `${method} interactions/{interactionId}`,
        'interaction.updated',
        changes(call, method, '', { type: 'email', notes: 'b' }),
      ]),
      ['DELETE interactions/{interactionId}', 'interaction.deleted', changes(call, 'DELETE')],
      [
        'POST interactions/{interactionId}/restore',
        'interaction.restored',
        changes(call, 'POST', '/restore', undefined, DELETE),
      ],
      ['POST invoices', 'invoice.created', creates('invoices', () => INVOICE)],
      ...['PATCH', 'POST'].map((method): [string, string, Write['prepare']] => [
        `${method} invoices/{invoiceId}`,
        'invoice.updated',
        changes(invoice, method, '', CHANGED_INVOICE),
      ]),
      ['POST invoices/{invoiceId}/sent', 'invoice.sent', changes(invoice, 'POST', '/sent')],
      ['POST invoices/{invoiceId}/cancel', 'invoice.cancelled', changes(invoice, 'POST', '/cancel')],
      [
        'POST invoices/{invoiceId}/reinstate',
        'invoice.reinstated',
        changes(invoice, 'POST', '/reinstate', undefined, CANCEL),
      ],
      ['POST invoices/{invoiceId}/items/{itemId}/cancel', 'invoice.item_cancelled', onItem('cancel')],
      ['POST invoices/{invoiceId}/items/{itemId}/reinstate', 'invoice.item_reinstated', onItem('reinstate', 'cancel')],
      [
        'POST invoices/{invoiceId}/payments',
        'invoice.payment_recorded',
        changes(invoice, 'POST', '/payments', { amount: '120.00', reference: 'x' }),
      ],
      [
        'POST invoices/{invoiceId}/payments/{paymentId}/reverse',
        'invoice.payment_reversed',
        async (company: TestCompany) => {
          const record = await invoice(company);
          const { id } = await ok(company.post(`${record}/payments`, { amount: 120 }));
          return { method: 'POST', path: `${record}/payments/${id}/reverse`, record };
        },
      ],
      ['POST appointments', 'appointment.created', creates('appointments', booking)],
      ['PATCH appointments/{appointmentID}', 'appointment.updated', changes(appointment, 'PATCH', '', LATER)],
      ['POST appointments/{appointmentID}', 'appointment.updated', changes(appointment, 'POST', '', LATER)],
      ['DELETE appointments/{appointmentID}', 'appointment.deleted', changes(appointment, 'DELETE')],
      [
        'POST appointments/{appointmentID}/restore',
        'appointment.restored',
        changes(appointment, 'POST', '/restore', undefined, DELETE),
      ],
      [
        'PATCH appointments/{appointmentID}/outcome',
        'appointment.outcome_set',
        changes(appointment, 'PATCH', '/outcome', { type: 'review' }),
      ],
      [
        'PATCH appointments/{appointmentID}/outcome: cancelled',
        'appointment.cancelled',
        changes(appointment, 'PATCH', '/outcome', { cancelled: true, type: 'ill' }),
      ],
      [
        'PATCH appointments/{appointmentID}/outcome: not cancelled',
        'appointment.reinstated',
        changes(
          appointment,
          'PATCH',
          '/outcome',
          { cancelled: false },
          { method: 'PATCH', path: '/outcome', body: { cancelled: true } },
        ),
      ],
      [
        'POST appointments/{appointmentID}/meeting',
        'appointment.meeting_wished',
        changes(appointment, 'POST', '/meeting'),
      ],
      [
        'DELETE appointments/{appointmentID}/meeting',
        'appointment.meeting_withdrawn',
        changes(meeting, 'DELETE', '/meeting'),
      ],
      [
        'POST appointments/{appointmentID}/messages/{messageId}/resend',
        'message.resent',
        async (company: TestCompany) => {
          const record = await made(company, 'appointments', visit(company, { email_confirmation: true }));
          await worker.runOnce();
          const [{ id }] = await ok(company.get(`${record}/messages`));
          return { method: 'POST', path: `${record}/messages/${id}/resend` };
        },
      ],
    ] as [string, string, Write['prepare']][]
  ).map(([name, does, prepare]) => [name, { does, prepare }]),
);

test('every write of a case that the document has is among those that are tried here', () => {
  const tried = new Set(Object.keys(WRITES).map((name) => name.split(':', 1)[0]));
  for (const [path, operations] of Object.entries(document.paths)) {
    if (!path.startsWith('/cases/{caseId}/')) continue;
    for (const method of Object.keys(operations)) {
      if (method === 'get') continue;
      const name = `${method.toUpperCase()} ${path.slice('/cases/{caseId}/'.length)}`;
      assert.ok(tried.has(name), name);
    }
  }
});

/** The record as GET shows it, with its parts; null if there is none to read. */
async function shown(company: TestCompany, record: string | undefined): Promise<Image | null> {
  if (record === undefined) return null;
  const answer = await company.get(record.includes('/invoices/') ? `${record}?show_cancelled_items=true` : record);
  if (answer.status === 404) return null;
  assert.equal(answer.status, 200, answer.text);
  if (record.includes('/invoices/')) return { ...answer.body, payments: await ok(company.get(`${record}/payments`)) };
  if (!/address.book/.test(record)) return answer.body;
  const list: Image[] = await ok(company.get(`${company.path}/address-book`));
  return { ...answer.body, address: list.find(({ id }) => id === answer.body.data.address) };
}

const send = (company: TestCompany, { method, path, body }: Request, headers: Headers = {}) =>
  company.send(method, path, body, headers);

const counted = async ({ companyId }: TestCompany) =>
  (await app.sql<{ count: number }>('SELECT count(*)::int FROM events WHERE company_id = $1', [companyId]))[0]?.count;

for (const [name, { does, prepare }] of Object.entries(WRITES)) {
  const record = does.split('.', 1)[0] as string;

  test(`${name} is ${does}: by whom, in which request, in which case, before and after`, async () => {
    const company = await app.company();
    const [key] = await app.sql('SELECT id FROM tokens WHERE company_id = $1', [company.companyId]);
    const prepared = await prepare(company);
    const before = await shown(company, prepared.record);
    const earlier = await counted(company);
    app.clock.set('2026-06-01T10:00:00Z');
    const answer = await send(company, prepared, { 'x-request-id': 'in-this-request' });
    assert.ok(answer.status === 200 || (answer.status === 201 && prepared.record === undefined), answer.text);
    assert.equal(await counted(company), (earlier ?? 0) + 1);
    const event = (await eventsOf(company, record)).at(-1) as Event;
    const id = prepared.record?.split('/').at(-1) ?? answer.body.id;
    assert.deepEqual(
      { ...event, id: undefined, changed: undefined, before: undefined, after: undefined },
      {
        id: undefined,
        type: does,
        at: '2026-06-01T10:00:00.000000Z',
        actor: { type: 'key', id: key?.id, name: 'test' },
        request_id: 'in-this-request',
        case_id: company.caseId,
        record: { type: record, id },
        changed: undefined,
        before: undefined,
        after: undefined,
      },
    );
    if (prepared.record === undefined) assert.equal(event.before, null);
    else if (before) assertShows(event.before, before);
    else assert.equal(typeof event.before?.deleted_at, 'string');
    const after =
      record === 'message'
        ? { ...answer.body, state: null, due_at: null, attempts: null }
        : await shown(company, prepared.record ?? `${prepared.path.replace(/\/by-external-id.*/, '')}/${id}`);
    if (after) assertShows(event.after, after);
    else assert.equal(event.after?.deleted_at, answer.body.deleted_at);
    if (prepared.record) assert.ok(event.changed?.includes('updated_at'), `${event.changed}`);
    assert.equal(event.after?.id, id);
  });

  test(`${name}: sent again with its key it is in the log once; refused with If-Match it is not`, async () => {
    const company = await app.company();
    const prepared = await prepare(company);
    const before = await counted(company);
    if (prepared.record) {
      const refused = await send(company, prepared, { 'if-match': '"another"' });
      assert.ok([412, 404].includes(refused.status), refused.text);
      assert.equal(await counted(company), before);
    }
    const headers = { 'idempotency-key': randomUUID() };
    for (const replayed of [undefined, 'true']) {
      const answer = await send(company, prepared, headers);
      assert.equal(answer.status, name.includes('by-external-id') ? 201 : 200, answer.text);
      assert.equal(answer.headers['idempotency-replayed'], replayed);
      assert.equal(await counted(company), (before ?? 0) + 1);
    }
  });
}

test('what is refused is not in the log', async () => {
  const company = await app.company();
  const other = await app.company();
  const all = { entry: await entry(company), invoice: await invoice(company), visit: await appointment(company) };
  const gone = { call: await call(company), entry: await entry(company), visit: await appointment(company) };
  for (const path of Object.values(gone)) await ok(company.delete(path));
  const paid = await made(company, 'invoices', { ...INVOICE, invoice_number: 'INV-2' });
  const { id: payment } = await ok(company.post(`${paid}/payments`, { amount: 120 }));
  const before = [await counted(company), await counted(other)];
  const requests: [number, TestCompany, string, string, unknown?][] = [
    [400, company, 'POST', `${company.path}/address-book/entry`, { ...ENTRY, tags: ['no-such-tag'] }],
    [400, company, 'PATCH', all.entry, { ...ENTRY, dob: '01/01/2999' }],
    [400, company, 'PATCH', all.entry, { ...ENTRY, custom_tags: ['unknown'] }],
    [404, company, 'DELETE', `${all.entry}/tags/partner`],
    [400, company, 'POST', `${all.entry}/restore`],
    [404, company, 'DELETE', gone.entry],
    [404, other, 'PATCH', all.entry, ENTRY],
    [400, company, 'POST', `${company.path}/interactions`, { type: 'pigeon' }],
    [404, company, 'PATCH', gone.call, { type: 'phone' }],
    [400, company, 'POST', `${company.path}/invoices`, INVOICE],
    [400, company, 'PATCH', all.invoice, { ...INVOICE, invoice_number: 'INV-2' }],
    [400, company, 'POST', `${all.invoice}/payments`, { amount: '120.01' }],
    [400, company, 'POST', `${all.invoice}/reinstate`],
    [400, company, 'POST', `${paid}/cancel`],
    [404, company, 'POST', `${all.invoice}/payments/${payment}/reverse`],
    [404, company, 'POST', `${all.invoice}/items/${randomUUID()}/cancel`],
    [404, other, 'POST', `${all.invoice}/sent`],
    [
      400,
      company,
      'POST',
      `${company.path}/appointments`,
      { ...visit(company), adviser_email: 'unknown@firm.example' },
    ],
    [400, company, 'PATCH', all.visit, { end_time: '2026-06-10 09:00:00' }],
    [400, company, 'PATCH', `${all.visit}/outcome`, { attended: true }],
    [400, company, 'POST', `${all.visit}/restore`],
    [400, company, 'DELETE', `${all.visit}/meeting`],
    [404, company, 'DELETE', gone.visit],
    [404, other, 'DELETE', all.visit],
    [404, company, 'POST', `${all.visit}/messages/${randomUUID()}/resend`],
  ];
  for (const [status, company, method, path, body] of requests) {
    const answer = await company.send(method, path, body);
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`);
  }
  assert.deepEqual([await counted(company), await counted(other)], before);
});

/** Sends all concurrently. Returns the events, each with what its request had sent. */
async function atOnce<T>(company: TestCompany, path: string, sent: T[], request: (one: T) => Request) {
  const answers = await Promise.all(
    sent.map((one, i) => send(company, request(one), { 'x-request-id': `request-${i}` })),
  );
  const events: Event[] = await ok(company.get(`${path}/history?limit=500`));
  return {
    answers,
    events: events.map((event) => ({ ...event, sent: sent[Number(event.request_id?.replace('request-', ''))] })),
  };
}

const TWENTY = Array.from({ length: 20 }, (_, i) => `n-${i}`);

const UPDATES: [
  string,
  (company: TestCompany) => Promise<string>,
  (note: string) => Image,
  (image: Image) => unknown,
][] = [
  ['address book entry', entry, (note) => ({ ...ENTRY, last_name: note }), ({ data }) => data.last_name],
  [
    'address of an entry',
    entry,
    (note) => ({ ...ENTRY, address: { address_1: note } }),
    ({ address }) => address.data.address_1,
  ],
  ['interaction', call, (notes) => ({ type: 'phone', notes }), ({ notes }) => notes],
  ['invoice', invoice, (note) => ({ ...INVOICE, payment_terms: note }), ({ payment_terms }) => payment_terms],
  [
    'items of an invoice',
    invoice,
    (note) => ({ ...INVOICE, items: [{ description: note, quantity: 1, rate: 1, amount: 1 }] }),
    ({ items }) => items.map(({ description }: Image) => description).join(),
  ],
  ['appointment', appointment, (notes) => ({ notes }), ({ notes }) => notes],
];

for (const [what, make, body, noted] of UPDATES) {
  test(`twenty concurrent updates of one ${what} are a chain: each became what it sent`, async () => {
    const company = await app.company();
    const path = await make(company);
    const { answers, events } = await atOnce(company, path, TWENTY, (note) => ({
      method: 'PATCH',
      path,
      body: body(note),
    }));
    for (const { status, text } of answers) assert.equal(status, 200, text);
    const [created, ...updates] = events;
    assert.equal(updates.length, 20);
    for (const { after, sent } of updates) assert.equal(noted(after as Image), sent);
    let before = created?.after;
    for (const event of updates) {
      assert.deepEqual(event.before, before);
      before = event.after;
    }
    assertShows(before ?? null, await shown(company, path));
  });
}

test('tags that are added concurrently are added one after the other', async () => {
  const company = await app.company();
  const path = await made(company, 'address-book/entry', { ...ENTRY, tags: [] });
  const tags = [
    'accountant',
    'attorney',
    'beneficiary',
    'charity',
    'child',
    'doctor',
    'guardian',
    'partner',
    'settlor',
  ];
  const { events } = await atOnce(company, path, tags, (tag) => ({
    method: 'PATCH',
    path,
    body: { ...ENTRY, tags: [tag] },
  }));
  for (const { before, after, sent } of events.slice(1)) {
    assert.deepEqual(after?.data.tags, [...(before?.data.tags ?? []), sent]);
  }
  assert.equal(events.length, tags.length + 1);
});

test('concurrent payments and reversals: each event has the sum before and after, and none is missing', async () => {
  const company = await app.company();
  const path = await made(company, 'invoices', { ...INVOICE, total: 10 });
  const payments = await atOnce(company, path, TWENTY, (reference) => ({
    method: 'POST',
    path: `${path}/payments`,
    body: { amount: '1.00', reference },
  }));
  const taken = payments.answers.filter(({ status }) => status === 200);
  assert.equal(taken.length, 10);
  const recorded = payments.events.slice(1);
  assert.deepEqual(typesOf(recorded), Array(10).fill('invoice.payment_recorded'));
  for (const [i, { before, after, sent }] of recorded.entries()) {
    assert.deepEqual([before?.paid, after?.paid], [i, i + 1]);
    assert.deepEqual([before?.payments.length, after?.payments.length], [i, i + 1]);
    assert.ok(after?.payments.some(({ reference }: Image) => reference === sent));
  }
  const reversed = await atOnce(
    company,
    path,
    taken.map(({ body }) => body.id),
    (id) => ({ method: 'POST', path: `${path}/payments/${id}/reverse` }),
  );
  for (const { status, text } of reversed.answers) assert.equal(status, 200, text);
  const taking = reversed.events.slice(11);
  assert.equal(taking.length, 10);
  for (const [i, { before, after, sent }] of taking.entries()) {
    assert.deepEqual([before?.paid, after?.paid], [10 - i, 9 - i]);
    const isReversed = (image: Image | null) =>
      image?.payments.find(({ id }: Image) => id === sent).reversed_at !== null;
    assert.deepEqual([isReversed(before), isReversed(after)], [false, true]);
  }
});

const LOGGED = 'people|addresses|relationships|interactions|invoices|invoice_items|payments|appointments|messages';

/** Statements that write to one of these tables without an event, and why. */
const WITHOUT_ENTRY: Record<string, string> = {
  'meetings.release': 'ends a pause, which no image shows',
  'messages.hold': 'a lease, which no image shows',
  'messages.release_held': 'a lease, which no image shows',
  ...Object.fromEntries(
    ['email', 'sms'].flatMap((channel) =>
      ['claim', 'renew', 'release_lease'].map((name) => [
        `messages.${channel}.${name}`,
        'a lease, which no image shows',
      ]),
    ),
  ),
};

test('every statement that writes a record of a case writes the log', async () => {
  const root = new URL('../src/', import.meta.url);
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.sql.ts'));
  for (const file of files) await import(new URL(file, root).href);
  const writes = new RegExp(`\\b(INSERT INTO|UPDATE|DELETE FROM)\\s+(${LOGGED})\\b`);
  const writing = allStatements().filter(({ text }) => writes.test(text));
  assert.ok(writing.length > 60, `${writing.length} found`);
  const silent = writing.filter(({ text }) => !text.includes('INSERT INTO events')).map(({ name }) => name);
  assert.deepEqual(silent.sort(), Object.keys(WITHOUT_ENTRY).sort());
});
