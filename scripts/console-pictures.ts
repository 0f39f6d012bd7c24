import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { pino } from 'pino';
import type { Page } from 'playwright-core';
import { indexChanges } from '../src/search/indexer.ts';
import { app, type ConsolePage, openConsole, skip } from '../test/harness/console.ts';
import { type ConsoleCompany, createConsoleCompany } from '../test/harness/console-company.ts';
import { messageWorker } from '../test/harness/message-worker.ts';
import { signIn } from '../test/harness/people.ts';

/** Writes docs/console: every screen in light, dark and phone width. `npm run console:pictures` runs it. */

const folder = new URL('../docs/console/', import.meta.url);

const VARIANTS = [
  { name: 'light', width: 1280, height: 860, theme: 'light' },
  { name: 'dark', width: 1280, height: 860, theme: 'dark' },
  { name: 'phone', width: 390, height: 844, theme: 'light' },
] as const;

type Picture = {
  name: string;
  address: string;
  /** Brings the screen to what the picture is about. */
  prepare?: (page: ConsolePage) => Promise<unknown>;
};

test('pictures', { skip }, async () => {
  mkdirSync(folder, { recursive: true });
  const company = await createConsoleCompany(app);
  const person = await signIn(app, company);
  await app.sql('UPDATE users SET name = $1, email = $2 WHERE id = $3', [
    'Nina Harrow',
    'nina.harrow@harrowfinch.example',
    person.userId,
  ]);
  // The advisers that every company of a test has.
  await app.sql(`UPDATE advisers SET active = false WHERE name IN ('Alex Adviser', 'Vic Video')`);
  const { contactId } = await fill(company);
  for (const { name: variant, ...size } of VARIANTS) {
    const page = await openConsole(company, '', { ...size, person });
    for (const { name, address, prepare } of pictures(company, contactId)) {
      await page.evaluate(`for (const key of Object.keys(sessionStorage)) {
        if (key.startsWith('draft:')) sessionStorage.removeItem(key);
      }`);
      await page.goto(new URL(`/console${address}`, page.url()).href);
      await page.locator('main h1').waitFor();
      await page.waitForLoadState('networkidle');
      await prepare?.(page);
      await page.waitForLoadState('networkidle');
      await page.screenshot({ path: new URL(`${name}-${variant}.png`, folder).pathname });
    }
    await page.context().close();
  }
});

function pictures(company: ConsoleCompany, contactId: string): Picture[] {
  const showcase = `/cases/${company.showcaseId}`;
  return [
    { name: 'today', address: '' },
    { name: 'cases', address: '/cases' },
    {
      name: 'new-case',
      address: '/cases?open=new',
      prepare: (page) => typeInto(page, { Reference: 'Marlow, will', 'First names': 'Harriet', 'Last name': 'Marlow' }),
    },
    { name: 'case', address: showcase },
    { name: 'address-book', address: `${showcase}?show=people` },
    {
      name: 'log-a-contact',
      address: `${showcase}?open=interaction/new`,
      prepare: (page) => typeInto(page, { Notes: 'Wants the signing on Thursday at ten.', From: 'Rosa Hale' }),
    },
    {
      name: 'book-an-appointment',
      address: `${showcase}?open=appointment/new`,
      prepare: (page) => typeInto(page, { Start: '2026-06-19T10:00', Place: 'Room 2' }),
    },
    { name: 'new-invoice', address: `${showcase}?open=invoice/new`, prepare: writeInvoice },
    {
      name: 'conflict',
      address: `${showcase}?open=interaction/${contactId}`,
      prepare: (page) => conflict(page, company),
    },
    { name: 'diary', address: '/diary' },
    { name: 'diary-week', address: '/diary?view=week' },
    { name: 'invoices', address: '/invoices?show=all' },
    { name: 'messages', address: '/messages?state=all' },
    { name: 'search', address: '/search?q=wills' },
    { name: 'palette', address: '/cases', prepare: usePalette },
    { name: 'settings-company', address: '/settings/company' },
    { name: 'settings-users', address: '/settings/users?open=user/new' },
    { name: 'settings-advisers', address: '/settings/advisers' },
    { name: 'settings-lists', address: '/settings/lists' },
    { name: 'settings-messages', address: '/settings/messages/reminder' },
    { name: 'settings-keys', address: '/settings/keys?open=key/new' },
    { name: 'settings-webhooks', address: '/settings/webhooks?open=endpoint/new' },
    { name: 'settings-events', address: '/settings/events' },
    { name: 'settings-account', address: '/settings/account' },
  ];
}

