import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import type { TestCompany } from '../../harness/app.ts';
import { ok } from '../../harness/assert.ts';
import { invoiceBody } from '../../harness/bodies.ts';
import {
  app,
  assertAccessibleEverywhere,
  assertNoComplaints,
  eventually,
  openConsole,
  passTimeUntil,
  skip,
} from '../../harness/console.ts';

/** The clock of the service and of the page shows 1 June 2026, 10 a.m. in London. */

const due = (day: string) => ({ date_due: `${day} 12:00:00` });

type Written = { id: string; number: string };

let written = 0;

async function write(company: TestCompany, fields: Record<string, unknown> = {}): Promise<Written> {
  const number = `L-${++written}`;
  const { id } = await ok(company.post(`${company.path}/invoices`, invoiceBody({ invoice_number: number, ...fields })));
  return { id, number };
}

const pay = (company: TestCompany, { id }: Written, amount: string) =>
  ok(company.post(`${company.path}/invoices/${id}/payments`, { amount }));

const cancel = (company: TestCompany, { id }: Written) => ok(company.post(`${company.path}/invoices/${id}/cancel`));

/** The invoices on the page, in their order. */
async function numbers(page: Page): Promise<string[]> {
  await page.getByRole('table').waitFor();
  return page.locator('[data-row]').allTextContents();
}

const payments = (company: TestCompany, { id }: Written) =>
  app.sql<{ amount: string; reference: string | null; is_reversed: boolean }>(
    `SELECT amount, reference, reversed_at IS NOT NULL AS is_reversed FROM payments
      WHERE company_id = $1 AND invoice_id = $2`,
    [company.companyId, id],
  );

test('what is overdue for the longest time leads, with how late it is, and sums are exact beyond a float', {
  skip,
}, async () => {
  const company = await app.company();
  const large = { total: '9999999999.99', sub_total: '9999999999.99' };
  const today = await write(company, due('2026-06-01'));
  const late = await write(company, { ...due('2026-05-31'), ...large });
  const later = await write(company, { ...due('2026-06-30'), ...large });
  const latest = await write(company, { ...due('2026-03-01'), ...large });
  await cancel(company, await write(company, due('2026-01-01')));
  await pay(company, late, '0.02');
  const page = await openConsole(company, '/invoices');
  assert.deepEqual(
    await numbers(page),
    [latest, late, today, later].map(({ number }) => number),
  );
  await page.getByRole('row', { name: latest.number }).getByText('92 days overdue').waitFor();
  await page.getByRole('row', { name: late.number }).getByText('1 day overdue').waitFor();
  await page.getByRole('row', { name: late.number }).getByText('9,999,999,999.97').waitFor();
  await page.getByRole('row', { name: today.number }).getByText('due today').waitFor();
  const sums = page.getByRole('list', { name: 'Sums' });
  await sums.getByRole('link', { name: 'Overdue 19,999,999,999.96 2 invoices' }).waitFor();
  await sums.getByRole('link', { name: 'Outstanding 30,000,000,119.95 4 invoices' }).waitFor();
  await sums.getByRole('link', { name: /^Overdue/ }).click();
  await page.getByRole('row', { name: today.number }).waitFor({ state: 'detached' });
  await eventually(async () => assert.deepEqual(await numbers(page), [latest.number, late.number]));
  assertNoComplaints(page);
  await page.context().close();
});

test('the status and the range of due days narrow the list and its CSV alike, and are in the address', {
  skip,
}, async () => {
  const company = await app.company();
  const [first, last, after] = [
    await write(company, { date_due: '2026-07-01 00:00:00' }),
    await write(company, { date_due: '2026-07-31 23:59:59' }),
    await write(company, { date_due: '2026-08-01 00:00:00' }),
  ];
  const paid = await write(company, due('2026-07-10'));
  await pay(company, paid, '120');
  const page = await openConsole(company, '/invoices');
  await page.getByLabel('Due from').fill('2026-07-01');
  await page.getByLabel('Due until').fill('2026-07-31');
  await page.keyboard.press('Enter');
  await page.getByRole('row', { name: after.number }).waitFor({ state: 'detached' });
  await eventually(async () => assert.deepEqual(await numbers(page), [first.number, last.number]));
  assert.match(page.url(), /from=2026-07-01&to=2026-07-31$/);
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download as CSV' }).click();
  const csv = await readFile(await (await download).path(), 'utf8');
  const [header = '', ...lines] = csv.trim().split('\r\n');
  const column = header.split(',').indexOf('invoice_number');
  assert.deepEqual(
    lines.map((line) => line.split(',')[column]),
    [first.number, last.number],
  );
  await page.getByRole('navigation', { name: 'Status' }).getByRole('link', { name: 'Paid', exact: true }).click();
  await page.getByRole('row', { name: paid.number }).waitFor();
  await eventually(async () => assert.deepEqual(await numbers(page), [paid.number]));
  await page.getByRole('link', { name: 'Cancelled' }).click();
  await page.getByText('No invoice matches.').waitFor();
  await page.getByRole('link', { name: 'Show all invoices' }).click();
  await page.getByRole('row', { name: after.number }).waitFor();
  assertNoComplaints(page);
  await page.context().close();
});

