import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import type { TestCompany } from '../../harness/app.ts';
import { ok } from '../../harness/assert.ts';
import { booking } from '../../harness/bodies.ts';
import {
  app,
  assertAccessibleEverywhere,
  assertNoComplaints,
  eventually,
  openConsole,
  skip,
} from '../../harness/console.ts';

/** The clock of the service and of the page shows 1 June 2026, 10 a.m. in London. No worker sends what waits. */

type Fields = Record<string, unknown>;

/** Books an appointment on 10 June at 10:00 with a confirmation and a reminder by email. */
async function book(company: TestCompany, fields: Fields = {}): Promise<string> {
  const { id } = await ok(
    company.post(
      `${company.path}/appointments`,
      booking(company, {
        email_recipient: company.customers[0].email,
        email_confirmation: true,
        email_notification: true,
        location: '1 High Street',
        ...fields,
      }),
    ),
  );
  return id;
}

const NO_MAILBOX = '550 5.1.1 The mailbox does not exist.';

/** What the worker records when it has given up. */
const fail = (appointmentId: string, error = NO_MAILBOX, kind = 'confirmation') =>
  app.sql(
    `UPDATE messages SET state = 'failed', attempts = 3, last_error = $2 WHERE appointment_id = $1 AND kind = $3`,
    [appointmentId, error, kind],
  );

const confirmations = (appointmentId: string) =>
  app.sql<{ state: string }>(
    `SELECT state FROM messages WHERE appointment_id = $1 AND kind = 'confirmation' ORDER BY due_at, created_at`,
    [appointmentId],
  );

/** Opens the panel of the first message that is listed. */
async function openFirst(page: Page) {
  await page.locator('[data-row]').first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('link', { name: 'Open the appointment' }).waitFor();
  return dialog;
}

test('failed messages lead, with attempts and the last error, and a filter shows the others', { skip }, async () => {
  const company = await app.company();
  const id = await book(company);
  await fail(id);
  await app.sql(
    `UPDATE messages SET attempts = 2, last_error = '421 Later' WHERE appointment_id = $1 AND kind = 'reminder'`,
    [id],
  );
  const page = await openConsole(company, '/messages');
  const failed = page.getByRole('row', { name: 'Confirmation by email' });
  await failed.getByText('Failed').waitFor();
  await failed.getByText(NO_MAILBOX).waitFor();
  await eventually(async () => assert.match((await failed.textContent()) ?? '', /3550/));
  await eventually(async () => assert.equal(await page.locator('[data-row]').count(), 1));
  assert.equal(
    await failed.getByRole('link', { name: 'Smith' }).getAttribute('href'),
    `/console/cases/${company.caseId}`,
  );
  await failed.getByRole('link', { name: 'Wed, 10 Jun 2026 10:00' }).waitFor();
  await page.getByRole('link', { name: 'Waiting' }).click();
  await page.getByRole('row', { name: 'Reminder by email' }).getByText('Trying again').waitFor();
  assert.match(page.url(), /state=scheduled/);
  await page.getByRole('link', { name: 'All', exact: true }).click();
  await page.getByText('1–2 of 2').waitFor();
  await page.getByRole('link', { name: 'Sent' }).click();
  await page.getByText('There are no such messages.').waitFor();
  assertNoComplaints(page);
  await page.context().close();
});

test('sending again says before what it does, by keyboard alone, and one press too many sends no second one', {
  skip,
}, async () => {
  const company = await app.company();
  const id = await book(company);
  await fail(id);
  await ok(
    company.patch(`${company.path}/appointments/${id}`, {
      start_time: '2026-06-11 15:00',
      end_time: '2026-06-11 16:00',
    }),
  );
  await app.sql(`UPDATE messages SET sent_to = 'old@client.example' WHERE appointment_id = $1 AND state = 'failed'`, [
    id,
  ]);
  const recipient = company.customers[0].email;
  const page = await openConsole(company, '');
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForLoadState('networkidle');
  await page.keyboard.press('g');
  await page.keyboard.press('m');
  await page.getByRole('table').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  const effect = page.getByRole('region', { name: 'Send again' });
  await effect.getByText(`A new message goes to ${recipient} immediately: Confirmation by email.`).waitFor();
  await effect.getByText('It says what the appointment is now: Thu, 11 Jun 2026 15:00, 1 High Street').waitFor();
  await effect.getByText('This message told of another start: Wed, 10 Jun 2026 10:00').waitFor();
  await effect.getByText('This message went to old@client.example.').waitFor();
  const button = effect.getByRole('button', { name: `Send to ${recipient}` });
  assert.deepEqual(await confirmations(id), [{ state: 'failed' }]);
  await button.focus();
  // Concurrently: after the panel has closed, Enter would open it again.
  await Promise.all([page.keyboard.press('Enter'), page.keyboard.press('Enter')]);
  await page.getByText(`The message to ${recipient} is on its way.`).waitFor();
  assert.deepEqual(await confirmations(id), [{ state: 'failed' }, { state: 'scheduled' }]);
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await openFirst(page);
  await page.getByText('Another one of the same kind is waiting already.').waitFor();
  assertNoComplaints(page);
  await page.context().close();
});

