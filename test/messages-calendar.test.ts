import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { startApp, type TestCompany } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import { mailServer, readMail } from './harness/mail-server.ts';
import { messageWorker } from './harness/message-worker.ts';
import { until } from './harness/until.ts';

/** The entry of an appointment in the client's calendar, from the first mail to the last. */

const app = await startApp();
const server = await mailServer();
after(() => server.close());
const worker = messageWorker(app, { mail: { smtpUrl: server.url } });

beforeEach(async () => {
  app.clock.set('2026-06-01T09:00:00Z');
  await app.sql(`UPDATE messages SET state = 'cancelled' WHERE state IN ('scheduled', 'sending')`);
  server.onMessage = () => undefined;
});

const REMINDER_DUE = '2026-06-28T13:30:00Z';
const MOVE = { start_time: '2026-06-30 10:00:00', end_time: '2026-06-30 11:00:00' };
const OLD_ORGANIZER = 'ORGANIZER;CN="Smith & Partners":mailto:old@smith.example';

async function book(company: TestCompany, more: Record<string, unknown> = {}): Promise<string> {
  const appointment = {
    adviser_email: company.adviser,
    start_time: '2026-06-29 14:30:00',
    end_time: '2026-06-29 15:30:00',
    email_recipient: company.customers[0].email,
    email_confirmation: true,
    email_notification: true,
    ...more,
  };
  const { id } = await ok(company.post(`${company.path}/appointments`, appointment));
  return `${company.path}/appointments/${id}`;
}

const setSender = (company: TestCompany, address: string | null, name: string | null = null) =>
  app.sql('UPDATE companies SET sender_address = $2, sender_name = $3 WHERE id = $1', [
    company.companyId,
    address,
    name,
  ]);

type Sent = { subject: string; from: string; entry: string | undefined };

/** Runs the worker and returns the mails that it has sent, with their calendar files, unfolded. */
async function sent(sender = worker): Promise<Sent[]> {
  server.mails.length = 0;
  await sender.runOnce();
  return server.mails.map(({ raw }) => {
    const { headers, parts } = readMail(raw);
    const { subject = '', from = '' } = headers;
    return { subject, from, entry: parts['text/calendar']?.replaceAll('\r\n ', '') };
  });
}
async function entry(sender = worker): Promise<string> {
  const [mail = assert.fail('no mail'), ...others] = await sent(sender);
  assert.deepEqual(others, []);
  return mail.entry ?? assert.fail('no calendar file');
}
const line = (text: string, name: string) => text.split('\r\n').find((one) => one.startsWith(name));

test('the organizer stays what it was when the company changes its sender: for updates, reminders and cancellations', async () => {
  const company = await app.company();
  await setSender(company, 'old@smith.example');
  const path = await book(company);
  assert.equal(line(await entry(), 'ORGANIZER'), OLD_ORGANIZER);
  await setSender(company, 'new@smith.example', 'New Name');
  const kept = 'ORGANIZER;CN="Smith & Partners";SENT-BY="mailto:new@smith.example":mailto:old@smith.example';
  await ok(company.patch(path, { ...MOVE, email_confirmation: true }));
  const [{ from, entry: update = '' } = assert.fail()] = await sent();
  assert.equal(from, 'New Name <new@smith.example>');
  assert.equal(line(update, 'ORGANIZER'), kept);
  await setSender(company, 'newest@smith.example');
  await ok(company.patch(path, { location: 'Room 2' }));
  app.clock.set('2026-06-29T09:00:00Z');
  assert.equal(line(await entry(), 'ORGANIZER'), kept.replace('new@', 'newest@'));
  await ok(company.delete(path));
  const cancellation = await entry();
  assert.equal(line(cancellation, 'METHOD'), 'METHOD:CANCEL');
  assert.equal(line(cancellation, 'ORGANIZER'), kept.replace('new@', 'newest@'));
  assert.equal(line(await entryOf(company, {}), 'ORGANIZER')?.endsWith('mailto:newest@smith.example'), true);
});

const entryOf = async (company: TestCompany, more: Record<string, unknown>) => {
  await book(company, more);
  return entry();
};