test('a payment is recorded by keyboard alone and once, the paid invoice leaves the list, and Undo reverses it', {
  skip,
}, async () => {
  const company = await app.company();
  const [owed, other] = [await write(company, due('2026-03-01')), await write(company, due('2026-06-30'))];
  const page = await openConsole(company, '');
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForLoadState('networkidle');
  await page.keyboard.press('g');
  await page.keyboard.press('i');
  await page.getByRole('table').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: `Invoice ${owed.number}` });
  await dialog.getByRole('button', { name: 'Record a payment' }).waitFor();
  await page.keyboard.press('Enter');
  await dialog.getByLabel('Amount').waitFor();
  await eventually(async () => assert.equal(await dialog.getByLabel('Amount').inputValue(), '120.00'));
  await eventually(async () =>
    assert.equal(await dialog.getByLabel('Amount').evaluate((element) => element.matches(':focus')), true),
  );
  await page.keyboard.press('Control+Enter');
  await page.keyboard.press('Control+Enter');
  await page.getByText(`120.00 recorded for ${owed.number}.`).waitFor();
  await page.getByRole('row', { name: owed.number }).waitFor({ state: 'detached' });
  await eventually(async () => assert.deepEqual(await numbers(page), [other.number]));
  assert.deepEqual(await payments(company, owed), [{ amount: '120.00', reference: null, is_reversed: false }]);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('row', { name: owed.number }).waitFor();
  assert.equal((await payments(company, owed))[0]?.is_reversed, true);
  assertNoComplaints(page);
  await page.context().close();
});

test('more than is owed is refused at the amount, what was typed stays, and less pays a part', { skip }, async () => {
  const company = await app.company();
  const owed = await write(company, due('2026-05-01'));
  const page = await openConsole(company, '/invoices');
  await page.getByRole('link', { name: `Record a payment ${owed.number}` }).click();
  const amount = page.getByRole('dialog').getByLabel('Amount');
  await amount.fill('120.01');
  await page.getByRole('dialog').getByLabel('Reference').fill('BACS 4711');
  await page.getByRole('button', { name: 'Record the payment' }).click();
  await page.getByText('Not saved.').waitFor();
  await eventually(async () => assert.equal(await amount.getAttribute('aria-invalid'), 'true'));
  await eventually(async () => assert.equal(await amount.inputValue(), '120.01'));
  await page.reload();
  await page.getByText('What you had typed is here again.').waitFor();
  await amount.fill('0.10');
  await page.getByRole('button', { name: 'Record the payment' }).click();
  await page.getByRole('row', { name: owed.number }).getByText('119.90').waitFor();
  await page.getByRole('row', { name: owed.number }).getByText('Part paid').waitFor();
  assert.deepEqual(await payments(company, owed), [{ amount: '0.10', reference: 'BACS 4711', is_reversed: false }]);
  await page.getByRole('link', { name: owed.number, exact: true }).click();
  await page.getByRole('region', { name: 'Payments' }).getByText('BACS 4711').waitFor();
  await page.getByText('An invoice with payments cannot be cancelled').waitFor();
  await eventually(async () => assert.equal(await page.getByRole('button', { name: 'Cancel the invoice' }).count(), 0));
  assertNoComplaints(page, 400);
  await page.context().close();
});

test('an invoice is marked as sent, cancelled with Undo, and reinstated', { skip }, async () => {
  const company = await app.company();
  const owed = await write(company, due('2026-06-30'));
  const status = async () => (await ok(company.get(`${company.path}/invoices/${owed.id}`))).status;
  const page = await openConsole(company, `/invoices?open=${company.caseId}/${owed.id}`);
  const dialog = page.getByRole('dialog', { name: `Invoice ${owed.number}` });
  await dialog.getByText('not sent yet').waitFor();
  await dialog.getByRole('button', { name: 'Mark as sent today' }).click();
  await page.getByText(`${owed.number} is marked as sent.`).waitFor();
  await dialog.getByText('Mon, 1 Jun 2026').waitFor();
  await dialog.getByRole('button', { name: 'Cancel the invoice' }).click();
  await dialog.getByText('Cancelled').waitFor();
  await eventually(async () => assert.equal(await status(), 'Cancelled'));
  await dialog.getByRole('button', { name: 'Record a payment' }).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Undo' }).click();
  await dialog.getByText('Not paid').waitFor();
  await eventually(async () => assert.equal(await status(), 'Not Paid'));
  await dialog.getByRole('button', { name: 'Cancel the invoice' }).click();
  await dialog.getByRole('button', { name: 'Reinstate' }).click();
  await page.getByText(`${owed.number} can be paid again.`).waitFor();
  await eventually(async () => assert.equal(await status(), 'Not Paid'));
  await dialog.getByRole('link', { name: 'Open the case' }).click();
  await page.waitForURL(new RegExp(`/console/cases/${company.caseId}$`));
  assertNoComplaints(page);
  await page.context().close();
});