test('a second copy is warned of: of a message that was sent, and of one that may have arrived', { skip }, async () => {
  const company = await app.company();
  const [uncertain, sent] = [
    await book(company),
    await book(company, { start_time: '2026-06-12 10:00', end_time: '2026-06-12 11:00' }),
  ];
  await fail(uncertain, 'The server did not answer. It may have gone out.');
  await app.sql(
    `UPDATE messages SET state = 'sent', sent_at = due_at, attempts = 1, sent_to = $2 WHERE appointment_id = $1 AND kind = 'confirmation'`,
    [sent, company.customers[0].email],
  );
  const page = await openConsole(company, '/messages');
  await openFirst(page);
  await page.getByText('This message may have gone out although no answer came.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Sent' }).click();
  await page.getByRole('row', { name: 'Confirmation by email' }).getByText('Sent').first().waitFor();
  await openFirst(page);
  await page.getByText('The client has got this message, and gets it a second time.').waitFor();
  assertNoComplaints(page);
  await page.context().close();
});

test('what cannot be sent again says why, and offers nothing', { skip }, async () => {
  const company = await app.company();
  const page = await openConsole(company, '/messages');
  await page.getByText('No message has failed.').waitFor();
  const assertRefused = async (id: string, reason: string, kind = 'Confirmation') => {
    await page.goto(`${page.url().split('?')[0]}?state=failed`);
    const row = page.getByRole('row', { name: `${kind} by email` });
    await row.first().waitFor();
    await openFirst(page);
    await page.getByText(reason).waitFor();
    await eventually(async () => assert.equal(await page.getByRole('button', { name: /^Send to/ }).count(), 0, reason));
    await app.sql('DELETE FROM messages WHERE appointment_id = $1', [id]);
  };
  const deleted = await book(company);
  await fail(deleted);
  await ok(company.delete(`${company.path}/appointments/${deleted}`));
  await assertRefused(deleted, 'The appointment is deleted');
  const cancelled = await book(company);
  await fail(cancelled);
  await ok(company.patch(`${company.path}/appointments/${cancelled}/outcome`, { cancelled: true }));
  await assertRefused(cancelled, 'The appointment is cancelled');
  const over = await book(company);
  await fail(over);
  await ok(
    company.patch(`${company.path}/appointments/${over}`, {
      start_time: '2026-06-01 08:30',
      end_time: '2026-06-01 10:00',
    }),
  );
  await assertRefused(over, 'The appointment is over');
  const started = await book(company, { email_confirmation: false });
  await fail(started, NO_MAILBOX, 'reminder');
  await ok(
    company.patch(`${company.path}/appointments/${started}`, {
      start_time: '2026-06-01 09:30',
      end_time: '2026-06-01 11:00',
    }),
  );
  await assertRefused(started, 'The appointment has started', 'Reminder');
  const nobody = await book(company);
  await fail(nobody);
  await ok(company.patch(`${company.path}/appointments/${nobody}`, { email_recipient: null }));
  await assertRefused(nobody, 'The appointment names no email address.');
  await page.context().close();
});

test('a role that may not change appointments sees messages and cannot send them', { skip }, async () => {
  const company = await app.company();
  await fail(await book(company));
  const page = await openConsole(company, '/messages', { role: 'bookkeeper' });
  await page.getByText(NO_MAILBOX).waitFor();
  await eventually(async () => assert.equal(await page.getByText('Send again').count(), 0));
  const dialog = await openFirst(page);
  await eventually(async () => assert.equal(await dialog.getByRole('button', { name: /^Send/ }).count(), 0));
  assertNoComplaints(page);
  await page.context().close();
});

test('messages and the panel of one are accessible in both themes and every width', { skip }, async () => {
  const company = await app.company();
  const id = await book(company, { sms_recipient: '07400 123456', sms_confirmation: true });
  await fail(id, `${NO_MAILBOX} ${'x'.repeat(80)}`);
  const [message] = await app.sql<{ id: string }>(
    `SELECT id FROM messages WHERE appointment_id = $1 AND state = 'failed' AND channel = 'email'`,
    [id],
  );
  await assertAccessibleEverywhere(company, '/messages?state=all', (page) => page.getByRole('table').waitFor());
  await assertAccessibleEverywhere(company, `/messages?open=${company.caseId}/${id}/${message?.id}`, (page) =>
    page.getByRole('region', { name: 'Send again' }).waitFor(),
  );
});
