import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  ALL_FLAGS,
  type Appointment,
  app,
  at,
  book,
  CHANNELS,
  deliver,
  type Fields,
  type Kind,
  MESSAGES,
  messages,
  REMINDERS,
  recipients,
  scheduled,
  states,
} from './harness/appointment-messages.ts';
import { ok } from './harness/assert.ts';
import type { Answer } from './harness/http.ts';
import { overlapping } from './harness/overlap.ts';

const STATES = [...MESSAGES.map(([flag]) => flag), 'email_day_before', 'sms_day_before'];

// At once

async function assertAtMostOneEach(appointment: Appointment): Promise<void> {
  for (const [flag, channel, kind] of MESSAGES) {
    const waiting = await scheduled(appointment, channel, kind);
    assert.ok(waiting.length <= 1, `${flag}: ${JSON.stringify(waiting)}`);
  }
}

async function tenAtOnce(send: (index: number) => Promise<Answer>): Promise<Answer[]> {
  const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => send(index)));
  for (const answer of answers) assert.equal(answer.status, 200, answer.text);
  return answers;
}

test('ten concurrent moves leave one reminder per channel, for the final start', async () => {
  const company = await app.company();
  const appointment = await book(company, { ...recipients(company), ...ALL_FLAGS });
  const starts = Array.from({ length: 10 }, (_, index) => `2026-06-${20 + (index % 5)} 10:00:00`);
  await tenAtOnce((index) => company.patch(appointment.path, { ...at(starts[index] ?? ''), ...ALL_FLAGS }));
  const { start_time } = await appointment.read();
  const stands = Temporal.Instant.from(start_time);
  for (const channel of CHANNELS) {
    const reminders = await scheduled(appointment, channel, 'reminder');
    assert.deepEqual(
      reminders.map(({ start, due }) => [start, due]),
      [[stands.toString(), stands.subtract({ hours: 24 }).toString()]],
    );
    assert.equal((await scheduled(appointment, channel, 'confirmation')).length, 1);
  }
});

test('ten concurrent requests for every message make one message each', async () => {
  const company = await app.company();
  const appointment = await book(company);
  await tenAtOnce(() => company.patch(appointment.path, { ...recipients(company), ...ALL_FLAGS }));
  assert.deepEqual(
    (await messages(appointment)).map(({ state }) => state),
    Array(4).fill('scheduled'),
  );
});

test('ten concurrent requests to confirm again make one new confirmation', async () => {
  const company = await app.company();
  const appointment = await book(company, { ...recipients(company), ...ALL_FLAGS });
  await deliver(appointment);
  await tenAtOnce(() => company.post(appointment.path, ALL_FLAGS));
  for (const [, channel, kind] of MESSAGES) {
    const expected = kind === 'confirmation' ? ['scheduled', 'sent'] : ['sent'];
    assert.deepEqual((await states(appointment, channel, kind)).sort(), expected);
  }
});

test('concurrent requests for and against leave the states and the messages in agreement', async () => {
  const company = await app.company();
  const appointment = await book(company, recipients(company));
  await tenAtOnce((index) =>
    company.patch(appointment.path, Object.fromEntries(MESSAGES.map(([flag]) => [flag, index % 2 === 0]))),
  );
  await assertAtMostOneEach(appointment);
  const answer = await appointment.read();
  for (const [flag, channel, kind] of MESSAGES) {
    assert.ok(['scheduled', 'cancelled', null].includes(answer[flag]), String(answer[flag]));
    assert.equal((await scheduled(appointment, channel, kind)).length, answer[flag] === 'scheduled' ? 1 : 0, flag);
  }
});

test('recipients set and cleared concurrently leave the states and the messages in agreement', async () => {
  const company = await app.company();
  const appointment = await book(company, { ...recipients(company), email_notification: true, sms_notification: true });
  const noRecipients = { email_recipient: null, sms_recipient: null };
  await tenAtOnce((index) => company.patch(appointment.path, index % 2 ? recipients(company) : noRecipients));
  const answer = await appointment.read();
  for (const [flag, channel, kind] of REMINDERS) {
    const expected = answer[`${channel}_recipient`] ? 'scheduled' : 'skipped';
    assert.equal(answer[flag], expected);
    assert.equal((await scheduled(appointment, channel, kind)).length, expected === 'scheduled' ? 1 : 0);
  }
});

test('a deletion among nine updates leaves nothing scheduled', async () => {
  const company = await app.company();
  for (let round = 0; round < 3; round += 1) {
    const appointment = await book(company, { ...recipients(company), ...ALL_FLAGS });
    const update = (day: number) => company.patch(appointment.path, { ...at(`2026-06-${day} 10:00:00`), ...ALL_FLAGS });
    const days = [21, 22, 23, 24, 25, 26, 27, 28, 29];
    const [deleted, ...updated] = await Promise.all([company.delete(appointment.path), ...days.map(update)]);
    assert.equal(deleted?.status, 200, deleted?.text);
    for (const answer of updated) assert.ok([200, 404].includes(answer.status), answer.text);
    assert.deepEqual(await scheduled(appointment), []);
  }
});