test('an invoice is printed alone, with the name, the address and the numbers of the company', { skip }, async () => {
  const company = await app.company();
  await company.client.updateCompany({
    body: {
      legal_name: 'Harrow & Finch LLP',
      address: '1 Market Place\nWells',
      company_number: '0123',
      tax_number: 'GB9',
    },
  });
  const owed = await write(company, due('2026-06-30'));
  const page = await openConsole(company, `/invoices?open=${company.caseId}/${owed.id}`);
  await page.getByText('Harrow & Finch LLP').waitFor({ state: 'attached' });
  await eventually(async () => assert.equal(await page.getByText('Harrow & Finch LLP').isVisible(), false));
  await page.emulateMedia({ media: 'print' });
  const printed = await page.evaluate<string>('document.body.innerText');
  assert.match(printed, new RegExp(`^Invoice ${owed.number}\\s+Harrow & Finch LLP\\s+1 Market Place\\nWells\\n`));
  assert.match(printed, /Company number 0123\nTax number GB9\n[\s\S]*\n120\.00\n/);
  assert.doesNotMatch(printed, /Invoices|Today|Outstanding 1|Print|Edit|Mark as|Cancel/);
  assertNoComplaints(page);
  await page.context().close();
});

test('a day in the address that does not exist is ignored', { skip }, async () => {
  const company = await app.company();
  const owed = await write(company, due('2026-06-30'));
  const page = await openConsole(company, '/invoices?from=2026-02-30&to=9999-99-99');
  await page.getByRole('row', { name: owed.number }).waitFor();
  await eventually(async () => assert.equal(await page.getByLabel('Due from').inputValue(), ''));
  assertNoComplaints(page);
  await page.context().close();
});

test('an invoice that somebody has changed meanwhile is not cancelled unseen, and the payment appears', {
  skip,
}, async () => {
  const company = await app.company();
  const owed = await write(company, due('2026-06-30'));
  const page = await openConsole(company, `/invoices?open=${company.caseId}/${owed.id}`);
  const cancelling = page.getByRole('button', { name: 'Cancel the invoice' });
  await cancelling.waitFor();
  // The log tells nothing, so this page has not seen the new date.
  await page.route('**/events?**', () => {});
  await ok(company.post(`${company.path}/invoices/${owed.id}/sent`, { date_sent: '2026-05-20 10:00:00' }));
  await cancelling.click();
  await page.getByText('Somebody else has changed the record. Look at it again.').waitFor();
  await page.getByRole('dialog').getByText('Wed, 20 May 2026').waitFor();
  assert.equal((await ok(company.get(`${company.path}/invoices/${owed.id}`))).status, 'Not Paid');
  await cancelling.click();
  await page.getByRole('dialog').getByText('Cancelled').waitFor();
  assertNoComplaints(page, 412);
  await page.context().close();
});

test('after a lost answer a button repeats its write, and another button makes another one', { skip }, async () => {
  const company = await app.company();
  const owed = await write(company, due('2026-06-30'));
  for (const amount of ['10', '20', '30']) await pay(company, owed, amount);
  const page = await openConsole(company, `/invoices?open=${company.caseId}/${owed.id}`);
  const reverse = (amount: string) =>
    page.getByRole('listitem').filter({ hasText: amount }).getByRole('button', { name: 'Reverse' });
  const loseAnswerOf = async (amount: string) => {
    await page.route('**/reverse', async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    });
    await reverse(amount).click();
    await passTimeUntil(page, page.locator('.failure'));
    await page.unroute('**/reverse');
  };
  // The log tells nothing, so the panel goes on to offer what has been done.
  await page.route('**/events?**', () => {});
  await loseAnswerOf('10.00');
  await reverse('10.00').click();
  await reverse('10.00').waitFor({ state: 'detached' });
  await loseAnswerOf('20.00');
  await reverse('30.00').click();
  await reverse('30.00').waitFor({ state: 'detached' });
  assert.equal(await page.locator('.failure').count(), 0);
  assert.deepEqual(
    (await payments(company, owed)).map(({ is_reversed }) => is_reversed),
    [true, true, true],
  );
  await page.context().close();
});

