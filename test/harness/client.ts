import { type Client, createClient } from '../../packages/client/src/index.ts';
import { assertDescribed } from './openapi.ts';

/** The client without retries. Every answer is checked against the OpenAPI document. */
export const describedClient = (baseUrl: string, token: string): Client =>
  createClient({ baseUrl, token, retries: 0, fetch: describedFetch });

const describedFetch: typeof fetch = async (target, init) => {
  const url = new URL(String(target));
  const response = await fetch(url, init);
  const text = await response.clone().text();
  const headers = Object.fromEntries(response.headers);
  const body = text === '' ? undefined : JSON.parse(text);
  assertDescribed(init?.method ?? 'GET', url.pathname, { status: response.status, headers, text, body });
  return response;
};
