import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { SecretBox } from '../src/kernel/secret-box.ts';
import { startApp, type TestCompany } from './harness/app.ts';
import { invoiceBody } from './harness/bodies.ts';
import { messageWorker, Recorder } from './harness/message-worker.ts';

const app = await startApp({ secrets: new SecretBox([randomBytes(32)]) });

const CALL = { type: 'phone', notes: 'First call' };
const PERSON = { entity_id: 'person', title: 'Ms', first_names: 'Jane', last_name: 'Doe', relationship: {} };
const INVOICE = invoiceBody({ items: [{ description: 'Will', quantity: 1, rate: 100, amount: 120 }] });
const booking = (company: TestCompany) => ({
  adviser_email: company.adviser,
  start_time: '2026-12-01 10:00:00',
  end_time: '2026-12-01 11:00:00',
  email_recipient: company.customers[0].email,
  email_confirmation: true,
  email_notification: true,
  sms_recipient: '07400 123456',
  sms_notification: true,
});

type Step = readonly [method: string, below: string, body?: unknown];
type Kind = { what: string; list: (company: TestCompany) => string; body: (company: TestCompany) => unknown };

const CASE_RECORDS: (Kind & { steps: Step[] })[] = [
  {
    what: 'an interaction',
    list: ({ path }) => `${path}/interactions`,
    body: () => CALL,
    steps: [
      ['PATCH', '', { ...CALL, notes: 'Changed' }],
      ['DELETE', ''],
      ['POST', '/restore'],
    ],
  },
  {
    what: 'an address book entry',
    list: ({ path }) => `${path}/address-book/entry`,
    body: () => ({ ...PERSON, tags: ['executor'] }),
    steps: [
      ['PATCH', '', { ...PERSON, address: { address_1: '1 High Street' } }],
      ['DELETE', '/tags/executor'],
      ['DELETE', ''],
      ['POST', '/restore'],
    ],
  },
  {
    what: 'an invoice',
    list: ({ path }) => `${path}/invoices`,
    body: () => INVOICE,
    steps: [
      ['PATCH', '', { ...INVOICE, items: undefined, payment_terms: '14 days' }],
      ['POST', '/sent', {}],
      ['POST', '/cancel'],
      ['POST', '/reinstate'],
      ['POST', '/payments', { amount: 120 }],
      ['PATCH', '', { ...INVOICE, items: undefined, payment_terms: '7 days' }],
    ],
  },
  {
    what: 'an appointment',
    list: ({ path }) => `${path}/appointments`,
    body: booking,
    steps: [
      ['PATCH', '', { notes: 'Bring the deeds' }],
      ['PATCH', '', { start_time: '2026-12-03 10:00:00', end_time: '2026-12-03 11:00:00', email_confirmation: true }],
      ['PATCH', '/outcome', { cancelled: true }],
      ['PATCH', '/outcome', { cancelled: false }],
      ['DELETE', ''],
      ['POST', '/restore'],
    ],
  },
];

const COMPANY_RECORDS: (Kind & { steps: Step[] })[] = [
  {
    what: 'an adviser',
    list: () => '/manage/advisers',
    body: () => ({ email: 'a@firm.example', name: 'A' }),
    steps: [['PATCH', '', { name: 'B' }]],
  },
  {
    what: 'a case',
    list: () => '/manage/cases',
    body: () => ({ reference: 'R1' }),
    steps: [['PATCH', '', { reference: 'R2' }]],
  },
  {
    what: 'a customer',
    list: ({ caseId }) => `/manage/cases/${caseId}/customers`,
    body: () => ({ title: 'Dr', first_names: 'A', last_name: 'B', email: 'ab@client.example' }),
    steps: [['PATCH', '', { last_name: 'C' }]],
  },
];

const noHeaders = () => ({});
const keyed = () => ({ 'idempotency-key': randomUUID() });