test('a payment by a colleague appears without a reload', { skip }, async () => {
  const company = await app.company();
  const owed = await write(company, due('2026-06-30'));
  const page = await openConsole(company, '/invoices');
  await page.getByRole('row', { name: owed.number }).waitFor();
  await pay(company, owed, '20.50');
  await passTimeUntil(page, page.getByRole('row', { name: owed.number }).getByText('99.50'));
  await page.getByRole('link', { name: 'Outstanding 99.50 1 invoice' }).waitFor();
  assertNoComplaints(page);
  await page.context().close();
});

test('a bookkeeper records payments; a reader is offered none of it', { skip }, async () => {
  const company = await app.company();
  const owed = await write(company, due('2026-06-30'));
  const address = `/invoices?open=${company.caseId}/${owed.id}`;
  const bookkeeper = await openConsole(company, address, { role: 'bookkeeper' });
  await bookkeeper.getByRole('button', { name: 'Record a payment' }).waitFor();
  await bookkeeper.context().close();
  const reader = await openConsole(company, address, { role: 'reader' });
  const dialog = reader.getByRole('dialog', { name: `Invoice ${owed.number}` });
  await dialog.getByRole('link', { name: 'Open the case' }).waitFor();
  await eventually(async () => assert.deepEqual(await dialog.getByRole('button').allTextContents(), ['', 'Print']));
  await reader.keyboard.press('Escape');
  await eventually(async () => assert.equal(await reader.getByText('Record a payment').count(), 0));
  assertNoComplaints(reader);
  await reader.context().close();
});

test('a long list has pages of 50, whose place is in the address', { skip }, async () => {
  const company = await app.company();
  const { id } = await write(company, due('2026-06-01'));
  await app.sql(
    `INSERT INTO invoices SELECT (jsonb_populate_record(v, jsonb_build_object('id', gen_random_uuid(),
        'invoice_number', 'N-' || n, 'date_due', v.date_due + n * interval '1 day'))).*
       FROM invoices v, generate_series(1, 104) n WHERE v.company_id = $1 AND v.id = $2`,
    [company.companyId, id],
  );
  const page = await openConsole(company, '/invoices');
  const first = await numbers(page);
  assert.equal(first.length, 50);
  await page.getByRole('link', { name: 'Next page' }).click();
  await page.getByRole('link', { name: 'N-50', exact: true }).waitFor();
  await page.reload();
  assert.deepEqual(
    await numbers(page),
    Array.from({ length: 50 }, (_, n) => `N-${50 + n}`),
  );
  await page.getByRole('link', { name: 'Next page' }).click();
  await page.getByRole('link', { name: 'N-104', exact: true }).waitFor();
  await eventually(async () => assert.equal(await page.getByRole('link', { name: 'Next page' }).count(), 0));
  await page.goBack();
  await page.getByRole('link', { name: 'N-50', exact: true }).waitFor();
  await page.getByRole('link', { name: 'First page' }).click();
  await page.getByRole('link', { name: first[0] ?? '', exact: true }).waitFor();
  assertNoComplaints(page);
  await page.context().close();
});

test('a company without invoices is told where they are written, and a lost connection has a way on', {
  skip,
}, async () => {
  const company = await app.company();
  const page = await openConsole(company, '/invoices');
  await page.getByText('Everything is paid.').waitFor();
  await page.getByRole('link', { name: 'Show all invoices' }).click();
  await page.getByText('A new invoice is written in its case.').waitFor();
  await page.context().setOffline(true);
  await page.getByRole('link', { name: 'Overdue', exact: true }).click();
  await passTimeUntil(page, page.getByRole('button', { name: 'Try again' }));
  await page.context().setOffline(false);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('Nothing is overdue.').waitFor();
  await page.context().close();
});

test('invoices and the panel of one are accessible in both themes and every width', { skip }, async () => {
  const company = await app.company();
  const large = { total: '9999999999.99', sub_total: '9999999999.99' };
  const owed = await write(company, { ...due('2026-03-01'), ...large, invoice_number: `Conveyance/${'7'.repeat(39)}` });
  await pay(company, owed, '0.01');
  await write(company, due('2026-06-30'));
  await assertAccessibleEverywhere(company, '/invoices', numbers);
  await assertAccessibleEverywhere(company, `/invoices?open=${company.caseId}/${owed.id}&pay=1`, (page) =>
    page.getByRole('dialog').getByLabel('Amount').waitFor(),
  );
});