/** Holds the appointment until every request waits for it, so that they continue in the order in which they came. */
const inTurn = ({ id }: Appointment, requests: (() => Promise<Answer>)[]) =>
  overlapping(app, [['SELECT 1 FROM appointments WHERE id = $1 FOR UPDATE', [id]]], requests);

for (const how of ['DELETE', 'POST']) {
  test(`${how} right behind a move withdraws the reminders that the move has just made`, async () => {
    const company = await app.company();
    const appointment = await book(company, { ...recipients(company), ...ALL_FLAGS });
    const answers = await inTurn(appointment, [
      () => company.patch(appointment.path, at('2026-06-20 10:00:00')),
      () => company.send(how, appointment.path),
    ]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    );
    assert.deepEqual(await scheduled(appointment), []);
  });
}

test('a move right behind a deletion finds nothing and makes no reminder', async () => {
  const company = await app.company();
  const appointment = await book(company, { ...recipients(company), ...ALL_FLAGS });
  const answers = await inTurn(appointment, [
    () => company.delete(appointment.path),
    () => company.patch(appointment.path, at('2026-06-20 10:00:00')),
  ]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 404],
  );
  assert.deepEqual(await scheduled(appointment), []);
});

test('a move right behind a move leaves the reminder of the last', async () => {
  const company = await app.company();
  const appointment = await book(company, { ...recipients(company), ...ALL_FLAGS });
  const days = [20, 21, 22];
  const answers = await inTurn(
    appointment,
    days.map((day) => () => company.patch(appointment.path, at(`2026-06-${day} 10:00:00`))),
  );
  for (const answer of answers) assert.equal(answer.status, 200, answer.text);
  const { start_time } = await appointment.read();
  const stands = Temporal.Instant.from(start_time).toString();
  for (const channel of CHANNELS) {
    const reminders = await scheduled(appointment, channel, 'reminder');
    assert.deepEqual(
      reminders.map(({ start }) => start),
      [stands],
    );
  }
});

// Any order of events

for (const channel of CHANNELS) {
  test(`in any order of moves, flags, recipients and deliveries nothing is sent twice or lost: ${channel}`, async () => {
    const company = await app.company();
    const confirmation = `${channel}_confirmation`;
    const reminder = `${channel}_notification`;
    const [soon, later, tooLate] = ['2026-06-10T09:00:00Z', '2026-06-20T14:00:00Z', '2026-06-01T09:30:00Z'] as const;
    const update = fc.record(
      {
        start: fc.constantFrom(soon, later, tooLate),
        reminder: fc.boolean(),
        confirmation: fc.boolean(),
        recipient: fc.boolean(),
      },
      { requiredKeys: [] },
    );
    const step = fc.oneof({ weight: 4, arbitrary: update }, { weight: 1, arbitrary: fc.constant('delivery' as const) });

    type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
    const follow = async (steps: Step[]) => {
      const appointment = await book(company, at(soon));
      const model = { start: soon as string, reminder: false, recipient: false, confirming: false, confirmed: 0 };
      const reminded: string[] = [];
      for (const one of steps) {
        const due = () =>
          model.reminder && model.recipient && model.start !== tooLate && !reminded.includes(model.start);
        if (one === 'delivery') {
          await deliver(appointment);
          if (due()) reminded.push(model.start);
          if (model.confirming) model.confirmed += 1;
          model.confirming = false;
        } else {
          model.start = one.start ?? model.start;
          model.reminder = one.reminder ?? model.reminder;
          model.recipient = one.recipient ?? model.recipient;
          model.confirming = (one.confirmation ?? model.confirming) && model.recipient;
          const body: Fields = { ...(one.start && at(one.start)) };
          if (one.reminder !== undefined) body[reminder] = one.reminder;
          if (one.confirmation !== undefined) body[confirmation] = one.confirmation;
          if (one.recipient !== undefined) {
            body[`${channel}_recipient`] = one.recipient ? recipients(company)[`${channel}_recipient`] : null;
          }
          const answer = await appointment.update(body);
          // An update may compute the states; a read always looks them up.
          const stored = await ok(company.get(appointment.path));
          for (const field of STATES) assert.equal(answer[field], stored[field], field);
        }
        const made = await messages(appointment);
        const starts = (kind: Kind, state: string) =>
          made.filter((message) => message.kind === kind && message.state === state).map(({ start }) => start);
        assert.deepEqual(starts('reminder', 'scheduled'), due() ? [model.start] : []);
        assert.deepEqual(starts('reminder', 'sent').sort(), [...reminded].sort());
        assert.equal(starts('confirmation', 'scheduled').length, model.confirming ? 1 : 0);
        assert.equal(starts('confirmation', 'sent').length, model.confirmed);
        const answer = await appointment.read();
        if (model.confirming) assert.equal(answer[confirmation], 'scheduled');
        if (due()) assert.equal(answer[reminder], 'scheduled');
        else if (reminded.includes(model.start)) assert.equal(answer[reminder], 'sent');
        else if (model.reminder) assert.equal(answer[reminder], 'skipped');
        else assert.notEqual(answer[reminder], 'scheduled');
      }
    };
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), follow), { numRuns: 60 });
  });
}
