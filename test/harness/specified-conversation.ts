import assert from 'node:assert/strict';
import type { Agent } from 'node:http';
import { PERSON } from './bodies.ts';
import { type Answer, exchange, type Headers } from './http.ts';
import { specified } from './openapi.ts';

/** The requests of a caller that knows only the specification, in each form of its twelve operations. */

type Ids = Record<string, string>;
type Form = { method: string; template: string; fields: string[] };
type Step = { method: string; path: string; body?: unknown; headers?: Headers; keep?: string };

/** Two tokens of a company, a new case of it with a customer, and a case of another company. */
export type Speaker = {
  url: string;
  agent: Agent;
  token: string;
  tokenWithoutScopes: string;
  ids: Ids;
  adviser: string;
};

/** What is compared. The time of the exchange is left out. */
export type Exchange = { request: string; status: number; headers: Answer['headers']; text: string };

/** The answers of another release need not be as this one describes them, so they are not checked against its document. */
function send({ url, agent, token }: Pick<Speaker, 'url' | 'agent' | 'token'>, step: Step): Promise<Answer> {
  const { method, path, body, headers } = step;
  const payload = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const all = { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers };
  return exchange(method, new URL(path, url), payload, all, agent);
}

const EMPTY_POST: Form = { method: 'POST', template: '/cases/{caseId}/appointments/{appointmentID}', fields: [] };
const FORMS: readonly Form[] = [
  ...Object.entries(specified).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      template,
      fields: fieldsOf(operation.requestBody),
    })),
  ),
  EMPTY_POST,
];

// biome-ignore lint/suspicious/noExplicitAny: a way into any schema
function fieldsOf(body: any): string[] {
  return Object.keys(body?.content['application/json'].schema.properties ?? {});
}

const nameOf = ({ method, template }: Pick<Form, 'method' | 'template'>) => `${method} ${template}`;
const UNKNOWN = 'a0a0a0a0-0000-4000-8000-00000000000a';
const fill = (template: string, ids: Ids) =>
  template.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? assert.fail(`no id for ${name}`));

