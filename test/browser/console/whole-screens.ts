import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  app,
  assertAccessible,
  assertAccessibleEverywhere,
  assertNoComplaints,
  eventually,
  openConsole,
  skip,
} from '../../harness/console.ts';
import { createConsoleCompany } from '../../harness/console-company.ts';

test('Today shows what needs somebody, and its next step is one press away', { skip }, async () => {
  const company = await createConsoleCompany(app);
  const page = await openConsole(company, '');
  const appointments = page.getByRole('region', { name: 'Appointments today' });
  await appointments.getByRole('listitem').first().waitFor();
  await eventually(async () => assert.equal(await appointments.getByRole('listitem').count(), 3));
  await appointments.getByRole('button', { name: 'The client came' }).first().click();
  await appointments.getByText('attended').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await appointments.getByText('attended').waitFor({ state: 'detached' });
  const overdue = page.getByRole('region', { name: 'Overdue invoices' });
  await overdue.getByText('2 invoices, £918.00').waitFor();
  await overdue.getByRole('link', { name: 'Record a payment' }).first().click();
  await page.getByRole('dialog', { name: 'Invoice HF-2038' }).getByLabel('Amount').waitFor();
  assertNoComplaints(page);
  await page.context().close();
});

test('every panel is accessible', { skip }, async () => {
  const company = await createConsoleCompany(app);
  const page = await openConsole(company, `/cases/${company.showcaseId}`);
  await page.getByText('Asked when the wills').waitFor();
  for (const open of ['case', 'customer/new', 'interaction/new', 'appointment/new', 'invoice/new', 'entry/new']) {
    await page.goto(`${page.url().split('?')[0]}?open=${open}`);
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^(Save|Book)$/ })
      .waitFor();
    await assertAccessible(page, open);
  }
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Invoice HF-2041' }).click();
  await page.getByRole('dialog').getByText('Card, reception').waitFor();
  await assertAccessible(page, 'invoice');
  assertNoComplaints(page);
  await page.context().close();
});

test('every screen is accessible in both themes and every width', { skip }, async () => {
  const company = await createConsoleCompany(app);
  const address = `/cases/${company.showcaseId}`;
  for (const [place, shown] of [
    ['', 'HF-2038'],
    ['/cases', 'Estate of E. Whitcombe'],
    [address, 'Asked when the wills can be signed'],
    [`${address}?show=people`, 'Ms Edith Brennan'],
  ] as const) {
    await assertAccessibleEverywhere(company, place, (page) => page.getByText(shown).first().waitFor());
  }
});
