import assert from 'node:assert/strict';
import { beforeEach } from 'node:test';
import { DeliveryError } from '../../src/cases/appointments/messages/message.ts';
import { startApp, type TestCompany } from './app.ts';
import { messageWorker, Recorder } from './message-worker.ts';

export const app = await startApp();

type Fields = Record<string, unknown>;

export const post = new Recorder();
export const worker = messageWorker(app, { email: post, sms: post });
export const fault = (permanent = false) => {
  throw new DeliveryError('no luck', { permanent });
};

beforeEach(async () => {
  app.clock.set('2026-06-01T09:00:00Z');
  await app.sql(`UPDATE messages SET state = 'cancelled' WHERE state IN ('scheduled', 'sending')`);
  post.sent.length = 0;
  post.during = () => {};
  post.providerId = null;
  post.receiptFor = ({ recipient }) => recipient;
});

/** Books an appointment on 10 June at 10:00 wall time (09:00 UTC) for an hour. */
export async function book(company: TestCompany, more: Fields = {}) {
  const answer = await company.post(`${company.path}/appointments`, {
    adviser_email: company.adviser,
    start_time: '2026-06-10 10:00:00',
    end_time: '2026-06-10 11:00:00',
    email_recipient: company.customers[0].email,
    sms_recipient: '07400 123456',
    ...more,
  });
  assert.equal(answer.status, 200, answer.text);
  const path = `${company.path}/appointments/${answer.body.id}`;
  return { id: answer.body.id as string, path };
}

// biome-ignore lint/suspicious/noExplicitAny: a test looks into any answer
export async function messages(company: TestCompany, path: string): Promise<any[]> {
  const answer = await company.get(`${path}/messages`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}
export const REMINDER_DUE = '2026-06-09T09:00:00Z';