/** Accepted requests, each creation before what needs its record. `mark`: a company has no two invoices with one number. */
function acceptedSteps({ ids, adviser }: Speaker, mark: string): Step[] {
  const steps: Step[] = [];
  for (const book of ['address-book', 'address_book']) {
    const entry = `/cases/{caseId}/${book}/entry`;
    const one = `${entry}/{entryID}`;
    const address = { address_1: '1 “High” Street', address_2: '', postcode: 'YO1 9QQ' };
    steps.push(
      { method: 'POST', path: entry, body: { ...PERSON, last_name: `of ${book}`, tags: ['executor'] } },
      {
        ...{ method: 'POST', path: entry, keep: 'entryID' },
        body: {
          ...{
            ...PERSON,
            middle_names: null,
            known_as: 'Zoë \\ "Z" \u{1f600}',
            tel_1: '07400 123456',
            dob: '01/02/1970',
          },
          ...{ email: 'jane@client.example', address, tags: ['executor'], custom_tags: ['vip-client'] },
          relationship: { [ids.customerId ?? '']: 'sister' },
        },
      },
      { method: 'PATCH', path: one, body: { ...PERSON, title: 'Dr', address: { address_2: 'Upper' }, tags: null } },
      { method: 'POST', path: one, body: { ...PERSON, title: '', relationship: {}, custom_tags: ['newsletter'] } },
      { method: 'GET', path: `/cases/{caseId}/${book}` },
    );
  }
  const times = ['2026-03-20 14:30:00', '2026-03-29T00:30:00Z', '2026-07-01 09:00', '1999-12-31T23:59:59.123456+05:30'];
  const types = ['phone', 'letter', 'SMS', 'other'];
  for (const [i, when] of times.entries())
    steps.push({
      method: 'POST',
      path: '/cases/{caseId}/interactions',
      body: { type: types[i], when, notes: `${i}\n` },
    });
  const interaction = '/cases/{caseId}/interactions/{interactionId}';
  steps.push(
    { method: 'POST', path: '/cases/{caseId}/interactions', body: { type: 'email' }, keep: 'interactionId' },
    { method: 'GET', path: '/cases/{caseId}/interactions' },
    {
      method: 'PATCH',
      path: interaction,
      body: { type: 'video_conference', when: times[2], sender: 'S', notes: null },
    },
    { method: 'POST', path: interaction, body: { type: 'appointment', recipient: 'R', sender: null } },
    { method: 'GET', path: '/cases/{caseId}/interactions' },
  );
  const invoice = (fields: object) => ({
    ...{ invoice_number: `${mark}-1`, sender_id: '5f0c1c62-5d3b-4a64-9a0e-0d3a1c2b4e5f', vat: 20, total: 120 },
    ...{ sub_total: '100.00', date_created: '2026-05-01 10:00:00', date_due: '2026-05-31 17:30:00', ...fields },
  });
  const items = [1, '2'].map((quantity) => ({ description: 'Will', quantity, rate: '10.505', amount: 12.5 }));
  const invoices = '/cases/{caseId}/invoices';
  steps.push(
    { method: 'POST', path: invoices, body: invoice({ items, payment_terms: '14 days' }), keep: 'invoiceId' },
    { method: 'POST', path: invoices, body: invoice({ invoice_number: `${mark}-2`, vat_amount: '20.005', total: -1 }) },
    { method: 'POST', path: invoices, body: invoice({}) },
    { method: 'PATCH', path: `${invoices}/{invoiceId}`, body: invoice({ items, keep_existing_items: true }) },
    { method: 'GET', path: invoices },
    { method: 'POST', path: `${invoices}/{invoiceId}`, body: invoice({ items: [], total: '0', sub_total: 0 }) },
    { method: 'PATCH', path: `${invoices}/{invoiceId}`, body: invoice({ payment_terms: null }) },
    { method: 'GET', path: invoices },
  );
  const appointments = '/cases/{caseId}/appointments';
  const one = `${appointments}/{appointmentID}`;
  const booking = { adviser_email: adviser, start_time: '2090-06-10 10:00:00', end_time: '2090-06-10T10:30:00Z' };
  const recipients = { email_recipient: 'john.smith@client.example', sms_recipient: '07400 123456' };
  const messages = { email_confirmation: true, email_notification: true, sms_notification: true };
  steps.push(
    // Its confirmation is sent, so it is not shown again.
    { method: 'POST', path: appointments, body: { ...booking, ...recipients, ...messages, notes: 'N', location: 'L' } },
    { method: 'POST', path: appointments, body: booking, keep: 'appointmentID' },
    { method: 'PATCH', path: one, body: { ...recipients, email_notification: true, notes: 'moved' } },
    { method: 'PATCH', path: one, body: { start_time: '2090-01-02 10:00', end_time: '2090-01-02 11:00', notes: null } },
    { method: 'POST', path: one, body: { sms_notification: true, email_notification: false, location: 'Town hall' } },
    { method: 'PATCH', path: one, body: {} },
    { method: 'DELETE', path: one },
    { method: 'DELETE', path: one },
    { method: 'PATCH', path: one, body: { notes: 'gone' } },
    { method: 'POST', path: appointments, body: booking, keep: 'appointmentID' },
    { method: 'POST', path: one },
    { method: 'POST', path: one },
    { method: 'POST', path: appointments, body: booking, keep: 'appointmentID' },
  );
  return steps;
}

const stepOf = ({ method, template, fields }: Form, { ids }: Speaker): Step => ({
  ...{ method, path: fill(template, ids), body: fields.length > 0 ? {} : undefined },
});

