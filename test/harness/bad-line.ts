import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';

/** What can happen to a request on its way. The last three happen after it has reached the service. */
export type Mishap =
  | 'pass'
  | 'dropped'
  | { status: number; headers?: Record<string, string>; body?: string }
  | 'unanswered'
  | 'cut'
  | 'silent';

type Seen = { method: string; url: string; headers: IncomingMessage['headers'] };

export type BadLine = {
  url: string;
  /** What happens to the next requests, one entry each. Later requests pass. */
  mishaps: Mishap[];
  requests: Seen[];
};

/** A proxy in front of the service that loses or breaks requests. Closed when the test file ends. */
export async function badLine(target: string): Promise<BadLine> {
  const mishaps: Mishap[] = [];
  const requests: Seen[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    requests.push({ method, url, headers });
    const mishap = mishaps.shift() ?? 'pass';
    if (mishap === 'dropped') return void request.socket.destroy();
    if (typeof mishap === 'object') return void response.writeHead(mishap.status, mishap.headers).end(mishap.body);
    await passOn(request, response, target, mishap);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, mishaps, requests };
}

async function passOn(request: IncomingMessage, response: ServerResponse, target: string, mishap: Mishap) {
  const body = Buffer.concat(await request.toArray());
  const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
  const answer = await fetch(target + request.url, {
    method: request.method ?? '',
    headers: headers as Record<string, string>,
    body: body.length > 0 ? body : null,
  });
  const text = Buffer.from(await answer.arrayBuffer());
  if (mishap === 'silent') return;
  if (mishap === 'unanswered') return void request.socket.destroy();
  const { 'transfer-encoding': ____, connection: _____, ...told } = Object.fromEntries(answer.headers);
  response.writeHead(answer.status, { ...told, 'content-length': text.length });
  if (mishap === 'pass') response.end(text);
  else response.write(text.subarray(0, text.length / 2), () => request.socket.destroy());
}
