import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { beforeEach } from 'node:test';
import { startApp, type TestCompany } from './app.ts';
import { assertProblem } from './assert.ts';
import { booking, invoiceBody, PERSON } from './bodies.ts';
import type { Answer } from './http.ts';
import { specified } from './openapi.ts';

export const app = await startApp();

// Failed attempts are counted per minute, and every test here comes from the same address.
beforeEach(() => app.clock.advance({ minutes: 1 }));

export const MEBIBYTE = 1_048_576;
type Ids = Record<string, string>;
type Form = { method: string; template: string; takesBody: boolean };

export const documented: Form[] = Object.entries(specified).flatMap(([template, methods]) =>
  Object.keys(methods).map((method) => ({
    method: method.toUpperCase(),
    template,
    takesBody: method === 'post' || method === 'patch',
  })),
);
export const deleteByPost: Form = {
  method: 'POST',
  template: '/cases/{caseId}/appointments/{appointmentID}',
  takesBody: false,
};
export const forms = [...documented, deleteByPost];
export const recordNameOf = ({ template }: Form) => /\{(?!caseId)(\w+)\}/.exec(template)?.[1];
export const nameOf = (form: Form) => `${form.method} ${form.template}${form === deleteByPost ? ' (empty)' : ''}`;
export const fill = (template: string, ids: Ids) => template.replaceAll(/\{(\w+)\}/g, (_, name) => ids[name] ?? '');

export const BODIES: Record<string, (company: TestCompany) => Record<string, unknown>> = {
  'address-book': () => PERSON,
  interactions: () => ({ type: 'phone' }),
  invoices: (company) =>
    invoiceBody({
      sender_id: company.companyId,
      items: [{ description: 'Will', quantity: 1, rate: 100, amount: 120 }],
    }),
  appointments: (company) => booking(company),
};

export function bodyOf({ template, takesBody }: Form, company: TestCompany): Record<string, unknown> | undefined {
  return takesBody ? BODIES[(template.split('/')[3] ?? '').replace('_', '-')]?.(company) : undefined;
}

export async function idsOf(company: TestCompany): Promise<Ids> {
  const make = async (path: string, resource: string): Promise<string> => {
    const answer = await company.post(`${company.path}/${path}`, BODIES[resource]?.(company));
    assert.equal(answer.status, 200, answer.text);
    return answer.body.id;
  };
  return {
    caseId: company.caseId,
    entryID: await make('address-book/entry', 'address-book'),
    interactionId: await make('interactions', 'interactions'),
    invoiceId: await make('invoices', 'invoices'),
    appointmentID: await make('appointments', 'appointments'),
  };
}

export async function recordsOf(company: TestCompany): Promise<Record<string, unknown>> {
  const held: Record<string, unknown> = {};
  for (const table of [
    'people',
    'addresses',
    'interactions',
    'invoices',
    'invoice_items',
    'appointments',
    'messages',
  ]) {
    held[table] = await app.sql(`SELECT * FROM ${table} WHERE company_id = $1 ORDER BY id`, [company.companyId]);
  }
  return held;
}

export const interactionsOf = async (company: TestCompany) => (await company.get(`${company.path}/interactions`)).body;

export function assertFaultList(answer: Answer, ...faults: string[]): void {
  assertProblem(answer, 400, 'invalid_request');
  const told = answer.body.errors.map(({ field, code }: { field: string; code: string }) => `${field}: ${code}`);
  assert.deepEqual(told, faults, answer.text);
}

type Raw = Answer & { all: string };

/** Sends bytes over a new socket and reads until the server closes it. `finish` closes the client's side first. */
export function raw(bytes: string | Uint8Array, finish = false): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(app.baseUrl);
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    socket.setTimeout(10_000, () => socket.destroy(new Error('no answer')));
    socket.on('data', (bytes: Buffer) => chunks.push(bytes));
    socket.on('error', reject);
    socket.on('close', (failed) => failed || resolve(parse(Buffer.concat(chunks).toString('utf8'))));
    socket.write(bytes);
    if (finish) socket.end();
  });
}

function parse(all: string): Raw {
  const answer = all.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
  const end = answer.indexOf('\r\n\r\n');
  const [first = '', ...lines] = answer.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  const text = Buffer.from(answer.slice(end + 4))
    .subarray(0, Number(headers['content-length'] ?? Infinity))
    .toString();
  const body = /json/.test(headers['content-type'] ?? '') ? JSON.parse(text) : undefined;
  return { all, status: Number(first.split(' ')[1]), headers, text, body };
}

export function head(
  company: TestCompany,
  method: string,
  path: string,
  headers: Record<string, string | number> = {},
): string {
  const lines = Object.entries({
    Host: 'localhost',
    Authorization: `Bearer ${company.token}`,
    'Content-Type': 'application/json',
    Connection: 'close',
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

export const chunk = (bytes: Uint8Array | string) =>
  Buffer.concat([
    Buffer.from(`${Buffer.byteLength(bytes).toString(16)}\r\n`),
    Buffer.from(bytes as string),
    Buffer.from('\r\n'),
  ]);

export const LAST_CHUNK = '0\r\n\r\n';
