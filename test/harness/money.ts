import assert from 'node:assert/strict';
import { startApp, type TestCompany } from './app.ts';
import { invoiceBody } from './bodies.ts';
import type { Answer } from './http.ts';

export const app = await startApp();
export const LIMIT = '9999999999.99';

export type Fields = Record<string, unknown>;

/** Marks a number that `json` writes with exactly these digits, without quotes. */
export const raw = (number: string) => `#${number}`;
export const json = (body: unknown) => JSON.stringify(body).replaceAll(/"#([^"]*)"/g, '$1');

export const FORMS = { 'a JSON number': raw, 'a decimal string': (number: string) => number };

export const invoice = (fields: Fields = {}) =>
  invoiceBody({ vat: 0, total: 0, sub_total: 0, vat_amount: 0, ...fields });

export const item = (fields: Fields = {}) => ({ description: 'Advice', quantity: 1, rate: 0, amount: 0, ...fields });

export const post = (company: TestCompany, fields: Fields) =>
  company.post(`${company.path}/invoices`, json(invoice(fields)));

export async function create(company: TestCompany, fields: Fields): Promise<Answer> {
  const answer = await post(company, fields);
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

export async function listText(company: TestCompany): Promise<string> {
  const answer = await company.get(`${company.path}/invoices`);
  assert.equal(answer.status, 200, answer.text);
  return answer.text;
}

/** The digits of every occurrence of the field in an answer. */
export const written = (text: string, field: string) =>
  [...text.matchAll(new RegExp(`"${field}"\\s*:\\s*([-\\d.eE+]+)`, 'g'))].map(([, digits]) => plain(digits ?? ''));

/** A decimal without trailing zeros. */
export function plain(decimal: string): string {
  assert.match(decimal, /^-?(0|[1-9]\d*)(\.\d+)?$/);
  return decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal;
}

/** Creates an invoice with these items in a new case and returns the digits that the list shows. */
export async function listedItems(company: TestCompany, items: Fields[], ...fields: string[]): Promise<string[][]> {
  const path = `/cases/${await company.openCase()}/invoices`;
  const created = await company.post(path, json(invoice({ items })));
  assert.equal(created.status, 200, created.text);
  const { text } = await company.get(path);
  const ofItems = text.slice(text.search(/"items"/), text.lastIndexOf(']', text.length - 2));
  return items.map((_, i) => fields.map((field) => written(ofItems, field)[i] ?? 'absent'));
}

export async function assertNothingStored(company: TestCompany): Promise<void> {
  assert.equal(await listText(company), '[]');
}

/** Rounds a decimal half away from zero to this many places, in units of the last place. */
export function units(decimal: string, places: number): bigint {
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal) ?? [];
  const scaled = BigInt(whole + fraction.padEnd(places, '0').slice(0, places));
  const magnitude = (fraction[places] ?? '0') >= '5' ? scaled + 1n : scaled;
  return sign ? -magnitude : magnitude;
}

/** Converts units of the last of this many places to a decimal. */
export function decimal(units: bigint, places: number): string {
  const digits = String(units < 0n ? -units : units).padStart(places + 1, '0');
  return plain(`${units < 0n ? '-' : ''}${digits.slice(0, -places)}.${digits.slice(-places)}`);
}
