import assert from 'node:assert/strict';
import { beforeEach } from 'node:test';
import type { OutgoingMessage, Receipt, Sender } from '../../src/cases/appointments/messages/message.ts';
import { startApp, type TestCompany } from './app.ts';
import { ok } from './assert.ts';
import { meetingWorker, openZoom, secrets } from './meeting-worker.ts';
import { CREDENTIALS } from './zoom.ts';

/** How a meeting follows the changes of its appointment and its adviser. */

export const app = await startApp({ secrets });
export const zoom = await openZoom();

export const post: Sender & { sent: OutgoingMessage[] } = {
  sent: [],
  async send(message): Promise<Receipt> {
    post.sent.push(message);
    return { to: message.recipient, providerId: null };
  },
  close() {},
};
export const worker = meetingWorker(app, zoom, { sender: post });

beforeEach(async () => {
  app.clock.set('2026-06-01T09:00:00Z');
  await app.sql(`UPDATE messages SET state = 'cancelled' WHERE state IN ('scheduled', 'sending')`);
  await app.sql(`UPDATE meetings SET state = 'none' WHERE state = 'pending'`);
  zoom.reset();
  post.sent.length = 0;
});

/** A company whose first adviser has a Zoom account. */
export async function zoomCompany(): Promise<TestCompany & { adviserId: string; account: string }> {
  const company = await app.company();
  const [{ id = '' } = {}] = await ok(company.get(`/manage/advisers?search=${company.adviser}`));
  const account = `/manage/advisers/${id}/video-account`;
  await ok(company.send('PUT', account, { provider: 'zoom', ...CREDENTIALS }));
  return { ...company, adviserId: id, account };
}

/** Books an appointment on 10 June at 10:00 wall time (09:00 UTC) for an hour. */
export async function book(company: TestCompany, more: Record<string, unknown> = {}) {
  const { id } = await ok(
    company.post(`${company.path}/appointments`, {
      adviser_email: company.adviser,
      start_time: '2026-06-10 10:00:00',
      end_time: '2026-06-10 11:00:00',
      email_recipient: company.customers[0].email,
      video_meeting: true,
      ...more,
    }),
  );
  return { id: id as string, path: `${company.path}/appointments/${id}` };
}

export const meeting = (company: TestCompany, path: string) => ok(company.get(`${path}/meeting`));
export const links = async (company: TestCompany, path: string) => {
  const { video_id, join_url } = await ok(company.get(path));
  return [video_id, join_url];
};
export const only = () => {
  assert.equal(zoom.meetings.size, 1);
  return [...zoom.meetings.values()][0] ?? {};
};
export const MOVE = { start_time: '2026-06-11 14:00:00', end_time: '2026-06-11 14:45:00' };
