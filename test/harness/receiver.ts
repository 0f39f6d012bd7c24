import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyWebhook } from '../../packages/client/src/index.ts';

/** A real receiver of webhooks in the process of the test, which decides how each is answered. */

// biome-ignore lint/suspicious/noExplicitAny: a test looks into any event
export type Received = { path: string; headers: IncomingHttpHeaders; text: string; event: any };

/** Answers with a status, stays silent (for ever or until the promise settles), or breaks the connection. */
export type Behaviour =
  | {
      status?: number;
      headers?: Record<string, string>;
      text?: string;
      hang?: boolean;
      drop?: boolean;
      until?: Promise<unknown>;
    }
  | undefined;

export type Receiver = {
  url: string;
  port: number;
  /** Every request received, however it was answered. */
  received: Received[];
  /** Called when a request is complete. Undefined accepts it. */
  onEvent: (received: Received) => Behaviour;
  /** The number of bytes and connections received. */
  connections: number;
  close(): Promise<void>;
};

export type Certificate = { key: string; cert: string };

/** A certificate for receiver.example, made by openssl. */
export function makeCertificate(): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'case-records-'));
  try {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const made = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=receiver.example';
    const names = ['-addext', 'subjectAltName=DNS:receiver.example'];
    execFileSync('openssl', [...made.split(' '), ...names, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export async function openReceiver(certificate?: Certificate): Promise<Receiver> {
  const listener: RequestListener = async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString('utf8');
    const received = { path: request.url ?? '', headers: request.headers, text, event: JSON.parse(text) };
    made.received.push(received);
    const { status = 200, headers = {}, text: answer = '', hang, drop, until } = made.onEvent(received) ?? {};
    if (drop) return void request.socket.destroy();
    if (hang) return;
    await until;
    response.writeHead(status, headers).end(answer);
  };
  const server = certificate ? createSecureServer(certificate, listener) : createServer(listener);
  server.on('connection', () => made.connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const made: Receiver = {
    url: `http://127.0.0.1:${port}/hooks`,
    port,
    received: [],
    onEvent: () => undefined,
    connections: 0,
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return made;
}

/** Throws unless one of the secrets has signed it at that time. */
export const verified = ({ text, headers }: Received, secrets: string[], now: Temporal.Instant) =>
  verifyWebhook({
    body: text,
    headers,
    secrets,
    now: () => now.epochMilliseconds,
  });
