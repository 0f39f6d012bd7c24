import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';

export type OutgoingRequest = {
  method: string;
  path: string;
  body?: unknown;
  /** A body that is sent unchanged instead of `body`. */
  rawBody?: string;
  headers?: Record<string, string>;
  /** Counts the bytes of the response without keeping them. */
  discardBody?: boolean;
};
export type HttpResponse = { status: number; text: string; bytes: number; headers: IncomingHttpHeaders; ms: number };

/** The response, or the reason why there is none. */
export type Outcome = HttpResponse | { status: 0; error: string; ms: number };

const RESPONSE_TIMEOUT_MS = 60_000;

export const NO_RESPONSE = 'no response';

/** A client of one service, or of several in turn, that may be killed at any moment. `send` never rejects. */
export class HttpClient {
  readonly #agent: Agent;
  readonly #token: string;
  readonly #urls: string[];
  #nextUrl = 0;

  constructor(url: string | string[], token: string, connections = Infinity) {
    this.#urls = [url].flat();
    this.#token = token;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections, maxFreeSockets: Infinity });
  }

  send({
    method,
    path,
    body,
    rawBody: text,
    headers = {},
    discardBody: discard = false,
  }: OutgoingRequest): Promise<Outcome> {
    const startedAt = performance.now();
    const payload = body === undefined ? text : JSON.stringify(body);
    const allHeaders: Record<string, string> = {
      authorization: `Bearer ${this.#token}`,
      'content-type': 'application/json',
      ...(payload !== undefined && { 'content-length': String(Buffer.byteLength(payload)) }),
      ...headers,
    };
    return new Promise((resolve) => {
      const end = (outcome: Omit<HttpResponse, 'ms'> | { error: string }) => {
        clearTimeout(timer);
        const ms = performance.now() - startedAt;
        resolve('error' in outcome ? { status: 0, ...outcome, ms } : { ...outcome, ms });
      };
      const request = httpRequest(
        this.#urls[this.#nextUrl++ % this.#urls.length] + path,
        { method, headers: allHeaders, agent: this.#agent },
        (response) => {
          const chunks: Buffer[] = [];
          let bytes = 0;
          response.on('data', (chunk: Buffer) => {
            bytes += chunk.length;
            if (!discard) chunks.push(chunk);
          });
          response.on('error', (error) => end({ error: error.message }));
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString('utf8');
            end({ status: response.statusCode ?? 0, text, bytes, headers: response.headers });
          });
        },
      );
      const timer = setTimeout(() => request.destroy(new Error(NO_RESPONSE)), RESPONSE_TIMEOUT_MS);
      request.on('error', (error) => end({ error: error.message }));
      request.end(payload);
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: chaos tests read any response
  async get(path: string): Promise<any> {
    const outcome = await this.send({ method: 'GET', path });
    if (outcome.status !== 200) throw new Error(`GET ${path}: ${JSON.stringify(outcome)}`);
    return JSON.parse((outcome as HttpResponse).text);
  }

  close(): void {
    this.#agent.destroy();
  }
}
