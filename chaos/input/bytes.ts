import type { Damage, Draft } from './drafts.ts';
import { type Node, write } from './json.ts';
import type { Bytes } from './wire.ts';

/** Who sends: a token, and what stands for the names in a draft. */
export type Sender = { token: string | undefined; ids: Record<string, string>; known: Record<string, string> };

/** A request as it goes over the wire, and what a judge of the answer has to know. */
export type Sent = Bytes & {
  method: string;
  /** Without the host that a target may begin with. */
  path: string;
  /** The body, where it is text that nothing was done to. */
  text: string | undefined;
  /** Not HTTP, or not one request: whether it is answered at all is open. */
  broken: boolean;
};

const MEBIBYTE = 1_048_576;

const FRAMING: readonly Damage[] = ['short', 'long', 'noLength', 'badLength', 'twoLengths', 'badChunks'];
const NO_HTTP = /[\0\r\n\x7f]/;

export function bytesOf(draft: Draft, { token, ids, known }: Sender): Sent {
  const { method, damage } = draft;
  const target = fillIn(draft.target, ids);
  const written = draft.body === undefined ? undefined : textOf(draft.body, known);
  const body = written === undefined ? undefined : damaged(written, damage);
  const headers = new Map<string, string>([
    ['Host', 'localhost'],
    ['Content-Type', 'application/json'],
    ...(token === undefined ? [] : [['Authorization', `Bearer ${token}`] as const]),
  ]);
  const replaced = [...headers].filter(([name]) => !draft.headers.some(([other]) => other === name.toLowerCase()));
  const lines = [...replaced, ...draft.headers].map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${method} ${target} HTTP/1.1\r\n${lines.join('')}`;
  const framed = framing(body, damage);
  const broken =
    draft.headers.some(
      ([name, value]) =>
        NO_HTTP.test(value) ||
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
    last: broken,
    broken,
    text: damage === 'none' && typeof written === 'string' ? written : undefined,
  };
}

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'];

const fillIn = (target: string, ids: Record<string, string>) =>
  target.replaceAll(/\{(\w+)\}/g, (whole, name: string) => ids[name] ?? whole).replaceAll(/[^\x21-\x7e]/g, '-');

const textOf = (body: Node | Uint8Array, known: Record<string, string>): string | Uint8Array =>
  body instanceof Uint8Array ? body : write(body, known);

function damaged(body: string | Uint8Array, damage: Damage): Uint8Array {
  const bytes = Buffer.from(body as string);
  const at = bytes.length >> 1;
  const within = (middle: number[]) => Buffer.concat([bytes.subarray(0, at), Buffer.from(middle), bytes.subarray(at)]);
  switch (damage) {
    case 'bom':
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]);
    case 'utf8':
      return within([0xc3, 0x28]);
    case 'overlong':
      return within([0xc0, 0xaf]);
    case 'latin1':
      return within([0xe9]);
    case 'cut':
      return bytes.subarray(0, at);
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

/** The rest of the head, and the body. */
function framing(body: Uint8Array | undefined, damage: Damage): Buffer {
  if (body === undefined) return Buffer.from('\r\n');
  const length = (named: number | string) => Buffer.from(`Content-Length: ${named}\r\n`);
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
