import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';

export type Sent = {
  method: string;
  path: string;
  body?: unknown;
  /** A body that is sent as it is. */
  text?: string;
  headers?: Record<string, string>;
  /** The answer is counted and not kept. */
  discard?: boolean;
};
export type Answered = { status: number; text: string; bytes: number; headers: IncomingHttpHeaders; ms: number };

/** The answer, or how the connection ended without one. */
export type Outcome = Answered | { status: 0; error: string; ms: number };

const MOST_MS = 60_000;

export const HUNG = 'no answer';

/** A caller of a service that may be killed at any moment, or of several in turn: whatever happens, there is an outcome. */
export class Line {
  readonly #agent: Agent;
  readonly #token: string;
  readonly #urls: string[];
  #next = 0;

  constructor(url: string | string[], token: string, connections = Infinity) {
    this.#urls = [url].flat();
    this.#token = token;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections, maxFreeSockets: Infinity });
  }

  send({ method, path, body, text, headers = {}, discard = false }: Sent): Promise<Outcome> {
    const begun = performance.now();
    const payload = body === undefined ? text : JSON.stringify(body);
    const sent: Record<string, string> = {
      authorization: `Bearer ${this.#token}`,
      'content-type': 'application/json',
      ...(payload !== undefined && { 'content-length': String(Buffer.byteLength(payload)) }),
      ...headers,
    };
    return new Promise((resolve) => {
      const end = (outcome: Omit<Answered, 'ms'> | { error: string }) => {
        clearTimeout(timer);
        const ms = performance.now() - begun;
        resolve('error' in outcome ? { status: 0, ...outcome, ms } : { ...outcome, ms });
      };
      const request = httpRequest(
        this.#urls[this.#next++ % this.#urls.length] + path,
        { method, headers: sent, agent: this.#agent },
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
      const timer = setTimeout(() => request.destroy(new Error(HUNG)), MOST_MS);
      request.on('error', (error) => end({ error: error.message }));
      request.end(payload);
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: a proof looks into any answer
  async get(path: string): Promise<any> {
    const answer = await this.send({ method: 'GET', path });
    if (answer.status !== 200) throw new Error(`GET ${path}: ${JSON.stringify(answer)}`);
    return JSON.parse((answer as Answered).text);
  }

  close(): void {
    this.#agent.destroy();
  }
}
