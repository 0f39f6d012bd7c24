import { type Agent, request as httpRequest } from 'node:http';
import { assertDescribed } from './openapi.ts';

export type Answer = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** Parsed if the answer is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into any answer
  body: any;
  text: string;
};

export type Headers = Record<string, string | undefined>;

export type Caller = {
  get(path: string, headers?: Headers): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Headers): Promise<Answer>;
  patch(path: string, body?: unknown, headers?: Headers): Promise<Answer>;
  delete(path: string, headers?: Headers): Promise<Answer>;
  /** `body`: bytes or text are sent unchanged, other values as JSON; undefined sends no body. */
  send(method: string, path: string, body?: unknown, headers?: Headers): Promise<Answer>;
};

/**
 * Speaks HTTP to the app. Content-Type: application/json and the token are sent unless a header is set to undefined.
 * Every answer is checked against the OpenAPI document. Each request has a connection of its own, unless an agent is
 * given.
 */
export function caller(baseUrl: string, token?: string, agent: Agent | false = false): Caller {
  const send: Caller['send'] = async (method, path, body, headers = {}) => {
    const sent: Headers = {
      'content-type': 'application/json',
      ...(token && { authorization: `Bearer ${token}` }),
      ...headers,
    };
    const payload =
      body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const answer = await exchange(method, new URL(path, baseUrl), payload, sent, agent);
    assertDescribed(method, path, answer);
    return answer;
  };
  return {
    send,
    get: (path, headers) => send('GET', path, undefined, headers),
    post: (path, body, headers) => send('POST', path, body, headers),
    patch: (path, body, headers) => send('PATCH', path, body, headers),
    delete: (path, headers) => send('DELETE', path, undefined, headers),
  };
}

/** node:http rather than fetch: it sends exactly the headers that it is given, and no body if there is none. */
export function exchange(
  method: string,
  url: URL,
  payload: string | Uint8Array | undefined,
  headers: Headers,
  agent: Agent | false,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const defined = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
    const length = payload === undefined ? {} : { 'content-length': String(Buffer.byteLength(payload)) };
    const request = httpRequest(url, { method, headers: { ...length, ...defined }, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const isJson = /json/.test(response.headers['content-type'] ?? '');
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          body: isJson ? JSON.parse(text) : undefined,
        });
      });
    });
    request.on('error', reject);
    request.end(payload);
  });
}
