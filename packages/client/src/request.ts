/** How an operation is sent. operations.ts contains the table of all operations. */
export type Operation = {
  method: string;
  path: string;
  query: readonly string[];
  /** Header names by parameter name. */
  headers: Readonly<Record<string, string>>;
  /** Whether the operation requires a token. */
  bearer: boolean;
};

export type RequestInput = Readonly<Record<string, unknown>>;

/** `path` has the path of the base URL, and the query. */
export type PreparedRequest = {
  method: string;
  base: URL;
  path: string;
  headers: HeaderValues;
  body: string | undefined;
};

/** Values by lower-case name. */
type HeaderValues = Record<string, string>;

/**
 * Builds the request once per call; every attempt sends the same one. Invalid input throws a TypeError here, so that it
 * is not mistaken for a broken connection and retried.
 */
export function prepare(base: URL, operation: Operation, input: RequestInput): PreparedRequest {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeSegment(name, input[name]));
  const query = operation.query.filter((name) => input[name] !== undefined);
  const search = query.length > 0 ? `?${new URLSearchParams(query.map((name) => [name, String(input[name])]))}` : '';
  // The operations on a case require this header even without a body.
  const headers: HeaderValues = { 'content-type': 'application/json' };
  for (const [name, header] of Object.entries(operation.headers)) {
    if (input[name] !== undefined) setHeader(headers, header, String(input[name]));
  }
  // The service performs a write once per key, so all attempts of one call are one write.
  if ('idempotencyKey' in operation.headers && headers['idempotency-key'] === undefined) {
    headers['idempotency-key'] = crypto.randomUUID();
  }
  const target = withoutTrailingSlashes(base.pathname) + path + search;
  return { method: operation.method, base, path: target, headers, body: JSON.stringify(input.body) };
}

/** Everything that a header cannot contain. */
const NOT_SENDABLE = /[^\t\x20-\x7e\x80-\xff]/;

/** Sets a header. Throws a TypeError for a value that cannot be sent. */
export function setHeader(headers: HeaderValues, name: string, value: string): void {
  if (NOT_SENDABLE.test(value)) throw new TypeError(`The header ${name} contains a character that cannot be sent.`);
  headers[name] = value;
}

function withoutTrailingSlashes(url: string): string {
  let end = url.length;
  while (url[end - 1] === '/') end--;
  return url.slice(0, end);
}

/** A URL parser resolves "." and ".." even if they are encoded, and an empty segment would address the list. */
function encodeSegment(name: string, value: unknown): string {
  if (typeof value !== 'string' || ['', '.', '..'].includes(value)) {
    throw new TypeError(`${name} must be a non-empty string other than "." and "..".`);
  }
  return encodeURIComponent(value);
}
