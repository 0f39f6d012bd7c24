import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestCompany } from './app.ts';
import type { Caller } from './http.ts';

/** One identifier for every parameter that a path of the document has. */
export type Ids = Record<string, string>;

/** Parameters that name no record, with one of the words that they accept. */
export const WORDS: Ids = { message: 'reminder' };

export const fill = (template: string, ids: Ids): string =>
  template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const id = ids[name] ?? WORDS[name];
    assert.ok(id, `no identifier is known for {${name}}`);
    return id;
  });

type Maker = (company: TestCompany, ids: Ids) => Promise<string>;

const made = async (caller: Caller, path: string, body?: unknown): Promise<string> => {
  const answer = await caller.post(path, body);
  assert.equal(answer.status, 200, answer.text);
  return answer.body.id;
};

const found = async (caller: Caller, path: string, ...places: string[]): Promise<string> => {
  const answer = await caller.get(path);
  assert.equal(answer.status, 200, answer.text);
  // biome-ignore lint/suspicious/noExplicitAny: a way into any answer
  return places.reduce((at: any, place) => at[place], answer.body).id;
};

/** Each may be below the ones before it. */
export const MAKERS: Record<string, Maker> = {
  companyId: async (company) => company.companyId,
  caseId: async (company) => {
    const caseId = await company.openCase();
    await company.addCustomer(caseId, { email: company.customers[0].email });
    return caseId;
  },
  customerId: async (company, { caseId }) => company.addCustomer(caseId ?? '', { last_name: 'Further' }),
  tag: async (company) => company.customTags[0] ?? '',
  entryID: async (company, { caseId, tag }) =>
    made(company, `/cases/${caseId}/address-book/entry`, {
      ...{ entity_id: 'person', title: 'Mrs', first_names: 'Jane', last_name: 'Doe' },
      ...{ tags: ['executor'], custom_tags: [tag] },
    }),
  interactionId: async (company, { caseId }) => made(company, `/cases/${caseId}/interactions`, { type: 'letter' }),
  invoiceId: async (company, { caseId }) =>
    made(company, `/cases/${caseId}/invoices`, {
      ...{ invoice_number: randomUUID(), sender_id: company.companyId, vat: 20, total: 120, sub_total: 100 },
      ...{ date_created: '2026-06-01 09:00', date_due: '2026-07-01 09:00' },
      items: [{ description: 'Will', quantity: 1, rate: 100, amount: 120 }],
    }),
  itemId: async (company, { caseId, invoiceId }) =>
    found(company, `/cases/${caseId}/invoices/${invoiceId}`, 'items', '0'),
  paymentId: async (company, { caseId, invoiceId }) => {
    const path = `/cases/${caseId}/invoices/${invoiceId}/payments`;
    await made(company, path, { amount: 1 });
    return found(company, path, '0');
  },
  appointmentID: async (company, { caseId }) =>
    made(company, `/cases/${caseId}/appointments`, {
      ...{ adviser_email: company.adviserWithVideo, start_time: '2026-08-01 09:00', end_time: '2026-08-01 10:00' },
      ...{ email_recipient: company.customers[0].email, email_confirmation: true, video_meeting: true },
    }),
  messageId: async (company, { caseId, appointmentID }) =>
    found(company, `/cases/${caseId}/appointments/${appointmentID}/messages`, '0'),
  externalId: async (company, ids) => {
    const id = randomUUID();
    const { caseId, customerId, entryID, interactionId, invoiceId, appointmentID } = ids;
    const below = `/cases/${caseId}`;
    for (const path of [
      ...[`/manage${below}`, `/manage${below}/customers/${customerId}`, `${below}/address-book/entry/${entryID}`],
      ...[`${below}/interactions/${interactionId}`, `${below}/invoices/${invoiceId}`],
      `${below}/appointments/${appointmentID}`,
    ]) {
      const answer = await company.send('PUT', `${path}/external-id`, { external_id: id });
      assert.equal(answer.status, 200, answer.text);
    }
    return id;
  },
  eventId: async (company) => found(company, '/events', '0'),
  adviserId: async (company) =>
    made(company, '/manage/advisers', { email: `${randomUUID()}@firm.example`, name: 'Further' }),
  kindId: async (company) => made(company, '/manage/case-kinds', { name: randomUUID() }),
  clientId: async (company) => made(company, '/manage/clients', { name: 'further', scopes: ['invoices:read'] }),
  keyId: async (company) => made(company, '/manage/keys', { name: 'further', scopes: ['invoices:read'] }),
  userId: async (company) =>
    made(company, '/manage/users', { email: `${randomUUID()}@firm.example`, name: 'Further', role: 'reader' }),
  // A session of nobody: no token reaches the routes of sessions.
  sessionId: async () => randomUUID(),
  passkeyId: async () => randomUUID(),
  endpointId: async (company) =>
    made(company, '/webhooks/endpoints', { url: 'https://firm.example/hook', types: ['*'] }),
  deliveryId: async (company, { endpointId }) => {
    const path = `/webhooks/endpoints/${endpointId}`;
    const ping = await company.post(`${path}/ping`);
    assert.equal(ping.status, 200, ping.text);
    return found(company, `${path}/deliveries`, '0');
  },
};

/** A record of every kind, with its parents. The app must be able to encrypt secrets. */
export async function identifiersOf(company: TestCompany, known: Ids = {}): Promise<Ids> {
  const ids: Ids = { ...known };
  for (const [name, make] of Object.entries(MAKERS)) ids[name] ??= await make(company, ids);
  return ids;
}