/** What has happened since: outcomes, messages that were sent or have failed, invoices that are paid or cancelled. */
async function fill(company: ConsoleCompany): Promise<{ contactId: string }> {
  const { client, caseIds, showcaseId } = company;
  const [okafor = '', , estate = '', lindqvist = '', patel = '', castellano = ''] = caseIds;
  const adviser_email = 'george.finch@harrowfinch.example';
  const book = (caseId: string, start: string, end: string, more = {}) =>
    client.createCaseAppointment({
      caseId,
      body: { adviser_email, start_time: `2026-06-${start}`, end_time: `2026-06-${end}`, ...more },
    });
  const told = (email_recipient: string) => ({ email_recipient, email_confirmation: true, email_notification: true });
  const { data: moved } = await book(patel, '16 14:00', '16 15:30', {
    location: 'Room 2',
    ...told('arun.patel@client.example'),
  });
  await book(castellano, '15 10:00', '15 11:30', { location: 'Room 3' });
  await book(lindqvist, '17 09:00', '17 09:45', { location: 'Room 1' });
  const worker = messageWorker(app, {
    email: { send: async ({ recipient }) => ({ to: recipient, providerId: null }), close() {} },
  });
  await worker.runOnce();
  await client.setAppointmentOutcome({ caseId: patel, appointmentID: moved.id, body: { cancelled: true } });
  await book(castellano, '18 14:00', '18 15:00', { location: 'Room 3', ...told('bianca.castellano@client.example') });
  await app.sql(
    `UPDATE messages SET state = 'failed', attempts = 3, sent_to = 'bianca.castellano@client.example',
        last_error = '550 5.1.1 The mailbox does not exist.'
      WHERE company_id = $1 AND state = 'scheduled' AND kind = 'confirmation'`,
    [company.companyId],
  );
  const { data: today } = await client.listCaseAppointments({ caseId: okafor });
  for (const { id } of today) {
    await client.setAppointmentOutcome({ caseId: okafor, appointmentID: id, body: { attended: true } });
  }
  const write = async (caseId: string, invoice_number: string, date_due: string, net: string, total: string) =>
    (
      await client.createCaseInvoice({
        caseId,
        body: {
          ...{ invoice_number, sender_id: company.companyId, vat: 20, sub_total: net, total },
          ...{ date_created: '2026-05-18 09:00', date_due: `${date_due} 12:00` },
          items: [{ description: 'Advice and drafting', quantity: 1, rate: net, amount: total }],
        },
      })
    ).data.id;
  const paid = await write(patel, 'HF-2029', '2026-06-05', '480.00', '576.00');
  await client.recordPayment({ caseId: patel, invoiceId: paid, body: { amount: '576.00', reference: 'BACS' } });
  const wrong = await write(castellano, 'HF-2032', '2026-06-20', '900.00', '1080.00');
  await client.cancelInvoice({ caseId: castellano, invoiceId: wrong });
  await client.updateCase({ caseId: estate, body: { state: 'closed' } });
  await app
    .sql("UPDATE audit_events SET actor_name = 'Nina Harrow' WHERE company_id = $1", [company.companyId])
    .catch(() => undefined);
  await indexChanges({ db: app.db, clock: app.clock.read, logger: pino({ level: 'silent' }) });
  const { data: contacts } = await client.getCaseInteractions({ caseId: showcaseId });
  return { contactId: contacts[0]?.id ?? '' };
}

async function typeInto(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  const dialog = page.getByRole('dialog');
  for (const [label, value] of Object.entries(fields)) {
    await dialog
      .getByLabel(new RegExp(`^${label}( optional)?$`))
      .first()
      .fill(value);
  }
}

async function writeInvoice(page: Page): Promise<void> {
  await typeInto(page, { Number: 'HF-2050', Description: 'Mirror wills, signing', Quantity: '2', Rate: '145.00' });
}

async function usePalette(page: Page): Promise<void> {
  await page.keyboard.press('/');
  await page.keyboard.type('wills');
  await page.clock.runFor(1_000);
  await page.getByRole('dialog').getByRole('option').first().waitFor();
}

/** A colleague saves the contact while it is edited here. */
async function conflict(page: Page, { client, showcaseId }: ConsoleCompany): Promise<void> {
  const interactionId = decodeURIComponent(page.url()).split('/').at(-1) ?? '';
  const { data } = await client.readInteraction({ caseId: showcaseId, interactionId });
  await typeInto(page, { Notes: 'Asked when the wills can be signed. Offered Thursday at ten.' });
  const save = (notes: string) =>
    client.updateCaseInteraction({ caseId: showcaseId, interactionId, body: { type: data.type, notes } });
  await save('Asked when the wills can be signed. Offered Friday.');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog', { name: 'Somebody else has changed this' }).waitFor();
  // For the next picture of it.
  await save(data.notes ?? '');
}
