/** How one operation is sent; the table of all of them is in operations.ts. */
export type Operation = {
  method: string;
  path: string;
  query: readonly string[];
  /** The name that the header has among the parameters, and its own. */
  headers: Readonly<Record<string, string>>;
  /** Whether it needs a token. */
  bearer: boolean;
};

export type Input = Readonly<Record<string, unknown>>;

export type PreparedRequest = { method: string; url: URL; headers: Headers; body: string | undefined };

/**
 * Made once per call and sent by every attempt. What cannot be sent at all throws a TypeError here, so that it is not
 * taken for a line that is down and tried again.
 */
export function prepare(baseUrl: string, operation: Operation, input: Input): PreparedRequest {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(name, input[name]));
  const url = new URL(withoutTrailingSlashes(baseUrl) + path);
  for (const name of operation.query) {
    if (input[name] !== undefined) url.searchParams.set(name, String(input[name]));
  }
  // Asked for by the operations on a case, also where there is no body.
  const headers = new Headers({ 'content-type': 'application/json' });
  for (const [name, header] of Object.entries(operation.headers)) {
    if (input[name] !== undefined) headers.set(header, String(input[name]));
  }
  // The service does a write once per key; attempts of one call are to be one write.
  if ('idempotencyKey' in operation.headers && !headers.has('idempotency-key')) {
    headers.set('idempotency-key', crypto.randomUUID());
  }
  return { method: operation.method, url, headers, body: JSON.stringify(input.body) };
}

function withoutTrailingSlashes(url: string): string {
  let end = url.length;
  while (url[end - 1] === '/') end--;
  return url.slice(0, end);
}

/** No encoding keeps a URL from taking "." and ".." for a way up, and an empty one names the list instead. */
function segment(name: string, value: unknown): string {
  if (typeof value !== 'string' || ['', '.', '..'].includes(value)) {
    throw new TypeError(`${name} must be text that names something.`);
  }
  return encodeURIComponent(value);
}
