import { createHmac, randomBytes } from 'node:crypto';
import type { Instant } from '../../../kernel/time/time.ts';
import type { Meeting, MeetingProvider, ProviderMeeting } from './provider.ts';

export type JitsiSettings = {
  url: string;
  /** If both are set, every link carries a signed token, for a server that requires one. */
  appId: string | undefined;
  appSecret: string | undefined;
};

const ROOM_BYTES = 16;
/** How long before the start and after the end a token is valid, for clients who are early, late or stay on. */
const TOKEN_MARGIN = { hours: 1 };

/**
 * A Jitsi room comes into existence when the first participant enters it, so creating a meeting means choosing a name:
 * 128 random bits, in hex because the server ignores case.
 */
export function jitsi({ url, appId, appSecret }: JitsiSettings): MeetingProvider {
  const base = new URL(url.endsWith('/') ? url : `${url}/`);
  const linkTo = (room: string, meeting: Meeting): ProviderMeeting => {
    const link = new URL(room, base);
    if (appId !== undefined && appSecret !== undefined) {
      link.searchParams.set('jwt', signToken(tokenClaims(appId, base.hostname, room, meeting), appSecret));
    }
    return { id: room, joinUrl: link.href };
  };
  return {
    create: async (_account, meeting) => linkTo(randomBytes(ROOM_BYTES).toString('hex'), meeting),
    update: async (_account, { id }, meeting) => linkTo(id, meeting),
    // A room cannot be removed. Its link is no longer shown, and its tokens expire.
    remove: async () => {},
    find: async () => [],
  };
}

const tokenClaims = (appId: string, host: string, room: string, { start, end }: Meeting) => ({
  aud: 'jitsi',
  iss: appId,
  sub: host,
  room,
  nbf: epochSeconds(start.subtract(TOKEN_MARGIN)),
  exp: epochSeconds(end.add(TOKEN_MARGIN)),
});

const epochSeconds = (instant: Instant): number => Math.floor(instant.epochMilliseconds / 1000);

/** Returns a JSON Web Token (RFC 7519) signed with HMAC-SHA256. */
function signToken(payload: object, secret: string): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(payload)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}
