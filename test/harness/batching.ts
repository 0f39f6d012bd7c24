import { Agent, type IncomingMessage, request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { after } from 'node:test';
import type { Answer } from './http.ts';
import { assertDescribed } from './openapi.ts';

/** Requests that come at the same moment: a server takes new connections one after the other, so these are there already. */
export function requestsAtOnce(baseUrl: string) {
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

  async function atOnce<T>(all: T[], sendOne: (one: T) => Promise<Answer>): Promise<Answer[]> {
    await Promise.all(all.map(() => exchange('GET', '/healthz')));
    return Promise.all(all.map(sendOne));
  }

  return { exchange, atOnce };
}

export const headersOf = (token: string, requestId: string) => ({
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
  'x-request-id': requestId,
});
