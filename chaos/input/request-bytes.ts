import type { Damage, Draft } from './drafts.ts';
import { type JsonNode, serialise } from './json.ts';
import type { RawRequest } from './raw-connection.ts';

/** The token or the cookie of the sender, and the values for the placeholders in a draft. */
export type Sender = {
  token: string | undefined;
  cookie: string | undefined;
  ids: Record<string, string>;
  known: Record<string, string>;
};

/** An encoded request, and what is needed to check its response. */
export type EncodedRequest = RawRequest & {
  method: string;
  /** The path without the host that a target may start with. */
  path: string;
  /** The text of the body, if it was not damaged. */
  intactBody: string | undefined;
  /** Invalid HTTP, or not exactly one request: there may be no response. */
  isBroken: boolean;
};

const MEBIBYTE = 1_048_576;

const FRAMING: readonly Damage[] = ['short', 'long', 'noLength', 'badLength', 'twoLengths', 'badChunks'];
const INVALID_HEADER_CHARACTERS = /[\0\r\n\x7f]/;

export function encodeRequest(draft: Draft, { token, cookie, ids, known }: Sender): EncodedRequest {
  const { method, damage } = draft;
  const target = fillTemplate(draft.target, ids);
  const intact = draft.body === undefined ? undefined : bodyText(draft.body, known);
  const body = intact === undefined ? undefined : damageBody(intact, damage);
  const headers = new Map<string, string>([
    ['Host', 'localhost'],
    ['Content-Type', 'application/json'],
    ...(token === undefined ? [] : [['Authorization', `Bearer ${token}`] as const]),
    ...(cookie === undefined
      ? []
      : ([
          ['Cookie', cookie],
          ['Sec-Fetch-Site', 'same-origin'],
        ] as const)),
  ]);
  const defaults = [...headers].filter(([name]) => !draft.headers.some(([other]) => other === name.toLowerCase()));
  const lines = [...defaults, ...draft.headers].map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${method} ${target} HTTP/1.1\r\n${lines.join('')}`;
  const framed = frameBody(body, damage);
  const isBroken =
    draft.headers.some(
      ([name, value]) =>
        INVALID_HEADER_CHARACTERS.test(value) ||
        !/^[\w-]+$/.test(name) ||
        value.length > 16_000 ||
        name === 'upgrade' ||
        value === 'upgrade' ||
        (name === 'expect' && value !== '100-continue'),
    ) ||
    head.length > 16_000 ||
    !METHODS.includes(method) ||
    (FRAMING.includes(damage) && body !== undefined) ||
    (damage === 'noLength' && body !== undefined);
  return {
    method,
    path: target.replace(/^http:\/\/[^/]+/, ''),
    bytes: Buffer.concat([Buffer.from(head, 'latin1'), framed]),
    headOnly: method === 'HEAD',
    endsConnection: isBroken,
    isBroken,
    intactBody: damage === 'none' && typeof intact === 'string' ? intact : undefined,
  };
}

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'];

const fillTemplate = (target: string, ids: Record<string, string>) =>
  target.replaceAll(/\{(\w+)\}/g, (whole, name: string) => ids[name] ?? whole).replaceAll(/[^\x21-\x7e]/g, '-');

const bodyText = (body: JsonNode | Uint8Array, known: Record<string, string>): string | Uint8Array =>
  body instanceof Uint8Array ? body : serialise(body, known);

function damageBody(body: string | Uint8Array, damage: Damage): Uint8Array {
  const bytes = Buffer.from(body as string);
  const middle = bytes.length >> 1;
  const insert = (inserted: number[]) =>
    Buffer.concat([bytes.subarray(0, middle), Buffer.from(inserted), bytes.subarray(middle)]);
  switch (damage) {
    case 'bom':
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]);
    case 'utf8':
      return insert([0xc3, 0x28]);
    case 'overlong':
      return insert([0xc0, 0xaf]);
    case 'latin1':
      return insert([0xe9]);
    case 'cut':
      return bytes.subarray(0, middle);
    case 'trailing':
      return Buffer.concat([bytes, Buffer.from('{}')]);
    case 'padded':
      return Buffer.concat([bytes, Buffer.alloc(Math.max(0, MEBIBYTE - bytes.length), ' ')]);
    case 'tooLarge':
      return Buffer.concat([bytes, Buffer.alloc(Math.max(1, MEBIBYTE + 1 - bytes.length), ' ')]);
    default:
      return bytes;
  }
}

/** Returns the end of the head and the body. */
function frameBody(body: Uint8Array | undefined, damage: Damage): Buffer {
  if (body === undefined) return Buffer.from('\r\n');
  const length = (value: number | string) => Buffer.from(`Content-Length: ${value}\r\n`);
  const end = Buffer.from('\r\n');
  const chunks = Buffer.from('Transfer-Encoding: chunked\r\n\r\n');
  const chunk = Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, end]);
  switch (damage) {
    case 'short':
      return Buffer.concat([length(body.length + 10), end, body]);
    case 'long':
      return Buffer.concat([length(body.length >> 1), end, body]);
    case 'noLength':
      return Buffer.concat([end, body]);
    case 'badLength':
      return Buffer.concat([length('-1'), end, body]);
    case 'twoLengths':
      return Buffer.concat([length(body.length), length(body.length + 1), end, body]);
    case 'badChunks':
      return Buffer.concat([chunks, Buffer.from('zz\r\n'), body]);
    case 'chunked':
      return Buffer.concat([chunks, body.length > 0 ? chunk : Buffer.alloc(0), Buffer.from('0\r\n\r\n')]);
    default:
      return Buffer.concat([length(body.length), end, body]);
  }
}