test('the address of the service stays the organizer when the company gets an address of its own', async () => {
  const company = await app.company();
  const path = await book(company);
  assert.match(line(await entry(), 'ORGANIZER') ?? '', /mailto:no-reply@service\.example$/);
  await setSender(company, 'new@smith.example');
  await ok(company.delete(path));
  const other = messageWorker(app, { mail: { smtpUrl: server.url, from: 'robot@service.example' } });
  assert.match(line(await entry(other), 'ORGANIZER') ?? '', /mailto:no-reply@service\.example$/);
});

test('each recipient of an appointment has the same organizer', async () => {
  const company = await app.company();
  await setSender(company, 'old@smith.example');
  const path = await book(company);
  await entry();
  await setSender(company, 'new@smith.example');
  await ok(company.patch(path, { email_recipient: company.customers[1].email, email_confirmation: true }));
  assert.match(line(await entry(), 'ORGANIZER') ?? '', /mailto:old@smith\.example$/);
});

test('a sender that the mail server refused is not the organizer; one that may have got through is', async () => {
  const company = await app.company();
  for (const [behaviour, expected] of [
    [{ refuse: 554 }, 'new@smith.example'],
    [{ refuse: 451 }, 'new@smith.example'],
    [{ drop: true }, 'old@smith.example'],
  ] as const) {
    await setSender(company, 'old@smith.example');
    const path = await book(company);
    server.onMessage = () => behaviour;
    assert.deepEqual(await sent(), []);
    server.onMessage = () => undefined;
    await setSender(company, 'new@smith.example');
    app.clock.advance({ minutes: 1 });
    if ('refuse' in behaviour && behaviour.refuse === 554) await ok(company.patch(path, { email_confirmation: true }));
    assert.match(line(await entry(), 'ORGANIZER') ?? '', new RegExp(`mailto:${expected}$`));
    await ok(company.delete(path));
    await sent();
  }
});

for (const [what, withdraws] of [
  ['withdrawn', true],
  ['refused at the next attempt', false],
] as const) {
  test(`the sender of a mail that a dying worker was sending is the organizer, although the mail was ${what}`, async () => {
    const company = await app.company();
    await setSender(company, 'old@smith.example');
    const path = await book(company);
    const dead = messageWorker(app, { email: { send: () => new Promise(() => {}), close() {} } });
    void dead.runOnce();
    await until(async () => (await app.sql(`SELECT 1 FROM messages WHERE state = 'sending'`)).length > 0);
    if (withdraws) await ok(company.patch(path, { email_confirmation: false }));
    server.onMessage = () => ({ refuse: 451 });
    app.clock.advance({ minutes: 1 });
    assert.deepEqual(await sent(), []);
    server.onMessage = () => undefined;
    await setSender(company, 'new@smith.example');
    if (withdraws) await ok(company.patch(path, { email_confirmation: true }));
    app.clock.advance({ minutes: 1 });
    assert.match(line(await entry(), 'ORGANIZER') ?? '', /mailto:old@smith\.example$/);
  });
}

test('entries that an earlier release has sent keep the organizer that the migration has stored', async () => {
  const company = await app.company();
  for (const [address, expected] of [
    ['old@smith.example', 'old@smith.example'],
    [null, 'no-reply@service.example'],
  ]) {
    const path = await book(company);
    await entry();
    await app.sql(
      `UPDATE messages SET organizer_name = 'Old', organizer_address = $2, told_start_at = NULL
        WHERE company_id = $1 AND state = 'sent'`,
      [company.companyId, address],
    );
    await setSender(company, 'new@smith.example');
    await ok(company.delete(path));
    assert.match(
      line(await entry(), 'ORGANIZER') ?? '',
      new RegExp(`CN="Old";SENT-BY="mailto:new@smith.example":mailto:${expected}$`),
    );
    await setSender(company, null);
  }
});

// The reminder

