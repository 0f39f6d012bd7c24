import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { TestCompany } from '../harness/app.ts';
import {
  app,
  assertAccessible,
  assertAccessibleEverywhere,
  assertFits,
  assertNoComplaints,
  type ConsolePage,
  eventually,
  indexUntilFound,
  openConsole,
  passTimeUntil,
  skip,
} from '../harness/console.ts';
import { messageWorker } from '../harness/message-worker.ts';

/** The diary in a real browser. */

// A Monday, shortly before ten in the morning in London.
beforeEach(() => app.clock.set('2026-06-01T08:55:00Z'));

type Fields = Record<string, unknown>;

const book = async (company: TestCompany, start_time: string, end_time: string, more: Fields = {}): Promise<string> => {
  const body = { adviser_email: company.adviser, start_time, end_time, ...more };
  return (await company.client.createCaseAppointment({ caseId: company.caseId, body })).data.id;
};

type Stored = { start_at: Date; end_at: Date; adviser_email: string; attended: boolean; cancelled: boolean };

const stored = (company: TestCompany): Promise<(Stored & { id: string })[]> =>
  app.sql(
    `SELECT id, start_at, end_at, adviser_email, attended, cancelled FROM appointments
      WHERE company_id = $1 AND deleted_at IS NULL ORDER BY start_at`,
    [company.companyId],
  );

const times = async (company: TestCompany): Promise<string[]> =>
  (await stored(company)).map(({ start_at, end_at }) =>
    [start_at, end_at].map((at) => at.toISOString().slice(0, 16)).join(' '),
  );

const press = async (page: ConsolePage, ...keys: string[]) => {
  for (const key of keys) await page.keyboard.press(key);
};

const appointment = (page: ConsolePage, id: string) => page.locator(`[data-appointment="${id}"]`);
const hasFocus = (page: ConsolePage, id: string) => page.locator(`[data-appointment="${id}"]:focus`).waitFor();

test('a time is chosen, a client found and the appointment booked by keyboard alone', { skip }, async () => {
  const company = await app.company();
  await indexUntilFound(company, 'smith', 3);
  const page = await openConsole(company, '/diary?view=week');
  await page.getByText('No appointments', { exact: true }).first().waitFor();
  await press(page, 's', 'ArrowDown', 'ArrowDown', 'ArrowRight', 'Shift+ArrowUp');
  await page.getByRole('application', { name: 'Tue, 2 Jun 2026 10:30 – 11:15' }).waitFor();
  await press(page, 'Enter');
  await page.getByRole('combobox', { name: 'Client or case' }).waitFor();
  await page.keyboard.type('john smi');
  await page.getByRole('listbox', { name: 'Client or case' }).getByRole('option').first().waitFor();
  await press(page, 'Enter');
  const dialog = page.getByRole('dialog', { name: 'Book an appointment' });
  await dialog.getByText(`A confirmation goes to ${company.customers[0].email} by email.`).waitFor();
  await dialog.getByText('A reminder by email').waitFor();
  await press(page, 'Control+Enter');
  await dialog.getByText('Not saved.').waitFor();
  const adviser = dialog.getByLabel('Adviser');
  await eventually(async () => assert.equal(await adviser.evaluate((element) => element.matches(':focus')), true));
  await page.keyboard.type('Alex');
  await press(page, 'Control+Enter', 'Control+Enter');
  await dialog.waitFor({ state: 'detached' });
  assert.deepEqual(await times(company), ['2026-06-02T09:30 2026-06-02T10:15']);
  await hasFocus(page, (await stored(company))[0]?.id ?? '');
  assertNoComplaints(page, 400);
  await page.context().close();
});

