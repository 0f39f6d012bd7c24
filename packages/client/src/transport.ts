import type { PreparedRequest } from './request.ts';

/** What the client needs of a response. The Response of fetch is one. */
export type HttpResponse = {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
};

/** A request that has been sent. After `cancel` it is rejected, also if its response has begun. */
type Exchange = { response: Promise<HttpResponse>; cancel(): void };

/** Sends a request without following redirects, because that would turn a write into a read. */
export type Transport = (request: PreparedRequest) => Exchange;

export const fetchTransport =
  (fetch: typeof globalThis.fetch): Transport =>
  ({ method, base, path, headers, body = null }) => {
    const abortController = new AbortController();
    const { signal } = abortController;
    const url = new URL(base.origin + path);
    const init = { method, headers: new Headers(headers), body, redirect: 'manual', signal } as const;
    return { response: (async () => fetch(url, init))(), cancel: () => abortController.abort() };
  };

/** The fetch of the platform, unless the program replaces it later. */
const platformFetch = globalThis.fetch;

/**
 * Returns the transport of the platform. In Node that is its HTTP client, because fetch needs about three times the CPU
 * time for a short request. Other platforms, and programs that have replaced the global fetch, get that.
 */
export function platformTransport(): Transport {
  const sendByHttp = nodeTransport();
  // In browsers, fetch throws if it is called as a method of another object.
  const sendByFetch = fetchTransport((...request) => globalThis.fetch(...request));
  return (request) => (sendByHttp && globalThis.fetch === platformFetch ? sendByHttp(request) : sendByFetch(request));
}

/** The parts of node:http and node:https that are used here. The client also runs where they do not exist. */
type NodeHttp = {
  request(
    options: { hostname: string; port: string; method: string; path: string; headers: Record<string, string> },
    onResponse: (response: NodeResponse) => void,
  ): { on(event: 'error', listener: (error: Error) => void): void; end(body?: string): void; destroy(): void };
};
type NodeResponse = {
  statusCode: number;
  headers: Record<string, string | string[] | undefined>;
  setEncoding(encoding: 'utf8'): void;
  on(event: 'data' | 'end' | 'error', listener: (value: never) => void): void;
};
type Runtime = { process?: { versions?: Record<string, string>; getBuiltinModule?: (id: string) => unknown } };

/** Returns undefined outside Node, and in versions that cannot load a module without importing it. */
function nodeTransport(): Transport | undefined {
  const { versions, getBuiltinModule } = (globalThis as Runtime).process ?? {};
  // Other runtimes imitate these modules.
  if (!versions?.node || versions.bun || versions.deno || !getBuiltinModule) return undefined;
  const [http, https] = [getBuiltinModule('node:http'), getBuiltinModule('node:https')] as [NodeHttp, NodeHttp];
  return ({ method, base, path, headers, body }) => {
    const { promise, resolve, reject } = withResolvers<HttpResponse>();
    const { protocol, hostname, port } = base;
    // The name of an IPv6 host has brackets only in a URL. Given a URL, Node would parse it again for each request.
    const options = { hostname: hostname.replace(/^\[(.*)\]$/, '$1'), port, method, path, headers };
    const request = (protocol === 'https:' ? https : http).request(options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('error', reject);
      response.on('end', () => resolve(toHttpResponse(response, text)));
    });
    request.on('error', reject);
    request.end(body);
    // An AbortSignal would take as much time as the client itself.
    const cancel = () => {
      request.destroy();
      reject(new Error('The request was cancelled.'));
    };
    return { response: promise, cancel };
  };
}

function toHttpResponse({ statusCode: status, headers }: NodeResponse, text: string): HttpResponse {
  const get = (name: string) => headers[name]?.toString() ?? null;
  return { status, ok: status >= 200 && status < 300, headers: { get }, text: async () => text };
}

/** Promise.withResolvers, which Node 20 does not have. */
function withResolvers<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<T>((...both) => {
    [resolve, reject] = both;
  });
  return { promise, resolve, reject };
}
