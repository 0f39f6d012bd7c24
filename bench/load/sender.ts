import { type Answer, CaseRecordsError, createClient } from '../../packages/client/src/index.ts';
import type { Transport } from '../forms.ts';
import type { Operation, Request } from '../operations.ts';
import { Connection } from './connection.ts';

/** The headers that make a write safe. */
export type SafeHeaders = { idempotencyKey?: string; ifMatch?: string | undefined };
export type SentRequest = { request: Request; headers: SafeHeaders };

export type Reply = { status: number; etag: string | undefined; text: () => string };

/** One of the callers that send concurrently. It sends the next request when it has the response to the last. */
export type Sender = {
  /** Returns the last reply, or the first that is not 200. */
  send(requests: SentRequest[]): Promise<Reply>;
  close(): void;
};

export async function openSenders(
  transport: Transport,
  operation: Operation,
  port: number,
  count: number,
): Promise<Sender[]> {
  if (transport === 'http') return Promise.all(Array.from({ length: count }, () => openHttpSender(port)));
  const sender = clientSender(operation, port);
  return Array.from({ length: count }, () => sender);
}

export async function openHttpSender(port: number): Promise<Sender> {
  const connection = await Connection.open(port);
  return {
    send: async (requests) => {
      let text = '';
      for (const { request, headers } of requests) text += toHttpText(request, headers);
      const { status, head, body } = await connection.send(text, requests.length);
      return { status, etag: etagIn(head), text: () => body.toString('utf8') };
    },
    close: () => connection.close(),
  };
}

const etagIn = (head: string): string | undefined => /\r\netag: *(\S+)/i.exec(head)?.[1];

/** Serialises the request. All servers receive the same bytes. */
export function toHttpText({ method, path, token, body }: Request, { idempotencyKey, ifMatch }: SafeHeaders): string {
  let head =
    `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n` +
    'Content-Type: application/json\r\n';
  if (idempotencyKey !== undefined) head += `Idempotency-Key: ${idempotencyKey}\r\n`;
  if (ifMatch !== undefined) head += `If-Match: ${ifMatch}\r\n`;
  if (body === undefined) return `${head}\r\n`;
  const json = JSON.stringify(body);
  return `${head}Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
}

type Method = (input: Record<string, unknown>) => Promise<Answer<unknown>>;

/** One client for each company, as an application would have it. The client sends keys by itself. */
function clientSender({ id }: Operation, port: number): Sender {
  const methods = new Map<string, Method>();
  const methodOf = (token: string): Method => {
    const known = methods.get(token);
    if (known) return known;
    // A retry would hide the failure that ends the run.
    const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, token, retries: 0 });
    const method = client[id as keyof typeof client] as Method;
    methods.set(token, method);
    return method;
  };
  return {
    send: async ([sent]) => {
      if (!sent) throw new Error('The client sends one request at a time.');
      const { params, token, body } = sent.request;
      try {
        const { status, etag } = await methodOf(token)({ ...params, body, ifMatch: sent.headers.ifMatch });
        return { status, etag, text: () => '' };
      } catch (error) {
        if (!(error instanceof CaseRecordsError)) throw error;
        return { status: error.status ?? 0, etag: undefined, text: () => error.message };
      }
    },
    close: () => {},
  };
}