test('an appointment is moved with keys; who knows the old time is named before it is saved, and Escape moves nothing', {
  skip,
}, async () => {
  const company = await app.company();
  const [{ email }] = company.customers;
  const id = await book(company, '2026-06-03 10:00', '2026-06-03 11:00', {
    email_recipient: email,
    email_confirmation: true,
  });
  const worker = messageWorker(app, { email: { send: async () => ({ to: email, providerId: null }), close() {} } });
  await worker.runOnce();
  const page = await openConsole(company, '/diary?view=week');
  await appointment(page, id).focus();
  await press(page, 'Space', 'ArrowDown', 'ArrowDown', 'ArrowRight', 'Escape');
  await hasFocus(page, id);
  await page.getByText('Left where it was.').waitFor();
  await press(page, 'Space', 'ArrowDown', 'ArrowDown', 'ArrowRight');
  await page.getByText('Thu, 4 Jun 2026 10:30 – 11:30, Alex Adviser').waitFor();
  await press(page, 'Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByText(`${email} knows the old time or place by email, and is not told now.`).waitFor();
  await dialog.getByLabel('Send a confirmation by email now').check();
  await dialog.getByText(`A notice of the change goes to ${email} by email`).waitFor();
  assert.deepEqual(await times(company), ['2026-06-03T09:00 2026-06-03T10:00']);
  await press(page, 'Control+Enter');
  await dialog.waitFor({ state: 'detached' });
  assert.deepEqual(await times(company), ['2026-06-04T09:30 2026-06-04T10:30']);
  await hasFocus(page, id);
  assertNoComplaints(page);
  await page.context().close();
});

test('with the mouse a time is drawn, an appointment dragged to another day, and one dragged to another adviser is booked anew', {
  skip,
}, async () => {
  const company = await app.company();
  const id = await book(company, '2026-06-01 11:00', '2026-06-01 12:00');
  const page = await openConsole(company, '/diary?view=week');
  const drag = async (
    from: { x: number; y: number },
    to: { x: number; y: number },
    beforeEnd?: () => Promise<void>,
  ) => {
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 4 });
    await beforeEnd?.();
    await page.mouse.up();
  };
  const boxOf = async () => (await appointment(page, id).boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await appointment(page, id).waitFor();
  const { x, y, width, height } = await boxOf();
  const column = await page.getByRole('region', { name: 'Tue, 2 Jun' }).boundingBox();
  const dayWidth = column?.width ?? 0;
  const hour = height + 3;
  const from = { x: x + width / 2, y: y + 12 };
  await drag(from, { x: from.x + dayWidth, y: from.y + hour }, () => press(page, 'Escape'));
  await eventually(async () => assert.equal(await page.getByRole('dialog').count(), 0));
  await drag(from, { x: from.x + dayWidth, y: from.y + hour });
  await page.getByRole('dialog').getByText('Nothing has changed yet.').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.deepEqual(await times(company), ['2026-06-02T11:00 2026-06-02T12:00']);
  // From three hours to one hour and a half before the appointment, in the next column.
  await drag({ x: from.x + 2 * dayWidth, y: y - 2 * hour + 2 }, { x: from.x + 2 * dayWidth, y: y - hour / 2 - 2 });
  const start = page.getByRole('dialog').getByLabel('Start', { exact: true });
  await start.waitFor();
  await eventually(async () => assert.equal(await start.inputValue(), '2026-06-03T09:00'));
  await eventually(async () =>
    assert.equal(await page.getByRole('dialog').getByLabel('End', { exact: true }).inputValue(), '2026-06-03T10:30'),
  );
  await press(page, 'Escape');
  await press(page, 'd', 'j');
  await page.getByRole('heading', { name: 'Vic Video' }).waitFor();
  await appointment(page, id).waitFor();
  const own = await boxOf();
  await drag({ x: own.x + 40, y: own.y + 12 }, { x: own.x + own.width + 60, y: own.y + 12 });
  await page.getByRole('dialog').getByText('An appointment keeps its adviser').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Book' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const [now, ...others] = await stored(company);
  assert.equal(others.length, 0);
  assert.equal(now?.adviser_email, company.adviserWithVideo);
  assert.notEqual(now?.id, id);
  assertNoComplaints(page);
  await page.context().close();
});