test('a reminder updates an entry that is out of date, under a higher sequence', async () => {
  const company = await app.company();
  for (const [change, due, name, expected] of [
    [MOVE, '2026-06-29T09:00:00Z', 'DTSTART', 'DTSTART:20260630T090000Z'],
    [{ start_time: '2026-06-29 14:45:00' }, '2026-06-28T13:45:00Z', 'DTSTART', 'DTSTART:20260629T134500Z'],
    [{ end_time: '2026-06-29 16:00:00' }, REMINDER_DUE, 'DTEND', 'DTEND:20260629T150000Z'],
    [{ location: 'Room 2' }, REMINDER_DUE, 'LOCATION', 'LOCATION:Room 2'],
  ] as const) {
    app.clock.set('2026-06-01T09:00:00Z');
    const path = await book(company);
    const first = await entry();
    await ok(company.patch(path, change));
    app.clock.set(due);
    const update = await entry();
    assert.equal(line(update, 'METHOD'), 'METHOD:REQUEST');
    assert.equal(line(update, 'UID'), line(first, 'UID'));
    assert.equal(line(update, name), expected);
    const [before, now] = [first, update].map((text) => Number(line(text, 'SEQUENCE')?.slice('SEQUENCE:'.length)));
    assert.ok((now as number) > (before as number));
    await ok(company.delete(path));
    assert.equal(line(await entry(), 'METHOD'), 'METHOD:CANCEL');
  }
});

test('a reminder has a meeting link that the entry lacks', async () => {
  const company = await app.company();
  const path = await book(company);
  await entry();
  const id = path.split('/').at(-1);
  await app.sql('UPDATE appointments SET join_url = $2, version = version + 1 WHERE id = $1', [
    id,
    'https://m.example/x',
  ]);
  app.clock.set(REMINDER_DUE);
  assert.equal(line(await entry(), 'URL'), 'URL;VALUE=URI:https://m.example/x');
});

test('a reminder has no calendar file if the entry is up to date, or if there is none', async () => {
  const company = await app.company();
  const noted = await book(company);
  await entry();
  await ok(company.patch(noted, { notes: 'Bring the papers' }));
  const moved = await book(company, { email_confirmation: false });
  await ok(company.patch(moved, { location: 'Room 2' }));
  const told = await book(company);
  await entry();
  await ok(company.patch(told, { email_recipient: company.customers[1].email, location: 'Room 2' }));
  app.clock.set(REMINDER_DUE);
  const mails = await sent();
  assert.deepEqual(
    mails.map((mail) => mail.entry),
    [undefined, undefined, undefined],
  );
});

test('an entry that a reminder has updated is not updated twice', async () => {
  const company = await app.company();
  const path = await book(company);
  await entry();
  await ok(company.patch(path, { location: 'Room 2' }));
  app.clock.set(REMINDER_DUE);
  await entry();
  const [reminder] = (await ok(company.get(`${path}/messages`))).filter(
    ({ kind }: { kind: string }) => kind === 'reminder',
  );
  await ok(company.post(`${path}/messages/${reminder.id}/resend`));
  const [again] = await sent();
  assert.match(again?.subject ?? '', /^Reminder/);
  assert.equal(again?.entry, undefined);
});

test('a client who had only a reminder gets a cancellation without a calendar file', async () => {
  const company = await app.company();
  const path = await book(company, { email_confirmation: false });
  app.clock.set(REMINDER_DUE);
  await sent();
  await ok(company.delete(path));
  const [mail] = await sent();
  assert.equal(mail?.subject, 'Cancelled: your appointment on Monday 29 June 2026, 14:30');
  assert.equal(mail?.entry, undefined);
});

// The file

test('the calendar file has lines of at most 75 octets, and each ends with CR LF, the last one too', async () => {
  const company = await app.company();
  await book(company, { location: 'ulica Świętokrzyska 14, Kraków '.repeat(20) });
  server.mails.length = 0;
  await worker.runOnce();
  const file = readMail(server.mails[0]?.raw ?? '').parts['text/calendar'] ?? '';
  assert.ok(file.endsWith('END:VCALENDAR\r\n'), JSON.stringify(file.slice(-30)));
  assert.ok(!/[^\r]\n|\r[^\n]/.test(file));
  for (const one of file.split('\r\n')) assert.ok(Buffer.byteLength(one) <= 75, one);
});
