import { Agent, type IncomingMessage, request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { after } from 'node:test';
import type { Database } from '../../src/kernel/database/database.ts';
import type { TestApp } from './app.ts';
import type { Answer } from './http.ts';
import { assertDescribed } from './openapi.ts';

/** Requests over connections that are kept open, for tests of what happens when many arrive together. */
export function concurrentRequests({ baseUrl, db }: TestApp) {
  const agent = new Agent({ keepAlive: true });
  after(() => agent.destroy());

  function exchange(
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: Record<string, unknown>,
  ): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const read = async (response: IncomingMessage) => {
      const text = await textOf(response);
      const answer = { status: response.statusCode ?? 0, headers: response.headers, text, body: JSON.parse(text) };
      assertDescribed(method, path, answer);
      return answer;
    };
    const sent = request(new URL(path, baseUrl), { method, agent, headers }, (response) => resolve(read(response)));
    sent.on('error', reject);
    sent.end(body && JSON.stringify(body));
    return promise;
  }

  /** A server accepts new connections one after the other, so as many as are needed are opened first. */
  async function sendConcurrently<T>(all: T[], sendOne: (one: T) => Promise<Answer>): Promise<Answer[]> {
    await Promise.all(all.map(() => exchange('GET', '/healthz')));
    return Promise.all(all.map(sendOne));
  }

  return {
    exchange,
    sendConcurrently,
    sendInOneTick: <T>(all: T[], sendOne: (one: T) => Promise<Answer>) => sendInOneTick(db, all, sendOne),
  };
}

/**
 * Only statements that reach the pool in the same tick can share a batch, and when a request arrives is chance. So each
 * statement is held until every unanswered request has one, and then all of them go to the pool together.
 */
async function sendInOneTick<T>(db: Database, all: T[], sendOne: (one: T) => Promise<Answer>): Promise<Answer[]> {
  const { queryRow } = db;
  let unanswered = all.length;
  let held: (() => void)[] = [];
  const releaseIfComplete = () => {
    if (held.length < unanswered) return;
    const released = held;
    held = [];
    for (const release of released) release();
  };
  db.queryRow = (...args) =>
    new Promise((resolve, reject) => {
      held.push(() => queryRow.apply(db, args).then(resolve, reject));
      releaseIfComplete();
    });
  const send = async (one: T) => {
    try {
      return await sendOne(one);
    } finally {
      unanswered--;
      releaseIfComplete();
    }
  };
  try {
    return await Promise.all(all.map(send));
  } finally {
    db.queryRow = queryRow;
  }
}

export const headersOf = (token: string, requestId: string) => ({
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
  'x-request-id': requestId,
});
