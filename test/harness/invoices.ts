import assert from 'node:assert/strict';
import { startApp, type TestCompany } from './app.ts';
import { invoiceBody } from './bodies.ts';

export const app = await startApp();

export const words = (text: string) => text.trim().split(/\s+/);
export const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
export const UNKNOWN = '01890a5d-ac96-774b-bcce-b302099a8057';

export type Fields = Record<string, unknown>;
type Item = { id: string; description: string } & Fields;
export type Listed = { id: string; invoice_number: string; items: Item[] } & Fields;

export function item(description = 'Advice', fields: Fields = {}): Fields {
  return { description, quantity: 2, rate: 50, amount: 120, ...fields };
}

export const items = (...descriptions: string[]) => descriptions.map((description) => item(description));

export const without = (fields: Fields, ...names: string[]) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));

export async function create(company: TestCompany, fields: Fields = {}, path = company.path): Promise<Listed> {
  const answer = await company.post(`${path}/invoices`, invoiceBody(fields));
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

export async function update(company: TestCompany, id: string, fields: Fields = {}): Promise<Listed> {
  const answer = await company.patch(`${company.path}/invoices/${id}`, invoiceBody(fields));
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

export async function list(company: TestCompany, { query = '', path = company.path } = {}): Promise<Listed[]> {
  const answer = await company.get(`${path}/invoices${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

export async function only(company: TestCompany, options = {}): Promise<Listed> {
  const [listed, ...others] = await list(company, options);
  assert.ok(listed);
  assert.deepEqual(others, []);
  return listed;
}

export const everything = (company: TestCompany, path = company.path) =>
  list(company, { query: '?show_cancelled_items=true', path });

export const descriptions = (invoice: Listed) => invoice.items.map(({ description }) => description);

export const cancelItem = (company: TestCompany, description: string) =>
  app.sql('UPDATE invoice_items SET cancelled_at = now() WHERE company_id = $1 AND description = $2', [
    company.companyId,
    description,
  ]);

export async function add(company: TestCompany, id: string, what: string, body: Fields): Promise<void> {
  const answer = await company.post(`${company.path}/invoices/${id}/${what}`, body);
  assert.equal(answer.status, 200, answer.text);
}

/** The ways to write an invoice. The rules of the body are the same for each. */
export const WRITES = [
  {
    write: 'a create',
    begin: async (company: TestCompany) => (body: unknown) => company.post(`${company.path}/invoices`, body),
  },
  {
    write: 'an update by PATCH',
    begin: async (company: TestCompany) => {
      const { id } = await create(company, { items: items('kept') });
      return (body: unknown) => company.patch(`${company.path}/invoices/${id}`, body);
    },
  },
  {
    write: 'an update by POST',
    begin: async (company: TestCompany) => {
      const { id } = await create(company, { items: items('kept') });
      return (body: unknown) => company.post(`${company.path}/invoices/${id}`, body);
    },
  },
];
