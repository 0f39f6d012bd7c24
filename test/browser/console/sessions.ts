import assert from 'node:assert/strict';
import { test } from 'node:test';
import { app, openConsole, passTimeUntil, site, skip } from '../../harness/console.ts';
import { SESSION_COOKIE, signIn } from '../../harness/people.ts';

test('when somebody else signs in in another tab, this tab begins with that person and forgets what was typed', {
  skip,
}, async () => {
  const company = await app.company();
  const page = await openConsole(company, '/cases?open=new');
  await page.getByRole('dialog').getByLabel('Reference').fill('Of the owner');
  const reader = await signIn(app, company, { role: 'reader' });
  const cookie = { name: SESSION_COOKIE, value: reader.secret, url: site };
  await page.context().addCookies([{ ...cookie, httpOnly: true, sameSite: 'Strict' }]);
  const other = await page.context().newPage();
  await other.goto(`${site}/console`);
  await page.getByRole('button', { name: 'The reader' }).waitFor();
  const kept = await page.evaluate<string>('JSON.stringify(sessionStorage)');
  assert.equal(kept.includes('Of the owner'), false);
  await page.context().close();
});

test('signing out without a connection hides everything, says that the session goes on, and can be repeated', {
  skip,
}, async () => {
  const company = await app.company();
  const page = await openConsole(company, '/cases');
  await page.getByRole('table').waitFor();
  await page.route('**/session', (route) => route.abort('connectionreset'));
  await page.getByRole('button', { name: 'The owner' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await passTimeUntil(page, page.getByText('You are still signed in'));
  assert.equal(await page.getByRole('table').count(), 0);
  await page.unroute('**/session');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.waitForURL(`${site}/sign-in`);
  await page.context().close();
});

test('a page that began without a connection begins when there is one', { skip }, async () => {
  const company = await app.company();
  const page = await openConsole(company, '/cases', { person: null });
  await page.waitForURL(`${site}/sign-in**`);
  const person = await signIn(app, company);
  const cookie = { name: SESSION_COOKIE, value: person.secret, url: site };
  await page.context().addCookies([{ ...cookie, httpOnly: true, sameSite: 'Strict' }]);
  await page.route('**/session', (route) => route.abort('connectionreset'));
  await page.goto(`${site}/console/cases`);
  await passTimeUntil(page, page.getByText('The service cannot be reached.'));
  await page.unroute('**/session');
  await page.evaluate("dispatchEvent(new Event('online'))");
  await page.getByRole('table').waitFor();
  await company.client.createCase({ body: { reference: 'Followed' } });
  await passTimeUntil(page, page.getByRole('link', { name: 'Followed' }));
  await page.context().close();
});

test('a zone and a currency that a colleague sets are shown without a reload, to every role', { skip }, async () => {
  const company = await app.company();
  const page = await openConsole(company, '/cases', { role: 'reader', timeZone: 'Europe/London' });
  await page.getByRole('table').waitFor();
  await company.client.updateCompany({ body: { time_zone: 'America/New_York' } });
  await passTimeUntil(page, page.getByText('Times are in America/New_York'));
  await page.context().close();
});

test('what fails without anybody waiting for it is said, and so is a reload that fails', { skip }, async () => {
  const company = await app.company();
  const page = await openConsole(company, '/cases');
  await page.getByRole('table').waitFor();
  await page.evaluate("void Promise.reject(new Error('nobody waits'))");
  await page.getByText('Something went wrong in this page.').waitFor();
  await page.route('**/cases?**', (route) => route.fulfill({ status: 404, json: { code: 'not_found' } }));
  await company.client.createCase({ body: { reference: 'Not loaded' } });
  await passTimeUntil(page, page.locator('.error-state'));
  assert.equal(await page.getByRole('table').count(), 1);
  await page.context().close();
});
