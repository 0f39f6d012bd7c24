import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp } from './harness/app.ts';
import { booking, invoiceBody, PERSON } from './harness/bodies.ts';

/** Responses of specified writes are JSON with the spaces of the first release, for clients that compare bytes. */

const app = await startApp();

const TEXT = 'a "quoted" \\ text,\n\twith : {signs}, \u0001, ’ and 👋';
const LITERAL = /"(?:[^"\\]|\\.)*"/g;
const VALUE = String.raw`(?:""|null|true|false|-?\d+(?:\.\d+)?|\{\})`;
const objectOf = (value: string) => String.raw`\{(?:"" : ${value}(?:, (?="")|(?=\})))+\}`;
const SPACED = new RegExp(`^${objectOf(`(?:${VALUE}|${objectOf(VALUE)})`)}$`);

const WRITES = [
  { path: 'address-book/entry', body: PERSON, full: { ...PERSON, first_names: TEXT, known_as: TEXT } },
  {
    path: 'interactions',
    body: { type: 'phone' },
    full: { type: 'phone', notes: TEXT, sender: TEXT, recipient: TEXT },
  },
  { path: 'invoices', body: invoiceBody(), full: invoiceBody({ payment_terms: TEXT }) },
  { path: 'appointments', full: { notes: TEXT, location: TEXT } },
];

for (const { path, body, full } of WRITES) {
  test(`${path}: creates and updates answer with an object in the spacing of PostgreSQL, whatever it holds`, async () => {
    const company = await app.company();
    const bodies = path === 'appointments' ? [booking(company), booking(company, full)] : [body, full];
    for (const sent of bodies) {
      const created = await company.post(`${company.path}/${path}`, sent);
      const updated = await company.patch(`${company.path}/${path}/${created.body.id}`, sent);
      for (const { text } of [created, updated]) assert.match(text.replaceAll(LITERAL, '""'), SPACED, text);
      if (sent === bodies[1]) assert.ok(updated.text.includes(JSON.stringify(TEXT)), updated.text);
    }
  });
}
