import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestCompany } from '../../harness/app.ts';
import { ok } from '../../harness/assert.ts';
import { FILL_INTERACTIONS } from '../../harness/bodies.ts';
import {
  app,
  assertAccessibleEverywhere,
  assertNoComplaints,
  eventually,
  indexUntilFound,
  openConsole,
  skip,
} from '../../harness/console.ts';
import { until } from '../../harness/until.ts';

const call = (company: TestCompany, notes: string) =>
  ok(company.post(`${company.path}/interactions`, { type: 'phone', when: '2026-05-01 10:30', notes }));

test('the palette leads to all results, where kinds narrow them and what matches is marked as text only', {
  skip,
}, async () => {
  const company = await app.company();
  await call(company, 'The <mark>mirror</mark> wills of Mr Smith');
  await indexUntilFound(company, 'smith', 4);
  const page = await openConsole(company, '');
  await page.getByRole('heading', { level: 1 }).waitFor();
  const input = page.getByRole('combobox', { name: 'Search and commands' });
  // A heading is shown a moment before the keys work.
  await until(async () => {
    await page.keyboard.press('/');
    return input.isVisible();
  });
  await input.fill('smith');
  await page.getByRole('option', { name: 'All results for “smith”' }).click();
  await page.getByRole('heading', { name: 'Search', level: 1 }).waitFor();
  await page.getByText('4 results').waitFor();
  await page.getByRole('link', { name: 'Contacts' }).click();
  await page.getByText('1 result', { exact: true }).waitFor();
  const hit = page.getByRole('listitem').filter({ hasText: 'Phone call' });
  await eventually(async () =>
    assert.match((await hit.textContent()) ?? '', /The <mark>mirror<\/mark> wills of Mr Smith/),
  );
  await eventually(async () => assert.deepEqual(await hit.locator('mark').allTextContents(), ['Smith']));
  await page.getByRole('link', { name: 'Clients' }).click();
  await page.getByText('3 results').waitFor();
  assert.match(
    page.url(),
    /q=smith&kinds=interaction%2Cclients?|q=smith&kinds=(?:interaction%2Ccustomer|customer%2Cinteraction)/,
  );
  await page.reload();
  await page.getByText('3 results').waitFor();
  assertNoComplaints(page);
  await page.context().close();
});

test('by keyboard: type, Enter, j to the hit, Enter opens it in its case', { skip }, async () => {
  const company = await app.company();
  const { id } = await call(company, 'About the gentian');
  await indexUntilFound(company, 'gentian', 1);
  const page = await openConsole(company, '/search');
  await page.getByText('Search in all cases').waitFor();
  await page.keyboard.type('gentian');
  await page.keyboard.press('Enter');
  await page.getByText('1 result', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Search', exact: true }).focus();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(`/console/cases/${company.caseId}\\?open=interaction%2F${id}$`));
  assertNoComplaints(page);
  await page.context().close();
});

test('an index that is being built is said, and so is a search that finds nothing', { skip }, async () => {
  const company = await app.company();
  const page = await openConsole(company, '/search?q=smith');
  await page.getByText('The index of your company is being built').waitFor();
  await indexUntilFound(company, 'smith', 3);
  await page.reload();
  await page.getByText('3 results').waitFor();
  await eventually(async () => assert.equal(await page.getByText('The index of your company').count(), 0));
  await page.getByRole('searchbox').fill('nobody');
  await page.keyboard.press('Enter');
  await page.getByText('Nothing was found.').waitFor();
  assertNoComplaints(page);
  await page.context().close();
});

test('fifty results are shown at first, and more when they are asked for', { skip }, async () => {
  const company = await app.company();
  await app.sql(FILL_INTERACTIONS, [company.companyId, company.caseId, 60]);
  await indexUntilFound(company, 'call', 50);
  const page = await openConsole(company, '/search?q=call');
  await page.getByText('The first 50 results').waitFor();
  await page.getByRole('button', { name: 'Show more' }).click();
  await page.getByText('60 results', { exact: true }).waitFor();
  await eventually(async () => assert.equal(await page.getByRole('button', { name: 'Show more' }).count(), 0));
  assert.equal(await page.getByRole('main').getByRole('listitem').count(), 60);
  await page.context().close();
});

test('the results of a search are accessible in both themes and every width', { skip }, async () => {
  const company = await app.company();
  await call(company, `A call about the smithy ${'x'.repeat(80)}`);
  await indexUntilFound(company, 'smith', 4);
  await assertAccessibleEverywhere(company, '/search?q=smith', (page) => page.getByText('4 results').waitFor());
});
