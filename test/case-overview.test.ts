import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertNotFound, assertProblem, ok } from './harness/assert.ts';
import { addAppointment, addEntry, addInteraction, addInvoice, app, openCase } from './harness/search.ts';

/** GET /cases/{caseId}. */

const NONE = { counts: { entries: 0, interactions: 0, invoices: 0, appointments: 0 }, next_appointment: null };

test('a new case has nothing, and is shown with its customers as management shows it', async () => {
  const company = await app.company();
  const { counts, next_appointment, balance, ...record } = await ok(company.get(company.path));
  assert.deepEqual({ counts, next_appointment }, NONE);
  assert.deepEqual(balance, { outstanding: 0, overdue: 0 });
  assert.deepEqual(record, await ok(company.get(`/manage${company.path}`)));
});

test('records are counted unless they are deleted, and only those of the case', async () => {
  const company = await app.company();
  const caseId = await openCase(company, 'Counted');
  for (const id of [caseId, company.caseId]) {
    await addEntry(company, id, {});
    for (let i = 0; i < 3; i++) await addInteraction(company, id, {});
    await addInvoice(company, id, {});
    await addAppointment(company, id, {});
  }
  const path = `/cases/${caseId}`;
  const [{ id: interaction }] = await ok(company.get(`${path}/interactions`));
  await ok(company.delete(`${path}/interactions/${interaction}`));
  const { counts } = await ok(company.get(path));
  assert.deepEqual(counts, { entries: 1, interactions: 2, invoices: 1, appointments: 1 });
});

test('the next appointment is the first that has not begun, is not cancelled and not deleted', async () => {
  const company = await app.company();
  const caseId = await openCase(company, 'Appointments');
  const at = (day: string, fields = {}) =>
    addAppointment(company, caseId, {
      start_time: `2026-07-${day} 10:00:00`,
      end_time: `2026-07-${day} 11:00:00`,
      ...fields,
    });
  const next = async () => (await ok(company.get(`/cases/${caseId}`))).next_appointment;
  const later = await at('20', { location: 'Town hall' });
  const cancelled = await at('05');
  const deleted = await at('06');
  await ok(company.patch(`/cases/${caseId}/appointments/${cancelled}/outcome`, { cancelled: true }));
  await ok(company.delete(`/cases/${caseId}/appointments/${deleted}`));
  assert.deepEqual(await next(), {
    ...{ id: later, start_time: '2026-07-20T09:00:00.000000Z', end_time: '2026-07-20T10:00:00.000000Z' },
    ...{ adviser_email: company.adviser, location: 'Town hall' },
  });
  const sooner = await at('19');
  assert.equal((await next()).id, sooner);
});

test('the balance is exact: what is outstanding of all invoices, and what of it was due', async () => {
  const company = await app.company();
  const caseId = await openCase(company, 'Balance');
  const invoice = (total: string, due: string) =>
    addInvoice(company, caseId, { total, sub_total: total, vat: 0, date_due: due });
  const overdue = await invoice('9007199254.01', '2026-05-31 09:00:00');
  await invoice('0.10', '2026-05-31 09:00:00');
  await invoice('0.20', '2026-07-31 09:00:00');
  const cancelled = await invoice('500', '2026-05-31 09:00:00');
  await ok(company.post(`/cases/${caseId}/invoices/${cancelled}/cancel`));
  await ok(company.post(`/cases/${caseId}/invoices/${overdue}/payments`, { amount: '0.01' }));
  const { text } = await company.get(`/cases/${caseId}`);
  assert.match(text, /"balance" : \{"outstanding" : 9007199254\.30, "overdue" : 9007199254\.10\}/);
});

test('an invoice is overdue from the day after it was due, on the calendar of the company, as in the lists', async () => {
  const company = await app.company({ timeZone: 'America/New_York' });
  app.clock.set('2026-06-03T03:30:00Z');
  try {
    // It is half past eleven in the evening of 2 June.
    await addInvoice(company, company.caseId, { total: '1.00', date_due: '2026-06-02 09:00:00' });
    await addInvoice(company, company.caseId, { total: '2.00', date_due: '2026-06-01 23:59:00' });
    const overdue = async () => (await ok(company.get(company.path))).balance.overdue;
    const listed = async () => (await ok(company.get('/invoices/sums'))).overdue.outstanding;
    assert.deepEqual([await overdue(), await listed()], [2, 2]);
    app.clock.set('2026-06-03T04:00:00Z');
    assert.deepEqual([await overdue(), await listed()], [3, 3]);
  } finally {
    app.clock.set('2026-06-01T09:00:00Z');
  }
});

test('a credential sees what its scopes allow', async () => {
  const company = await app.company();
  const shown = async (...scopes: string[]) => {
    const { counts, next_appointment, balance } = await ok((await company.withScopes(...scopes)).get(company.path));
    return { ...counts, next_appointment, balance };
  };
  await addAppointment(company, company.caseId, {});
  const nothing = { entries: null, interactions: null, invoices: null, appointments: null };
  assert.deepEqual(await shown('cases:read'), { ...nothing, next_appointment: null, balance: null });
  const some = await shown('manage', 'invoices:read', 'address_book:read');
  assert.deepEqual(some, {
    ...{ ...nothing, entries: 0, invoices: 0, next_appointment: null },
    balance: { outstanding: 0, overdue: 0 },
  });
  const { appointments, next_appointment } = await shown('cases:read', 'appointments:read');
  assert.deepEqual([appointments, typeof next_appointment.id], [1, 'string']);
  for (const scope of ['interactions:read', 'events:read', 'operator']) {
    assertProblem(await (await company.withScopes(scope)).get(company.path), 403, 'insufficient_scope');
  }
});

test('the tag tells whether the overview has changed, and no write takes it', async () => {
  const company = await app.company();
  const { headers } = await company.get(company.path);
  const etag = String(headers.etag);
  assert.equal((await company.get(company.path, { 'if-none-match': etag })).status, 304);
  const created = await company.post(`${company.path}/interactions`, { type: 'phone' }, { 'if-match': '"other"' });
  assert.equal(created.status, 200, created.text);
  assert.equal((await company.get(company.path, { 'if-none-match': etag })).status, 200);
});

test('an unknown case and the case of another company are not found', async () => {
  const [company, stranger] = [await app.company(), await app.company()];
  for (const path of [`/cases/${crypto.randomUUID()}`, stranger.path, '/cases/x']) {
    assertNotFound(await company.get(path));
  }
});