for (const { what, list, body, steps } of [...CASE_RECORDS, ...COMPANY_RECORDS]) {
  for (const [how, headers] of [
    ['', noHeaders],
    [' with a key', keyed],
  ] as const) {
    test(`each write that shows ${what}${how} has the tag that a read then has`, async () => {
      const company = await app.company();
      const created = await company.post(list(company), body(company), headers());
      assert.equal(created.status, 200, created.text);
      const path = `${list(company)}/${created.body.id}`;
      const seen = new Set<unknown>();
      const check = async (written: typeof created, step: string) => {
        const read = await company.get(path);
        assert.equal(written.headers.etag, read.status === 200 ? read.headers.etag : undefined, step);
        if (read.status !== 200) return;
        assert.ok(!seen.has(read.headers.etag), `${step} changes the tag`);
        seen.add(read.headers.etag);
      };
      await check(created, 'create');
      for (const [method, below, sent] of steps) {
        const written = await company.send(method, path + below, sent, headers());
        assert.equal(written.status, 200, written.text);
        await check(written, `${method} ${below}`);
      }
    });
  }

  test(`each write to ${what} can depend on the tag of the one before, and is replayed with its own`, async () => {
    const company = await app.company();
    const created = await company.post(list(company), body(company));
    const path = `${list(company)}/${created.body.id}`;
    let etag = String(created.headers.etag);
    for (const [method, below, sent] of steps) {
      // A record that is deleted cannot be read, so it has no tag that a restoration could depend on.
      const isShown = (await company.get(path)).status === 200;
      const both = { ...keyed(), ...(isShown && { 'if-match': etag }) };
      const written = await company.send(method, path + below, sent, both);
      const again = await company.send(method, path + below, sent, both);
      assert.deepEqual([written.status, again.status], [200, 200], `${method} ${below}: ${written.text}`);
      assert.deepEqual([again.text, again.headers.etag], [written.text, written.headers.etag]);
      assert.equal(again.headers['idempotency-replayed'], 'true');
      etag = String((await company.get(path)).headers.etag);
    }
  });
}

for (const { what, list, body, steps } of CASE_RECORDS) {
  const [method, below, sent] = steps[0] as Step;

  test(`of twenty writers with keys who read the same state of ${what} exactly one writes`, async () => {
    const company = await app.company();
    const created = await company.post(list(company), body(company));
    const path = `${list(company)}/${created.body.id}`;
    const write = () =>
      company.send(method, path + below, sent, { ...keyed(), 'if-match': String(created.headers.etag) });
    const answers = await Promise.all(Array.from({ length: 20 }, write));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(19).fill(412)]);
  });

  test(`the tag of ${what} changes with the time zone of the company, in which it is shown`, async () => {
    const company = await app.company();
    const created = await company.post(list(company), body(company));
    const path = `${list(company)}/${created.body.id}`;
    assert.equal((await company.patch('/manage/company', { time_zone: 'America/New_York' })).status, 200);
    app.clock.advance({ seconds: 3 });
    const read = await company.get(path, { 'if-none-match': String(created.headers.etag) });
    assert.equal(read.status, 200);
    assert.notEqual(read.headers.etag, created.headers.etag);
    const stale = { 'if-match': String(created.headers.etag) };
    assert.equal((await company.send(method, path + below, sent, stale)).status, 412);
  });
}

test('a replay has the tag of the first response, also when the company has another time zone since', async () => {
  const company = await app.company();
  const header = keyed();
  const first = await company.post(`${company.path}/appointments`, booking(company), header);
  assert.equal((await company.patch('/manage/company', { time_zone: 'America/New_York' })).status, 200);
  app.clock.advance({ seconds: 3 });
  const again = await company.post(`${company.path}/appointments`, booking(company), header);
  assert.deepEqual([again.text, again.headers.etag], [first.text, first.headers.etag]);
});

test('a message that was sent changes the tag of its appointment', async () => {
  const company = await app.company();
  const created = await company.post(`${company.path}/appointments`, booking(company));
  const path = `${company.path}/appointments/${created.body.id}`;
  const post = new Recorder();
  await messageWorker(app, { email: post, sms: post }).runOnce();
  const read = await company.get(path);
  assert.equal(read.body.email_confirmation, 'sent');
  assert.notEqual(read.headers.etag, created.headers.etag);
  const write = (tag: unknown) => company.patch(path, { notes: 'Changed' }, { 'if-match': String(tag) });
  assert.equal((await write(created.headers.etag)).status, 412);
  assert.equal((await write(read.headers.etag)).status, 200);
});

test('a record that was deleted and restored has another tag than before', async () => {
  const company = await app.company();
  const created = await company.post(`${company.path}/interactions`, CALL);
  const path = `${company.path}/interactions/${created.body.id}`;
  assert.equal((await company.delete(path)).status, 200);
  const restored = await company.post(`${path}/restore`);
  assert.notEqual(restored.headers.etag, created.headers.etag);
});
