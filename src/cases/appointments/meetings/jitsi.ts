import { createHmac, randomBytes } from 'node:crypto';
import type { Instant } from '../../../kernel/time/time.ts';
import type { Made, Meeting, MeetingProvider } from './provider.ts';

export type JitsiSettings = {
  url: string;
  /** With both, every link carries a signed token, for a server that asks for one. */
  appId: string | undefined;
  appSecret: string | undefined;
};

const ROOM_BYTES = 16;
// Who comes early waits in the room; who is late, or stays on, still gets in.
const AROUND = { hours: 1 };

/**
 * A Jitsi room begins to exist when somebody enters it. So its name is all there is to make: 128 bits of chance, in hex
 * because the server does not tell upper from lower case.
 */
export function jitsi({ url, appId, appSecret }: JitsiSettings): MeetingProvider {
  const base = new URL(url.endsWith('/') ? url : `${url}/`);
  const linkTo = (room: string, meeting: Meeting): Made => {
    const link = new URL(room, base);
    if (appId !== undefined && appSecret !== undefined) {
      link.searchParams.set('jwt', token(claims(appId, base.hostname, room, meeting), appSecret));
    }
    return { id: room, joinUrl: link.href };
  };
  return {
    create: async (_account, meeting) => linkTo(randomBytes(ROOM_BYTES).toString('hex'), meeting),
    update: async (_account, { id }, meeting) => linkTo(id, meeting),
    // Nobody is told the room any more, and its tokens end with the time they were made for.
    remove: async () => {},
    find: async () => [],
  };
}

const claims = (appId: string, host: string, room: string, { start, end }: Meeting) => ({
  aud: 'jitsi',
  iss: appId,
  sub: host,
  room,
  nbf: seconds(start.subtract(AROUND)),
  exp: seconds(end.add(AROUND)),
});

const seconds = (instant: Instant): number => Math.floor(instant.epochMilliseconds / 1000);

/** A JSON Web Token (RFC 7519), signed with HMAC-SHA256. */
function token(payload: object, secret: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(payload)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}
