import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ALL_FLAGS,
  app,
  assertUntouched,
  at,
  book,
  CHANNELS,
  deliver,
  due,
  MESSAGES,
  messages,
  REMINDERS,
  recipients,
  scheduled,
  states,
} from './harness/appointment-messages.ts';
import { ok } from './harness/assert.ts';

const CONFIRMATIONS = MESSAGES.filter(([, , kind]) => kind === 'confirmation');

// Confirmations

for (const [flag, channel, kind] of CONFIRMATIONS) {
  test(`${flag} requested again after it was sent makes exactly one new message`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    await deliver(appointment);
    app.clock.advance({ hours: 1 });
    for (let round = 0; round < 2; round += 1) {
      assert.equal((await appointment.update({ [flag]: true }))[flag], 'scheduled');
      assert.deepEqual((await states(appointment, channel, kind)).sort(), ['scheduled', 'sent']);
    }
    await deliver(appointment);
    assert.equal((await appointment.read())[flag], 'sent');
    assert.equal((await appointment.move('2026-06-20 10:00:00', { [flag]: true }))[flag], 'scheduled');
    assert.deepEqual((await states(appointment, channel, kind)).sort(), ['scheduled', 'sent', 'sent']);
  });

  test(`${flag} requested again after it failed is retried`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    await deliver(appointment, 'failed');
    assert.equal((await appointment.update({ [flag]: true }))[flag], 'scheduled');
    assert.equal((await scheduled(appointment)).length, 1);
  });

  test(`${flag} of a request that withdraws the second leaves the first as it was sent`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    await deliver(appointment);
    await appointment.update({ [flag]: true });
    await appointment.update({ [flag]: false });
    assert.deepEqual((await states(appointment, channel, kind)).sort(), ['cancelled', 'sent']);
  });

  test(`${flag} without a recipient stays skipped when one is added, until it is requested again`, async () => {
    const company = await app.company();
    const appointment = await book(company, { [flag]: true });
    assert.equal((await appointment.update(recipients(company)))[flag], 'skipped');
    assert.deepEqual(await scheduled(appointment), []);
    assert.equal((await appointment.update({ [flag]: true }))[flag], 'scheduled');
    assert.equal((await scheduled(appointment)).length, 1);
  });

  test(`${flag} that was skipped is cancelled when it is no longer requested`, async () => {
    const appointment = await book(await app.company(), { [flag]: true });
    assert.equal((await appointment.update({ [flag]: false }))[flag], 'cancelled');
    assert.equal((await appointment.read())[flag], 'cancelled');
  });

  test(`${flag} that waits is skipped when its recipient is cleared`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    assert.equal((await appointment.update({ [`${channel}_recipient`]: null }))[flag], 'skipped');
    assert.deepEqual(await scheduled(appointment), []);
  });

  test(`${flag} that waits stays one when the recipient changes`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    const others = { email_recipient: company.customers[1].email, sms_recipient: '07400 654321' };
    assert.equal((await appointment.update(others))[flag], 'scheduled');
    assert.deepEqual(await states(appointment, channel, kind), ['scheduled']);
  });

  test(`${flag} is sent for an appointment in progress, and is skipped for one that is over`, async () => {
    const company = await app.company();
    const early = await book(company, recipients(company));
    app.clock.set('2026-06-10T09:59:59Z');
    assert.equal((await book(company, { ...recipients(company), [flag]: true })).answer[flag], 'scheduled');
    for (const now of ['2026-06-10T10:00:00Z', '2026-06-11T09:00:00Z']) {
      app.clock.set(now);
      const over = await book(company, { ...recipients(company), [flag]: true });
      assert.equal(over.answer[flag], 'skipped');
      assert.equal((await early.update({ [flag]: true }))[flag], 'skipped');
      for (const appointment of [over, early]) assert.deepEqual(await scheduled(appointment), []);
    }
  });

  test(`${flag} that still waits when the appointment is over, requested again, is skipped and does not wait on`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    app.clock.set('2026-06-11T09:00:00Z');
    assert.equal((await appointment.update({ [flag]: true }))[flag], 'skipped');
    assert.deepEqual(await scheduled(appointment), []);
  });

  test(`${flag} of an appointment that is over is made when it is moved and requested again`, async () => {
    const company = await app.company();
    app.clock.set('2026-06-12T09:00:00Z');
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    assert.equal((await appointment.move('2026-06-20 10:00:00'))[flag], 'skipped');
    assert.equal((await appointment.update({ [flag]: true }))[flag], 'scheduled');
    assert.equal((await scheduled(appointment)).length, 1);
  });
}

// Recipients of reminders

