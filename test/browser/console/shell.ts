import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  app,
  assertAccessible,
  assertNoComplaints,
  eventually,
  openConsole,
  passTimeUntil,
  site,
  skip,
} from '../../harness/console.ts';
import { signIn } from '../../harness/people.ts';

test('somebody who has not signed in is led to the sign-in page, which knows the way back', { skip }, async () => {
  const company = await app.company();
  const page = await openConsole(company, '/cases?search=smith', { person: null });
  await page.waitForURL(`${site}/sign-in**`);
  assert.equal(new URL(page.url()).searchParams.get('next'), '/console/cases?search=smith');
  await page.context().close();
});

test('signing out ends the session and removes what was typed', { skip }, async () => {
  const company = await app.company();
  const person = await signIn(app, company);
  const page = await openConsole(company, '/cases?open=new', { person });
  await page.getByRole('dialog').getByLabel('Reference').fill('Half a refer');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'The owner' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(`${site}/sign-in`);
  await eventually(async () =>
    assert.equal(
      await page.evaluate("Object.keys(sessionStorage).filter((key) => key.startsWith('draft:')).length"),
      0,
    ),
  );
  app.clock.advance({ seconds: 3 });
  assert.equal((await person.get('/session')).status, 401);
  assertNoComplaints(page, 401);
  await page.context().close();
});

test('a session that has ended is told, with a way to sign in, and what was typed stays', { skip }, async () => {
  const company = await app.company();
  const person = await signIn(app, company);
  const page = await openConsole(company, '/cases?open=new', { person });
  await page.getByRole('dialog').getByLabel('Reference').fill('Kept');
  await person.delete('/session');
  app.clock.advance({ seconds: 3 });
  await page.getByRole('button', { name: 'Open the case' }).click();
  await page.getByText('You are signed out.').first().waitFor();
  await eventually(async () =>
    assert.equal(await page.getByRole('dialog').getByLabel('Reference').inputValue(), 'Kept'),
  );
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`${site}/sign-in**`);
  await page.context().close();
});

test('somebody who has done nothing for long is warned before the session ends, and can stay', { skip }, async () => {
  const company = await app.company();
  const page = await openConsole(company, '/cases');
  await page.getByRole('table').waitFor();
  app.clock.advance({ minutes: 28 });
  await page.clock.fastForward('28:00');
  const stay = page.getByRole('button', { name: 'Stay signed in' });
  await passTimeUntil(page, stay);
  await stay.click();
  await stay.waitFor({ state: 'detached' });
  assertNoComplaints(page);
  await page.context().close();
});

test('keys lead to screens and to their list, and can be turned off', { skip }, async () => {
  const company = await app.company();
  const page = await openConsole(company, '');
  await page.getByRole('heading', { name: 'Today', level: 1 }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('c');
  await page.getByRole('heading', { name: 'Cases', level: 1 }).waitFor();
  await eventually(async () => assert.equal(await page.evaluate('document.activeElement.id'), 'main'));
  assert.match(await page.title(), /^Cases/);
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).getByText('New case').waitFor();
  await assertAccessible(page, 'the list of keys');
  await page.getByLabel('Use single keys').uncheck();
  await page.keyboard.press('Escape');
  await page.keyboard.press('n');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search and commands' }).waitFor();
  await eventually(async () => assert.equal(await page.getByRole('dialog').count(), 1));
  assertNoComplaints(page);
  await page.context().close();
});

test('the palette runs commands: what is typed right after its key is not lost, and Esc gives the focus back', {
  skip,
}, async () => {
  const company = await app.company();
  const page = await openConsole(company, '');
  await page.getByRole('heading', { name: 'Today', level: 1 }).waitFor();
  await page.getByRole('link', { name: 'Cases' }).focus();
  await page.keyboard.press('/');
  await page.keyboard.type('go to cas');
  await page.getByRole('option', { name: 'Go to Cases' }).waitFor();
  await eventually(async () =>
    assert.equal(await page.getByRole('combobox', { name: 'Search and commands' }).inputValue(), 'go to cas'),
  );
  await assertAccessible(page, 'the palette');
  await page.keyboard.press('Escape');
  await eventually(async () => assert.equal(await page.evaluate('document.activeElement.textContent'), 'Cases'));
  await page.keyboard.press('/');
  await page.keyboard.type('go to cas');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Cases', level: 1 }).waitFor();
  assertNoComplaints(page);
  await page.context().close();
});

test('a lost connection is shown until it is back', { skip }, async () => {
  const company = await app.company();
  const page = await openConsole(company, '/cases');
  await page.getByRole('table').waitFor();
  await page.context().setOffline(true);
  await passTimeUntil(page, page.getByText('There is no connection'));
  await page.context().setOffline(false);
  await page.clock.runFor(20_000);
  await page.getByText('There is no connection').waitFor({ state: 'detached' });
  await page.context().close();
});

test('the colours that the person has chosen stay after a reload', { skip }, async () => {
  const company = await app.company();
  const page = await openConsole(company, '', { theme: 'light' });
  await page.getByRole('button', { name: 'The owner' }).click();
  await page.getByLabel('Dark').check();
  const background = 'getComputedStyle(document.documentElement).backgroundColor';
  const dark = await page.evaluate(background);
  await page.reload();
  await page.getByRole('heading', { name: 'Today', level: 1 }).waitFor();
  await eventually(async () => assert.equal(await page.evaluate(background), dark));
  assertNoComplaints(page);
  await page.context().close();
});

test('the zone of the company is named if the browser is in another one', { skip }, async () => {
  const company = await app.company({ timeZone: 'Europe/London' });
  const abroad = await openConsole(company, '/cases', { timeZone: 'America/New_York' });
  await abroad.getByText('Times are in Europe/London').waitFor();
  const home = await openConsole(company, '/cases', { timeZone: 'Europe/London' });
  await home.getByRole('table').waitFor();
  await eventually(async () => assert.equal(await home.getByText('Times are in').count(), 0));
  await abroad.context().close();
  await home.context().close();
});

test('an address that leads nowhere says so', { skip }, async () => {
  const company = await app.company();
  const page = await openConsole(company, '/nowhere/at/all');
  await page.getByText('There is nothing here').waitFor();
  await page.getByRole('link', { name: 'To the start' }).click();
  await page.getByRole('heading', { name: 'Today', level: 1 }).waitFor();
  assertNoComplaints(page);
  await page.context().close();
});
