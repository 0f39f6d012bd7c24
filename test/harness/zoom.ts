import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Answers as Zoom's documentation says, unless the test chooses another behaviour. */

export type Asked = { method: string; path: string; query: URLSearchParams; body: Fields; headers: Fields };

/** Another answer, or silence; or silence or a broken connection after the request was executed. */
export type Behaviour =
  | { status: number; body?: unknown; headers?: Record<string, string> }
  | 'hang'
  | 'hang after'
  | 'drop after'
  | undefined;

// biome-ignore lint/suspicious/noExplicitAny: a test looks into any field
type Fields = Record<string, any>;

export type Zoom = {
  apiUrl: string;
  oauthUrl: string;
  /** The meetings that exist, by id. */
  meetings: Map<string, Fields>;
  /** The requests to the API. */
  asked: Asked[];
  /** How many tokens were issued, and which are valid. */
  tokens: { given: number; valid: Set<string> };
  /** Called before every request, including those for tokens. */
  behave: (asked: Asked) => Behaviour | Promise<Behaviour>;
  reset(): void;
  close(): void;
};

export const CREDENTIALS = {
  account_id: 'acc-1',
  client_id: 'client-1',
  client_secret: 's3cr3t-of-zoom',
  user: 'a@firm.example',
};

export async function zoomServer(): Promise<Zoom> {
  let number = 85_000_000_000;
  const server = createServer(async (request, response) => {
    const asked = await read(request);
    if (asked.path.startsWith('/v2')) zoom.asked.push(asked);
    const behaviour = await zoom.behave(asked);
    if (behaviour === 'hang') return;
    if (typeof behaviour === 'object') return answer(response, behaviour);
    const done = act(asked);
    if (behaviour === 'hang after') return;
    if (behaviour === 'drop after') return request.socket.destroy();
    answer(response, done);
  });

  function act({ method, path, query, body, headers }: Asked): { status: number; body?: unknown } {
    if (path === '/oauth/token') return giveToken(query, headers);
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
    if (!zoom.tokens.valid.has(token)) return { status: 401, body: { code: 124, message: 'Invalid access token.' } };
    const [, user] = /^\/v2\/users\/([^/]+)\/meetings$/.exec(path) ?? [];
    const [, id] = /^\/v2\/meetings\/([^/]+)$/.exec(path) ?? [];
    if (user && method === 'POST') return create(decodeURIComponent(user), body);
    if (user && method === 'GET') return list(decodeURIComponent(user), query);
    if (!id || !zoom.meetings.has(id))
      return { status: 404, body: { code: 3001, message: `Meeting does not exist: ${id}.` } };
    if (method === 'PATCH') Object.assign(zoom.meetings.get(id) ?? {}, body);
    if (method === 'DELETE') zoom.meetings.delete(id);
    return { status: 204 };
  }

  function giveToken(query: URLSearchParams, headers: Fields) {
    const basic = `Basic ${Buffer.from(`${CREDENTIALS.client_id}:${CREDENTIALS.client_secret}`).toString('base64')}`;
    if (headers.authorization !== basic || query.get('grant_type') !== 'account_credentials') {
      return { status: 400, body: { reason: 'Invalid client_id or client_secret', error: 'invalid_client' } };
    }
    const access_token = `token-${query.get('account_id')}-${++zoom.tokens.given}`;
    zoom.tokens.valid.add(access_token);
    return {
      status: 200,
      body: { access_token, token_type: 'bearer', expires_in: 3599, scope: 'meeting:write:meeting:admin' },
    };
  }

  function create(user: string, body: Fields) {
    const id = ++number;
    const made = {
      uuid: `uuid-${id}`,
      id,
      host_email: user,
      ...body,
      join_url: `https://us05web.zoom.us/j/${id}?pwd=p${id}`,
    };
    zoom.meetings.set(String(id), made);
    return { status: 201, body: made };
  }

  /** Two to a page, so that there are several pages. */
  function list(user: string, query: URLSearchParams) {
    const all = [...zoom.meetings.values()].filter(({ host_email }) => host_email === user);
    const from = Number(query.get('next_page_token') || 0);
    const next_page_token = from + 2 < all.length ? String(from + 2) : '';
    return {
      status: 200,
      body: { page_size: 2, total_records: all.length, next_page_token, meetings: all.slice(from, from + 2) },
    };
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const zoom: Zoom = {
    apiUrl: `${base}/v2`,
    oauthUrl: `${base}/oauth/token`,
    meetings: new Map(),
    asked: [],
    tokens: { given: 0, valid: new Set() },
    behave: () => undefined,
    reset: () => {
      zoom.meetings.clear();
      zoom.asked.length = 0;
      zoom.behave = () => undefined;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return zoom;
}

async function read(request: IncomingMessage): Promise<Asked> {
  const url = new URL(request.url ?? '', 'http://zoom');
  let text = '';
  for await (const chunk of request) text += chunk;
  const { method = '', headers } = request;
  return { method, path: url.pathname, query: url.searchParams, body: text ? JSON.parse(text) : {}, headers };
}

function answer(
  response: ServerResponse,
  { status, body, headers = {} }: { status: number; body?: unknown; headers?: Record<string, string> },
): void {
  response.writeHead(status, { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}