for (const [flag, channel] of REMINDERS) {
  const field = `${channel}_recipient` as const;

  test(`${flag} is scheduled when a recipient is added later, and skipped when it is cleared`, async () => {
    const company = await app.company();
    const appointment = await book(company, { [flag]: true });
    assert.equal(appointment.answer[`${channel}_day_before`], 0);
    for (let round = 0; round < 2; round += 1) {
      const added = await appointment.update({ [field]: recipients(company)[field] });
      assert.equal(added[flag], 'scheduled');
      assert.equal(added[`${channel}_day_before`], 1);
      assert.equal(await due(appointment, channel), '2026-06-09T09:00:00Z');
      const cleared = await appointment.update({ [field]: null });
      assert.equal(cleared[flag], 'skipped');
      assert.equal(cleared[`${channel}_day_before`], 0);
      assert.deepEqual(await scheduled(appointment), []);
    }
  });

  test(`${flag} that was not asked for is not made by a recipient`, async () => {
    const company = await app.company();
    const appointment = await book(company);
    assert.equal((await appointment.update(recipients(company)))[flag], null);
    assert.deepEqual(await messages(appointment), []);
  });

  test(`${flag} that was withdrawn is not made by a recipient`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    await appointment.update({ [flag]: false });
    await appointment.update({ [field]: null });
    await appointment.update({ [field]: recipients(company)[field] });
    assert.deepEqual(await scheduled(appointment), []);
  });

  test(`${flag} whose recipient comes too late stays skipped`, async () => {
    const company = await app.company();
    const appointment = await book(company, { [flag]: true });
    app.clock.set('2026-06-10T08:30:00Z');
    assert.equal((await appointment.update({ [field]: recipients(company)[field] }))[flag], 'skipped');
    assert.deepEqual(await scheduled(appointment), []);
  });

  test(`${flag} whose recipient comes on the last day is sent one hour before`, async () => {
    const company = await app.company();
    const appointment = await book(company, { [flag]: true });
    app.clock.set('2026-06-09T12:00:00Z');
    const answer = await appointment.update({ [field]: recipients(company)[field] });
    assert.equal(answer[flag], 'scheduled');
    assert.equal(answer[`${channel}_day_before`], 0);
    assert.equal(await due(appointment, channel), '2026-06-10T08:00:00Z');
  });

  test(`${flag} stays one, and keeps its hour, when the recipient changes`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    const other = { email_recipient: company.customers[1].email, sms_recipient: '07400 654321' }[field];
    assert.equal((await appointment.update({ [field]: other }))[flag], 'scheduled');
    assert.equal(await due(appointment, channel), '2026-06-09T09:00:00Z');
  });

  test(`${flag} that was sent is not sent again to another recipient`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    await deliver(appointment);
    const other = { email_recipient: company.customers[1].email, sms_recipient: '07400 654321' }[field];
    for (const value of [other, null, recipients(company)[field]]) {
      assert.equal((await appointment.update({ [field]: value }))[flag], 'sent');
      assert.deepEqual(await states(appointment, channel, 'reminder'), ['sent']);
    }
  });

  test(`${flag} follows a request that moves the start and changes the recipient at once`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    assert.equal((await appointment.move('2026-06-20 10:00:00', { [field]: null }))[flag], 'skipped');
    assert.deepEqual(await scheduled(appointment), []);
    const back = await appointment.move('2026-06-22 10:00:00', { [field]: recipients(company)[field] });
    assert.equal(back[flag], 'scheduled');
    assert.equal(await due(appointment, channel), '2026-06-21T09:00:00Z');
  });

  test(`${flag} whose recipient was cleared moves without one`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), [flag]: true });
    await appointment.update({ [field]: null });
    assert.equal((await appointment.move('2026-06-20 10:00:00'))[flag], 'skipped');
    assert.deepEqual(await scheduled(appointment), []);
    assert.equal((await appointment.update({ [field]: recipients(company)[field] }))[flag], 'scheduled');
    assert.equal(await due(appointment, channel), '2026-06-19T09:00:00Z');
  });
}

// Deleting

for (const how of ['DELETE', 'POST']) {
  test(`${how} withdraws every message that has not been sent, and only those`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), ...ALL_FLAGS });
    await deliver(appointment, 'sent', 'confirmation');
    await ok(company.send(how, appointment.path));
    for (const channel of CHANNELS) {
      assert.deepEqual(await states(appointment, channel, 'confirmation'), ['sent']);
      assert.deepEqual(await states(appointment, channel, 'reminder'), ['cancelled']);
    }
    const waiting = await book(company, { ...recipients(company), ...ALL_FLAGS });
    await ok(company.send(how, waiting.path));
    assert.deepEqual(
      (await messages(waiting)).map(({ state }) => state),
      Array(4).fill('cancelled'),
    );
  });

  test(`nothing brings messages back after ${how}`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), ...ALL_FLAGS });
    await ok(company.send(how, appointment.path));
    await assertUntouched(appointment, async () => {
      for (const [method, body] of [
        ['PATCH', ALL_FLAGS],
        ['POST', { ...at('2026-06-20 10:00:00'), ...ALL_FLAGS }],
        ['POST', undefined],
        ['DELETE', undefined],
      ] as const) {
        assert.equal((await company.send(method, appointment.path, body)).status, 404);
      }
    });
  });
}

test('a deletion that is refused withdraws nothing', async () => {
  const company = await app.company();
  const appointment = await book(company, { ...recipients(company), ...ALL_FLAGS });
  const other = await app.company();
  await assertUntouched(appointment, async () => {
    assert.equal((await other.delete(appointment.path)).status, 404);
    assert.equal((await company.delete(appointment.path, { 'content-type': undefined })).status, 400);
    assert.equal((await company.post(appointment.path, 'null')).status, 400);
    assert.equal((await company.post(appointment.path, '{}'.padEnd(1024 * 1024 + 1))).status, 413);
  });
});
