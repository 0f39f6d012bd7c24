import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { ok } from './harness/assert.ts';
import { app, appointment, csv, invoice, pay, person, type Row, twoCompanies, walk } from './harness/company-lists.ts';
import type { Caller } from './harness/http.ts';

/** A CSV has the same records as the JSON list with the same filters, in the same order. The clock shows 10 a.m. in London. */

beforeEach(() => app.clock.set('2026-06-01T09:00:00Z'));

/** Compares both for each query, of which each finds as many records as it says. */
async function assertSame(company: Caller, list: string, queries: Record<string, number>): Promise<void> {
  for (const [query, count] of Object.entries(queries)) {
    const listed = await walk(company, `/${list}?limit=2&${query}`);
    assert.equal(listed.length, count, query);
    const written = await csv(company, `/${list}.csv?${query}`);
    assert.deepEqual(
      written.map(({ id }) => id),
      listed.map(({ id }) => id),
      query,
    );
  }
}

const giveExternalId = (table: string, { id }: Row) =>
  app.sql(`UPDATE ${table} SET external_id = 'A-1' WHERE id = $1`, [id]);

test('invoices as CSV: the records of the list with the same filters and sort', async () => {
  const { company, second, stranger } = await twoCompanies();
  // They were created in another order than that in which they are due.
  const add = (path: string, due: string, created: string) =>
    invoice(company, path, { date_due: `2026-${due} 12:00:00`, date_created: `2026-04-${created} 12:00:00` });
  const paid = await add(company.path, '05-29', '03');
  const partPaid = await add(second, '05-30', '01');
  await add(company.path, '05-31', '05');
  const cancelled = await add(second, '06-10', '02');
  await giveExternalId('invoices', await add(company.path, '06-20', '04'));
  await pay(company, company.path, paid.id, 120);
  await pay(company, second, partPaid.id, 20);
  await ok(company.post(`${second}/invoices/${cancelled.id}/cancel`));
  await invoice(stranger, stranger.path);
  await assertSame(company, 'invoices', {
    '': 5,
    'sort=date_due': 5,
    'sort=date_created': 5,
    'sort=-date_created': 5,
    'status=Not%20Paid': 2,
    'status=Paid&sort=date_created': 1,
    'open=true': 3,
    'open=true&sort=date_created': 3,
    'overdue=true&sort=date_due': 2,
    'due_from=2026-05-30%2012:00': 4,
    'due_from=2026-05-30%2012:00&due_to=2026-06-20%2012:00&sort=date_created': 3,
    'external_id=A-1': 1,
    'external_id=A-1&status=Paid': 0,
  });
});

test('appointments as CSV: the records of the list with the same filters and sort', async () => {
  const { company, second, stranger } = await twoCompanies();
  const add = (path: string, day: number, adviser_email: string) =>
    appointment(company, path, {
      ...{ adviser_email, start_time: `2026-06-0${day} 10:00:00`, end_time: `2026-06-0${day} 11:00:00` },
    });
  const attended = await add(company.path, 4, company.adviser);
  const cancelled = await add(second, 2, company.adviserWithVideo);
  await add(second, 5, company.adviser);
  await giveExternalId('appointments', await add(company.path, 3, company.adviserWithVideo));
  await appointment(stranger, stranger.path);
  app.clock.set('2026-06-06T09:00:00Z');
  await ok(company.patch(`${company.path}/appointments/${attended.id}/outcome`, { attended: true }));
  await ok(company.patch(`${second}/appointments/${cancelled.id}/outcome`, { cancelled: true }));
  await assertSame(company, 'appointments', {
    '': 4,
    'sort=-start_time': 4,
    'outcome=none&sort=-start_time': 2,
    'outcome=cancelled': 1,
    'from=2026-06-03%2010:00': 3,
    'from=2026-06-02%2010:00&to=2026-06-04%2010:00&sort=-start_time': 2,
    [`adviser_email=${company.adviser}`]: 2,
    [`adviser_email=${company.adviser}&outcome=attended`]: 1,
    [`adviser_email=${company.adviserWithVideo}&to=2026-06-03%2010:00`]: 1,
    'external_id=A-1': 1,
    'external_id=A-1&outcome=attended': 0,
  });
});

test('entries as CSV: the records of the list with the same filters and sort', async () => {
  const { company, second, stranger } = await twoCompanies();
  const phone = { tel_1: '07400 123456' };
  // Their emails are in another order than their names.
  await person(company, company.path, { ...phone, last_name: 'Doe', first_names: 'Jane', email: 'd@b.example' });
  await person(company, second, { last_name: 'Doe', first_names: 'Adam', email: 'd@c.example', tags: ['executor'] });
  await person(company, company.path, { last_name: 'Zed', email: 'd@a.example', tags: ['executor'] });
  const { id } = await person(company, second, { ...phone, last_name: 'Adams', email: 'a@z.example' });
  await giveExternalId('people', { id });
  await person(stranger, stranger.path, { ...phone, tags: ['executor'] });
  await assertSame(company, 'address-book', {
    '': 4,
    'sort=-name': 4,
    'sort=email': 4,
    'sort=-email': 4,
    'name=doe': 2,
    'name=doe%2C%20j': 1,
    'name=doe&sort=email': 2,
    'email=d@': 3,
    'email=d@&sort=name': 3,
    'email=d@&tag=executor': 2,
    'phone=%2B44%207400%20123456': 2,
    'phone=07400123456&sort=-email': 2,
    'tag=executor&sort=-name': 2,
    'external_id=A-1': 1,
    'external_id=A-1&tag=executor': 0,
  });
});
