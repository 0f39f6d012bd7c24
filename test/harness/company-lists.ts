import assert from 'node:assert/strict';
import { startApp, type TestCompany } from './app.ts';
import { ok } from './assert.ts';
import { booking, invoiceBody, PERSON } from './bodies.ts';
import type { Caller } from './http.ts';

/** The app of the tests of lists of a whole company. */
export const app = await startApp();

// biome-ignore lint/suspicious/noExplicitAny: a test looks into any record
export type Row = any;

/** The link of a page to the next one. */
export const nextOf = (link: unknown): string | undefined => /^<(.+)>; rel="next"$/.exec(String(link ?? ''))?.[1];

/** All records, page by page. */
export async function walk(company: Caller, path: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (let next: string | undefined = path; next; ) {
    const answer = await company.get(next);
    assert.equal(answer.status, 200, answer.text);
    rows.push(...answer.body);
    next = nextOf(answer.headers.link);
  }
  return rows;
}

/** Reads RFC 4180 as strictly as it is written: CRLF, quotes doubled, as many fields in each line. */
export function parseCsv(text: string): Record<string, string>[] {
  assert.ok(text.endsWith('\r\n'));
  const lines: string[][] = [];
  const FIELD = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/y;
  for (let line: string[] = []; FIELD.lastIndex < text.length; ) {
    const [, field = '', end] = FIELD.exec(text) ?? assert.fail('not a field');
    line.push(field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field);
    if (end === ',') continue;
    lines.push(line);
    line = [];
  }
  const [header = [], ...records] = lines;
  return records.map((fields) => {
    assert.equal(fields.length, header.length);
    return Object.fromEntries(header.map((name, i) => [name, fields[i] ?? '']));
  });
}

/** The lines of a CSV as records. */
export async function csv(company: Caller, path: string): Promise<Record<string, string>[]> {
  const answer = await company.get(path);
  assert.equal(answer.status, 200, answer.text);
  assert.match(String(answer.headers['content-type']), /^text\/csv; charset=utf-8/);
  return parseCsv(answer.text);
}

/** A company with two cases, and a stranger with the same records. */
export async function twoCompanies(): Promise<{ company: TestCompany; second: string; stranger: TestCompany }> {
  const [company, stranger] = [await app.company(), await app.company()];
  return { company, second: `/cases/${await company.openCase()}`, stranger };
}

export const phoneCall = (company: Caller, path: string, fields: Row = {}): Promise<Row> =>
  ok(company.post(`${path}/interactions`, { type: 'phone', ...fields }));
export const invoice = (company: Caller, path: string, fields: Row = {}): Promise<Row> =>
  ok(company.post(`${path}/invoices`, invoiceBody(fields)));
export const appointment = (company: TestCompany, path: string, fields: Row = {}): Promise<Row> =>
  ok(company.post(`${path}/appointments`, booking(company, fields)));
export const person = (company: Caller, path: string, fields: Row = {}): Promise<Row> =>
  ok(company.post(`${path}/address-book/entry`, { ...PERSON, ...fields }));

export const pay = (company: Caller, path: string, id: string, amount: number | string): Promise<Row> =>
  ok(company.post(`${path}/invoices/${id}/payments`, { amount }));