test('on the day on which the clocks go back, the second 01:30 can be booked, and both are shown', {
  skip,
}, async () => {
  const company = await app.company();
  await book(company, '2026-10-25T01:15:00Z', '2026-10-25T01:45:00Z');
  const page = await openConsole(company, `/diary?date=2026-10-25&open=new&case=${company.caseId}`);
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Adviser').selectOption({ label: 'Vic Video' });
  await dialog.getByLabel('Start', { exact: true }).fill('2026-10-25T01:30');
  await dialog.getByLabel('The second 01:30').first().check();
  await dialog.getByLabel('End', { exact: true }).fill('2026-10-25T02:00');
  await dialog.getByRole('button', { name: 'Book' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.deepEqual(await times(company), ['2026-10-25T01:15 2026-10-25T01:45', '2026-10-25T01:30 2026-10-25T02:00']);
  await page.getByText('Clocks go back: 25 hours').waitFor();
  await page.getByRole('button', { name: '01:15 GMT–01:45 GMT' }).click();
  await dialog.getByText('Sun, 25 Oct 2026 01:15 GMT – 01:45 GMT').waitFor();
  await eventually(async () => assert.equal(await dialog.getByLabel('The second 01:15').isChecked(), true));
  assertNoComplaints(page);
  await page.context().close();
});

test('a fault is at its field, and a colleague’s change of the same appointment is shown beside one’s own', {
  skip,
}, async () => {
  const company = await app.company();
  const id = await book(company, '2026-06-01 15:00', '2026-06-01 16:00');
  const page = await openConsole(company, '/diary');
  await appointment(page, id).click();
  const dialog = page.getByRole('dialog', { name: 'Appointment' });
  await dialog.getByLabel('End', { exact: true }).fill('2026-06-01T14:00');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Not saved.').waitFor();
  await eventually(async () =>
    assert.equal(await dialog.getByLabel('End', { exact: true }).getAttribute('aria-invalid'), 'true'),
  );
  await dialog.getByLabel('End', { exact: true }).fill('2026-06-01T16:30');
  await dialog.getByLabel('Place').fill('Court');
  const key = { caseId: company.caseId, appointmentID: id };
  await company.client.updateCaseAppointment({ ...key, body: { location: 'Office', notes: 'Bring the deeds' } });
  await dialog.getByRole('button', { name: 'Save' }).click();
  const choice = page.getByRole('dialog', { name: 'Somebody else has changed this' });
  await choice.getByText('Office').waitFor();
  // What only the colleague has changed is taken without a question.
  assert.equal(await choice.getByRole('group').count(), 1);
  await choice.getByRole('button', { name: 'Save my choice' }).click();
  await dialog.waitFor({ state: 'detached' });
  const { data } = await company.client.readAppointment(key);
  assert.deepEqual([data.location, data.notes, data.end_time], ['Court', 'Bring the deeds', '2026-06-01 16:30:00']);
  assertNoComplaints(page, 400, 412);
  await page.context().close();
});

test('an outcome is one press, is undone by another, and a delete is undone from its message', { skip }, async () => {
  const company = await app.company();
  const id = await book(company, '2026-06-01 09:00', '2026-06-01 10:30');
  const page = await openConsole(company, `/diary?open=${company.caseId}/${id}`);
  const dialog = page.getByRole('dialog');
  const outcome = async () => {
    const { data } = await company.client.readAppointment({ caseId: company.caseId, appointmentID: id });
    return [data.attended, data.cancelled, data.type];
  };
  await dialog.getByRole('button', { name: 'The client came' }).click();
  await dialog.getByText('Attended', { exact: true }).waitFor();
  await dialog.getByRole('button', { name: 'Undo the outcome' }).waitFor();
  assert.deepEqual(await outcome(), [1, 0, null]);
  await dialog.getByRole('button', { name: 'Undo the outcome' }).click();
  await dialog.getByRole('button', { name: 'Did not come' }).click();
  await dialog.getByText('No-show').waitFor();
  assert.deepEqual(await outcome(), [0, 0, 'no-show']);
  await dialog.getByRole('button', { name: 'Undo the outcome' }).click();
  await dialog.getByRole('button', { name: 'Cancel the appointment' }).click();
  await dialog.getByRole('button', { name: 'Undo the cancellation' }).waitFor();
  assert.deepEqual(await outcome(), [0, 1, null]);
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await appointment(page, id).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Undo' }).click();
  await appointment(page, id).waitFor();
  assertNoComplaints(page);
  await page.context().close();
});

test('a colleague’s booking appears, and a reader is offered nothing that writes', { skip }, async () => {
  const company = await app.company();
  const page = await openConsole(company, '/diary?open=new', { role: 'reader' });
  await page.getByText('No appointments', { exact: true }).first().waitFor();
  const id = await book(company, '2026-06-01 12:00', '2026-06-01 13:00', { location: 'Office' });
  await passTimeUntil(page, appointment(page, id));
  await eventually(async () => assert.equal(await page.getByRole('dialog').count(), 0));
  await eventually(async () => assert.equal(await page.getByRole('link', { name: 'Book an appointment' }).count(), 0));
  await appointment(page, id).focus();
  await press(page, 'Space', 's');
  await eventually(async () => assert.equal(await page.getByRole('application').count(), 0));
  await press(page, 'Enter');
  const dialog = page.getByRole('dialog', { name: 'Appointment' });
  await dialog.getByLabel('Place').waitFor();
  await eventually(async () => assert.equal(await dialog.getByLabel('Place').isDisabled(), true));
  await eventually(async () => assert.deepEqual(await dialog.getByRole('button').allTextContents(), ['']));
  assertNoComplaints(page);
  await page.context().close();
});

test('on a phone a press in a column books there, after what ends above it, and never at the present by accident', {
  skip,
}, async () => {
  const company = await app.company();
  const id = await book(company, '2026-06-01 11:00', '2026-06-01 12:15');
  const page = await openConsole(company, '/diary', { width: 390, height: 844 });
  await appointment(page, id).waitFor();
  const column = page.getByRole('region', { name: 'Alex Adviser' });
  const start = page.getByRole('dialog').getByLabel('Start', { exact: true });
  const box = (await column.locator('.diary-times').boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await page.mouse.click(box.x + box.width / 2, box.y + box.height - 4);
  await start.waitFor();
  await eventually(async () => assert.equal(await start.inputValue(), '2026-06-01T12:15'));
  await eventually(async () =>
    assert.equal(await page.getByRole('dialog').getByLabel('Adviser').inputValue(), company.adviser),
  );
  await press(page, 'Escape');
  await page.getByRole('region', { name: 'Vic Video' }).getByText('No appointments').click();
  await start.waitFor();
  await eventually(async () => assert.equal(await start.inputValue(), '2026-06-01T08:00'));
  await eventually(async () =>
    assert.equal(await page.getByRole('dialog').getByLabel('Adviser').inputValue(), company.adviserWithVideo),
  );
  await press(page, 'Escape');
  await page.getByRole('link', { name: 'Book an appointment' }).click();
  await start.waitFor();
  await eventually(async () => assert.equal(await start.inputValue(), ''));
  assertNoComplaints(page);
  await page.context().close();
});

/** The lines of text in the appointments that are shown in part, in pixels that are cut off. */
const CUT_LINES = `[...document.querySelectorAll('.diary-lines')].flatMap((lines) => {
  const box = lines.getBoundingClientRect();
  const range = document.createRange();
  range.selectNodeContents(lines);
  return [...range.getClientRects()]
    .filter((line) => line.left < box.right && line.top < box.bottom)
    .map((line) => line.bottom - box.bottom)
    .filter((px) => px > 1.5);
})`;

test('an appointment shows whole lines only, however short it is', { skip }, async () => {
  const company = await app.company();
  const location = 'A meeting room with a long name on the third floor of the annex';
  for (const [hour, minutes] of [10, 15, 20, 30, 40, 45, 50, 55].entries()) {
    await book(company, `2026-06-01 ${10 + hour}:00`, `2026-06-01 ${10 + hour}:${minutes}`, { location });
  }
  for (const view of ['day', 'week']) {
    const page = await openConsole(company, `/diary?view=${view}`);
    await page.getByText('8 appointments').waitFor();
    assert.equal(await page.locator('.diary-lines').count(), 8);
    assert.deepEqual(await page.evaluate(CUT_LINES), [], view);
    await page.context().close();
  }
});

test('the diary and its panels are accessible in both themes and every width, and a list on a narrow screen', {
  skip,
}, async () => {
  const company = await app.company();
  const id = await book(company, '2026-06-01 09:00', '2026-06-01 10:30', { location: 'Office' });
  await book(company, '2026-06-01 10:00', '2026-06-01 10:15');
  for (const day of [2, 3]) await book(company, `2026-06-0${day} 10:00`, `2026-06-0${day} 11:00`);
  await assertAccessibleEverywhere(company, '/diary?view=week', (page) => page.getByText('4 appointments').waitFor());
  const page = await openConsole(company, `/diary?open=${company.caseId}/${id}`);
  await page.getByRole('dialog').getByLabel('Place').waitFor();
  await assertAccessible(page, 'an appointment');
  await press(page, 'Escape');
  await press(page, 'n');
  await page.getByRole('combobox', { name: 'Client or case' }).waitFor();
  await assertAccessible(page, 'a new appointment');
  await page.setViewportSize({ width: 360, height: 900 });
  await assertFits(page, 'a new appointment');
  // A low window would hide the middle of the page behind the navigation at its lower edge, until it is scrolled.
  await page.setViewportSize({ width: 360, height: 2_400 });
  await page.goto(`${page.url().split('?')[0]}?view=week&date=2026-03-29`);
  await page.getByText('Clocks go forward: 01:00 to 02:00 does not exist').waitFor();
  await page.getByText('23 hours').waitFor();
  for (const width of [360, 1280]) {
    // A low window would hide a heading behind the navigation at its lower edge, until it is scrolled.
    await page.setViewportSize({ width, height: 2_400 });
    await assertAccessible(page, `a clock change at ${width} px`);
  }
  await page.setViewportSize({ width: 360, height: 900 });
  await page.goto(`${page.url().split('?')[0]}`);
  await appointment(page, id).waitFor();
  const box = await appointment(page, id).boundingBox();
  assert.ok((box?.width ?? 0) > 250);
  assertNoComplaints(page);
  await page.context().close();
});
