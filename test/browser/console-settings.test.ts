/** The settings of the console in a real browser. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import {
  app,
  assertAccessibleInLooks,
  assertNoComplaints,
  type ConsolePage,
  eventually,
  openConsole,
  site,
  skip,
} from '../harness/console.ts';
import { caller } from '../harness/http.ts';
import { newSession, SESSION_COOKIE, signIn } from '../harness/people.ts';
import { openReceiver } from '../harness/receiver.ts';
import { webhookWorker } from '../harness/webhook-worker.ts';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const panel = (page: Page) => page.locator('dialog.panel');
const undo = async (page: Page, told: string) => {
  await page.locator('.toast', { hasText: told }).getByRole('button', { name: 'Undo' }).click();
};

test('a setting is changed by keyboard, a wrong one is told at its field, and other settings are not sent', {
  skip,
}, async () => {
  const company = await app.company();
  const page = await openConsole(company, '/settings');
  await page.getByRole('heading', { name: 'Company', level: 1 }).waitFor();
  await page.getByRole('link', { name: 'Edit: Region' }).press('Enter');
  const zone = panel(page).getByLabel('Time zone');
  await eventually(async () => assert.equal(await zone.evaluate((element) => element.matches(':focus')), true));
  await zone.fill('Nowhere/Land');
  await page.keyboard.press('Control+Enter');
  await page.getByText('Not saved.').waitFor();
  await eventually(async () => assert.equal(await zone.getAttribute('aria-invalid'), 'true'));
  await zone.fill('America/New_York');
  await panel(page).getByLabel('Currency').fill('USD');
  await page.keyboard.press('Control+Enter');
  await page.getByText('Saved.').waitFor();
  await page.getByText('America/New_York').first().waitFor();
  const { data } = await company.client.getCompany();
  assert.deepEqual([data.time_zone, data.currency, data.phone_region], ['America/New_York', 'USD', 'GB']);
  assertNoComplaints(page, 400);
  await page.context().close();
});

test('somebody else’s change of the same setting is shown beside one’s own, and the person chooses', {
  skip,
}, async () => {
  const company = await app.company();
  const page = await openConsole(company, '/settings/company?open=invoices');
  await panel(page).getByLabel('Payment terms').fill('60 days');
  await company.client.updateCompany({ body: { payment_terms: '14 days' } });
  await button(page, 'Save').click();
  await page.getByText('Somebody else has changed this').waitFor();
  await page.getByText('14 days').first().waitFor();
  await button(page, 'Save my choice').click();
  await page.getByText('Saved.').waitFor();
  assert.equal((await company.client.getCompany()).data.payment_terms, '60 days');
  assertNoComplaints(page, 412);
  await page.context().close();
});

test('what needs a recent sign-in leads to it and back, and what was typed is kept', { skip }, async () => {
  const company = await app.company();
  const person = await signIn(app, company);
  app.clock.advance({ minutes: 6 });
  const page = await openConsole(company, '/settings/keys', { person });
  await page.getByRole('link', { name: 'Create a key' }).press('Enter');
  await panel(page).getByLabel('Name').fill('Nightly export');
  await panel(page).getByRole('group', { name: 'Invoices' }).getByLabel('Read').check();
  await button(page, 'Create the key').click();
  await button(page, 'Sign in again').click();
  await page.waitForURL(`${site}/sign-in?again=&next=**`);
  const next = new URL(page.url()).searchParams.get('next') ?? '';
  await page.getByRole('heading', { name: 'Sign in again' }).waitFor();
  const later = await newSession(app, company, person);
  await page
    .context()
    .addCookies([{ name: SESSION_COOKIE, value: later.secret, url: site, httpOnly: true, sameSite: 'Strict' }]);
  await page.goto(site + next);
  await eventually(async () => assert.equal(await panel(page).getByLabel('Name').inputValue(), 'Nightly export'));
  await button(page, 'Create the key').click();
  await page.getByRole('heading', { name: 'The key Nightly export' }).waitFor();
  assertNoComplaints(page, 403);
  await page.context().close();
});

test('a key is shown once, closing it without a copy warns, and revoking it asks before', { skip }, async () => {
  const company = await app.company();
  const page = await openConsole(company, '/settings/keys');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
  await page.keyboard.press('n');
  await panel(page).getByLabel('Name').fill('Reports');
  await button(page, 'Create the key').click();
  await panel(page).getByRole('group', { name: 'What it may do' }).locator('.fault').waitFor();
  await panel(page).getByLabel('Event log').check();
  await button(page, 'Create the key').click();
  const key = (await page.locator('.secrets code').textContent()) ?? '';
  assert.match(key, /^cr_/);
  await page.keyboard.press('Escape');
  await page.getByText('the secret is lost').waitFor();
  await button(page, 'Copy').click();
  await button(page, 'Copied').waitFor();
  await eventually(async () => assert.equal(await page.evaluate('navigator.clipboard.readText()'), key));
  await button(page, 'I have kept it').click();
  assert.equal((await company.get('/events', { authorization: `Bearer ${key}` })).status, 200);
  const kept = await page.evaluate<string>('document.documentElement.outerHTML + JSON.stringify(sessionStorage)');
  assert.equal(kept.includes(key), false);
  await page.getByRole('link', { name: 'Reports' }).click();
  await panel(page).getByText('Event log').waitFor();
  await button(page, 'Revoke the key').click();
  await page.getByText('This cannot be undone.').waitFor();
  await button(page, 'Revoke the key').last().click();
  await page.getByText('The key is revoked.').waitFor();
  await page.getByRole('cell', { name: 'Revoked', exact: true }).waitFor();
  assertNoComplaints(page, 400);
  await page.context().close();
});

test('ending a client names what it had created and still works, and ends that too', { skip }, async () => {
  const company = await app.company();
  const page = await openConsole(company, '/settings/keys');
  await page.getByRole('link', { name: 'Create a client' }).click();
  await panel(page).getByLabel('Name').fill('Website');
  await panel(page).getByLabel('Manage the company').check();
  await button(page, 'Create the client').click();
  const secret = (await page.locator('.secrets code').last().textContent()) ?? '';
  const clientId = (await page.locator('.secrets code').first().textContent()) ?? '';
  await button(page, 'I have kept it').click();
  const program = caller(app.baseUrl);
  const token = await program.post('/oauth/token', {
    ...{ grant_type: 'client_credentials', client_id: clientId, client_secret: secret },
  });
  const made = await program.post(
    '/manage/keys',
    { name: 'Made by it', scopes: ['manage'] },
    { authorization: `Bearer ${token.body.access_token}` },
  );
  assert.equal(made.status, 200, made.text);
  await page.getByRole('link', { name: 'Website' }).click();
  await button(page, 'Replace the secret').click();
  await button(page, 'Replace the secret').last().click();
  await page.getByRole('heading', { name: 'The new secret of Website' }).waitFor();
  assert.notEqual(await page.locator('.secrets code').textContent(), secret);
  await button(page, 'I have kept it').click();
  await button(page, 'Disable').click();
  await page.getByText('Key: Made by it').waitFor();
  await button(page, 'End these too').click();
  await page.getByText('They are ended.').waitFor();
  assert.ok((await company.client.getKey({ keyId: made.body.id })).data?.revoked_at);
  assertNoComplaints(page);
  await page.context().close();
});

test('a user is invited, gets another role, is disabled and enabled; the last owner stays', { skip }, async () => {
  const company = await app.company();
  const page = await openConsole(company, '/settings/users');
  await page.getByRole('link', { name: 'Invite somebody' }).click();
  await panel(page).getByLabel('Email').fill('bea@company.example');
  await panel(page).getByLabel('Name').fill('Bea Books');
  await panel(page).getByLabel('Role').selectOption('bookkeeper');
  await button(page, 'Invite').click();
  await page.getByRole('cell', { name: 'Bookkeeper' }).waitFor();
  await page.getByRole('link', { name: 'Bea Books' }).click();
  await panel(page).getByLabel('Role').selectOption('reader');
  await button(page, 'Save').click();
  await page.getByRole('cell', { name: 'Reader' }).waitFor();
  await page.getByRole('link', { name: 'Bea Books' }).click();
  await button(page, 'Disable').click();
  await button(page, 'Enable').click();
  await button(page, 'Disable').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'The owner' }).click();
  await panel(page).getByLabel('Role').selectOption('reader');
  await button(page, 'Save').click();
  await panel(page).getByText('the last owner must stay').waitFor();
  assertNoComplaints(page, 400);
  await page.context().close();
});

test('kinds are added, renamed, deleted and brought back; a tag is written as people write it', { skip }, async () => {
  const company = await app.company();
  const page = await openConsole(company, '/settings/lists');
  await page.getByText('There are no kinds yet.').waitFor();
  await page.keyboard.press('n');
  await panel(page).getByLabel('Name').and(page.locator(':focus')).waitFor();
  await page.keyboard.type('Will');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('link', { name: 'Will', exact: true }).click();
  await panel(page).getByLabel('Name').fill('Wills');
  await button(page, 'Save').click();
  await page.getByRole('link', { name: 'Wills' }).click();
  await button(page, 'Delete').first().click();
  await page.getByText('There are no kinds yet.').waitFor();
  await page.getByRole('link', { name: 'Deleted', exact: true }).click();
  await button(page, 'Restore').click();
  await page.getByText('Nothing was deleted.').waitFor();
  await page.getByRole('link', { name: 'Deleted', exact: true }).click();
  await page.getByRole('link', { name: 'Wills' }).waitFor();
  await page.getByRole('link', { name: 'Add a tag' }).click();
  await panel(page).getByLabel('Tag').fill('Night caller');
  await button(page, 'Save').click();
  await panel(page).waitFor({ state: 'detached' });
  await button(page, 'Delete the tag night-caller').click();
  // Until then the message of the kind, with another Undo, may be there.
  await button(page, 'Delete the tag night-caller').waitFor({ state: 'detached' });
  await undo(page, 'Deleted.');
  await button(page, 'Delete the tag night-caller').waitFor();
  assertNoComplaints(page);
  await page.context().close();
});

test('an adviser gets a video account; its secret is in no draft', { skip }, async () => {
  const company = await app.company();
  const { data: adviser } = await company.client.createAdviser({
    body: { name: 'Nina Harrow', email: 'nina@company.example' },
  });
  const page = await openConsole(company, `/settings/advisers?open=adviser/${adviser.id}`);
  await button(page, 'Use Jitsi').click();
  await button(page, 'Disconnect').click();
  await button(page, 'Use Jitsi').waitFor();
  await page.getByRole('link', { name: 'Connect Zoom' }).click();
  await page.getByLabel('Client secret').fill('very-secret');
  await page.getByLabel('Account ID').fill('acc');
  await button(page, 'Connect').click();
  await page.getByText('Not saved.').waitFor();
  await eventually(async () => assert.equal(await page.getByLabel('Client ID').getAttribute('aria-invalid'), 'true'));
  await eventually(async () =>
    assert.equal((await page.evaluate<string>('JSON.stringify(sessionStorage)')).includes('very-secret'), false),
  );
  await page.getByLabel('Client ID').fill('client');
  await page.getByLabel('Zoom user who hosts').fill('me');
  await button(page, 'Connect').click();
  await page.getByText('Zoom, hosted by me').waitFor();
  await button(page, 'Disconnect').click();
  await button(page, 'Disconnect').last().click();
  await page.getByText('Zoom, hosted by me').waitFor({ state: 'detached' });
  // The message of the first time may still be there.
  await page.getByText('Disconnected.').last().waitFor();
  assertNoComplaints(page, 400);
  await page.context().close();
});

test('an endpoint is added, its deliveries show every attempt, and an event is sent again', { skip }, async () => {
  const company = await app.company();
  const receiver = await openReceiver();
  after(receiver.close);
  const worker = webhookWorker(app);
  const page = await openConsole(company, '/settings/webhooks?open=endpoint/new');
  await panel(page).getByLabel('Address').fill(receiver.url);
  await panel(page).getByLabel('Events').fill('nothing.such');
  await button(page, 'Add the endpoint').click();
  await panel(page).getByText('nothing.such', { exact: false }).first().waitFor();
  await eventually(async () =>
    assert.equal(await panel(page).getByLabel('Events').getAttribute('aria-invalid'), 'true'),
  );
  await panel(page).getByLabel('Events').fill('interaction.*');
  await button(page, 'Add the endpoint').click();
  await page.locator('.secrets code').waitFor();
  await button(page, 'I have kept it').click();
  await company.post(`${company.path}/interactions`, { type: 'phone', notes: 'sent' });
  await worker.runOnce();
  await page.getByRole('link', { name: 'Deliveries' }).click();
  await page.getByRole('link', { name: 'interaction.created' }).click();
  await panel(page).getByText('Delivered').waitFor();
  await panel(page).getByText('200').first().waitFor();
  await button(page, 'Send again').click();
  await page.getByText('1 event is sent again.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('cell', { name: 'Waiting' }).waitFor();
  await page.getByRole('link', { name: 'Failed' }).click();
  await page.getByText('There are no deliveries.').waitFor();
  await page.getByRole('link', { name: receiver.url }).click();
  await page.getByRole('link', { name: 'Replace the secret' }).click();
  await button(page, 'Replace the secret').click();
  await page.getByRole('heading', { name: 'The new secret of the endpoint' }).waitFor();
  await button(page, 'I have kept it').click();
  await button(page, 'Disable').click();
  await button(page, 'Resume').click();
  await button(page, 'Resume').last().click();
  await button(page, 'Disable').waitFor();
  assertNoComplaints(page, 400);
  await page.context().close();
});

test('the event log begins with the newest change, filters by record, and shows before and after', {
  skip,
}, async () => {
  const company = await app.company();
  const { data: kind } = await company.client.createCaseKind({ body: { name: 'Will' } });
  await company.client.updateCaseKind({ kindId: kind.id, body: { name: 'Wills' } });
  const page = await openConsole(company, '/settings/events', { role: 'adviser' });
  await page.getByRole('table').waitFor();
  await page.getByLabel('Record').selectOption('case_kind');
  await page.getByText('That is all.').waitFor();
  const shown = await page.locator('tbody tr td:first-child').allTextContents();
  assert.deepEqual(shown, ['Case kind: updated', 'Case kind: created']);
  await page.getByRole('link', { name: 'Case kind: updated' }).click();
  const row = panel(page).getByRole('row', { name: 'Name' });
  await row.waitFor();
  await eventually(async () => assert.deepEqual(await row.getByRole('cell').allTextContents(), ['Will', 'Wills']));
  assertNoComplaints(page);
  await page.context().close();
});

test('a message is written with its preview beside it, and the default texts come back and go', { skip }, async () => {
  const company = await app.company();
  const page = await openConsole(company, '/settings/messages');
  await page.getByRole('link', { name: 'Reminder' }).click();
  const subject = page.getByLabel('Subject');
  await page.locator('.letter').first().waitFor();
  const standard = await subject.inputValue();
  await subject.fill('See you, {{nobody}}');
  await button(page, 'Save').click();
  await page.getByText('there is no field nobody').first().waitFor();
  await eventually(async () => assert.equal(await subject.getAttribute('aria-invalid'), 'true'));
  await subject.fill('See you on ');
  await page.getByText('What can be filled in').click();
  await button(page, '{{short_date}}').click();
  await eventually(async () => assert.equal(await subject.inputValue(), 'See you on {{short_date}}'));
  await page.clock.runFor(500);
  await page.locator('.letter strong', { hasText: /^See you on .*\d/ }).waitFor();
  await page.reload();
  await page.getByText('What you had typed is here again.').waitFor();
  await button(page, 'Save').click();
  await page.getByText('Your own: Subject').waitFor();
  await button(page, 'Back to the default texts').click();
  await page.getByText('The message has the default texts.').waitFor();
  await eventually(async () => assert.equal(await subject.inputValue(), standard));
  await page.getByText('Your own: Subject').waitFor({ state: 'detached' });
  await undo(page, 'The message has the default texts.');
  await page.getByText('Your own: Subject').waitFor();
  await eventually(async () => assert.equal(await subject.inputValue(), 'See you on {{short_date}}'));
  assertNoComplaints(page, 400);
  await page.context().close();
});

test('a person sees where they are signed in, ends other sessions, and is led to change how they sign in', {
  skip,
}, async () => {
  const company = await app.company();
  const person = await signIn(app, company, { role: 'reader' });
  const other = await newSession(app, company, person);
  const page = await openConsole(company, '/settings', { person });
  await page.getByRole('heading', { name: 'Your sign-in', level: 1 }).waitFor();
  // A role is not offered what it may not do.
  const pages = page.getByRole('navigation', { name: 'Settings' }).getByRole('link');
  await eventually(async () => assert.deepEqual(await pages.allTextContents(), ['Your sign-in', 'Event log']));
  await button(page, 'Sign out Test').click();
  await page.getByText('That browser is signed out.').waitFor();
  app.clock.advance({ seconds: 3 });
  assert.equal((await other.get('/session')).status, 401);
  await button(page, 'Add or change').click();
  await page.waitForURL(`${site}/sign-in?again=&account=&next=**`);
  assertNoComplaints(page);
  await page.context().close();
});

test('a page that the role may not see is not shown', { skip }, async () => {
  const company = await app.company();
  const page = await openConsole(company, '/settings/keys', { role: 'bookkeeper' });
  await page.getByText('There is nothing here').waitFor();
  await page.context().close();
});

const PAGES = ['account', 'company', 'users', 'advisers', 'lists', 'messages', 'messages/reminder', 'keys', 'webhooks'];
const PANELS = [
  'company?open=messages',
  'users?open=user/new',
  'keys?open=key/new',
  'webhooks?open=endpoint/new',
  'messages/reminder?open=test',
];

test('every page of the settings is accessible in both themes and every width, and its panels too', {
  skip,
}, async () => {
  const company = await app.company();
  const page = await openConsole(company, '/settings');
  const visit = async (address: string) => {
    await page.goto(`${site}/console/settings/${address}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
  };
  for (const address of [...PAGES, 'events']) {
    await visit(address);
    await assertAccessibleInLooks(page, address);
  }
  for (const address of PANELS) {
    await visit(address);
    await page.locator('dialog').waitFor();
    await assertAccessibleInLooks(page, address);
  }
  await openOneEvent(page);
  await assertAccessibleInLooks(page, 'an event');
  assertNoComplaints(page);
  await page.context().close();
});

async function openOneEvent(page: ConsolePage): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.goto(`${site}/console/settings/events?record=company`);
  await page.locator('tbody a').first().click();
  await panel(page).getByRole('table').waitFor();
}