/** Requests that are refused in every form, except those that change nothing. */
function refusedSteps({ method, template, fields }: Form, { ids, tokenWithoutScopes }: Speaker): Step[] {
  const path = fill(template, ids);
  const send = (body: unknown, headers?: Headers): Step => ({ method, path, body, ...(headers && { headers }) });
  const every = (value: unknown) => send(Object.fromEntries(fields.map((field) => [field, value])));
  const body = fields.length > 0 ? {} : undefined;
  const record = /\{(?!caseId)(\w+)\}/.exec(template)?.[1];
  const at = (others: Ids): Step => ({ method, path: fill(template, { ...ids, ...others }), body });
  return [
    send(body, { authorization: `Bearer ${tokenWithoutScopes}` }),
    ...[UNKNOWN, 'x', ids.foreignCaseId ?? ''].map((caseId) => at({ caseId })),
    ...(record ? [UNKNOWN, 'x'].map((id) => at({ [record]: id })) : []),
    ...(body ? ['', '{', '[]', 'null', '{"type": 1, "type"}'].map((text) => send(text)) : []),
    ...(body ? ['{"unknown_field": 1}', '{"__proto__": 1}'].map((text) => send(text)) : []),
    ...(body ? [[[1]], 'x'.repeat(3_000), '', -1].map((value) => every(value)) : []),
    ...(body ? [send('{}', { 'content-type': 'text/plain' }), send('{}', { 'content-type': undefined })] : []),
    { method: 'PUT', path, body },
  ];
}

/**
 * Sends all requests and returns the exchanges, with the same marks in place of ids and times. A company has two
 * conversations: an address may send 30 requests without a token in a minute, so each has those of every second form.
 */
export async function converse(speaker: Speaker, conversation: 0 | 1): Promise<Exchange[]> {
  const masked = masker();
  const exchanges: Exchange[] = [];
  const say = async (step: Step) => {
    const path = fill(step.path, speaker.ids);
    const answer = await send(speaker, { ...step, path });
    const { authorization: _token, ...headers } = step.headers ?? {};
    const request = masked(`${step.method} ${path} ${JSON.stringify(headers)} ${JSON.stringify(step.body)}`);
    exchanges.push({ request: request.slice(0, 200), ...shown(answer, masked) });
    return answer;
  };
  const steps = acceptedSteps(speaker, `INV-${conversation}`);
  assertCovered(steps);
  for (const step of steps) {
    const answer = await say(step);
    if (step.keep) speaker.ids[step.keep] = answer.body.id ?? assert.fail(answer.text);
  }
  for (const [i, form] of FORMS.entries()) {
    for (const step of refusedSteps(form, speaker)) await say(step);
    if (i % 2 === conversation) await say({ ...stepOf(form, speaker), headers: { authorization: undefined } });
  }
  return exchanges;
}

function assertCovered(steps: readonly Step[]): void {
  const sent = new Set(steps.map(({ method, path }) => `${method} ${path}`));
  assert.deepEqual(
    FORMS.map(nameOf).filter((name) => !sent.has(name)),
    [],
    'every form is sent',
  );
}

/** Each answer has its own time, version and id. */
function shown({ status, headers, text }: Answer, masked: (text: string) => string): Omit<Exchange, 'request'> {
  const { date: _date, etag, ...others } = headers;
  const all = { ...others, ...(etag !== undefined && { etag: 'present' }) };
  return { status, headers: JSON.parse(masked(JSON.stringify(all))), text: masked(text) };
}

/** Replaces each id by its number in the order in which ids appear, and the digits of times of these two days by zeros. */
function masker(): (text: string) => string {
  const numbers = new Map<string, number>();
  const day = Temporal.Now.plainDateISO('UTC');
  const days = [day, day.add({ days: 1 })].join('|');
  const now = new RegExp(`(?:${days})[T ][\\d:.]+`, 'g');
  return (text) =>
    text
      .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, (id) => {
        if (!numbers.has(id)) numbers.set(id, numbers.size);
        return `<id ${numbers.get(id)}>`;
      })
      .replaceAll(now, (time) => time.replaceAll(/\d/g, '0'));
}

/** Opens a case and a key without scopes of records, which is no part of the comparison. */
export async function openSpeaker(
  company: Pick<Speaker, 'url' | 'agent' | 'token' | 'adviser'>,
  foreignCaseId: string,
): Promise<Speaker> {
  const created = async (path: string, body: object) => {
    const answer = await send(company, { method: 'POST', path, body });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const { key } = await created('/manage/keys', { name: 'no records', scopes: ['webhooks'] });
  const customer = { last_name: 'Smith', email: 'john.smith@client.example', phone: '+447400123456' };
  const { id: caseId, customers } = await created('/manage/cases', { reference: 'Smith', customers: [customer] });
  return { ...company, tokenWithoutScopes: key, ids: { caseId, customerId: customers[0].id, foreignCaseId } };
}
