import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { CrossOriginError } from '../../kernel/errors.ts';

/** Where people sign in: the origin that their browser sees, and the cookies that belong to it. */
export type Site = {
  origin: string;
  /** The URL that links begin with: the origin, and the path under which a proxy serves it. */
  url: string;
  /** WebAuthn's name for the site, to which passkeys are bound. */
  rpId: string;
  /** The names of the cookies. */
  cookies: { session: string; browser: string };
  isSecure: boolean;
};

/** Returns the site of a request; undefined if people cannot sign in through its address. */
export type SiteOf = (request: Pick<FastifyRequest, 'raw' | 'headers'>) => Site | undefined;

/**
 * A browser sends a cookie with the prefix `__Host-` only over https and to the host that set it, not even to its
 * subdomains. Over plain http, which only loopback allows, browsers refuse to store such a cookie.
 */
const SECURE_COOKIES = { session: '__Host-session', browser: '__Host-browser' };
const LOOPBACK_COOKIES = { session: 'session-on-loopback', browser: 'browser-on-loopback' };

const LOOPBACK_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;
const LOOPBACK_ADDRESS = /^(?:127\.|::1$|::ffff:127\.)/;

/** Returns the site of a PUBLIC_URL; undefined if people cannot sign in there: over plain http, cookies can be stolen. */
export function publicSite(publicUrl: string): Site | undefined {
  const { origin, protocol, host, hostname } = new URL(publicUrl);
  const isSecure = protocol === 'https:';
  if (!isSecure && !LOOPBACK_HOST.test(host)) return undefined;
  return { origin, url: publicUrl, rpId: hostname, cookies: isSecure ? SECURE_COOKIES : LOOPBACK_COOKIES, isSecure };
}

export const isLoopback = ({ origin }: Site): boolean => LOOPBACK_HOST.test(new URL(origin).host);
export const isLoopbackAddress = (address: string): boolean => LOOPBACK_ADDRESS.test(address);

/** Without PUBLIC_URL people can sign in only on the machine itself. */
export function siteFinder(publicUrl: string | undefined): SiteOf {
  const site = publicUrl === undefined ? undefined : publicSite(publicUrl);
  if (publicUrl !== undefined) return () => site;
  return ({ headers: { host = '' }, raw: { socket } }) => {
    if (!LOOPBACK_HOST.test(host) || !LOOPBACK_ADDRESS.test(socket.remoteAddress ?? '')) return undefined;
    // The port can be beyond the highest one.
    return URL.canParse(`http://${host}`) ? publicSite(`http://${host}`) : undefined;
  };
}

/** Browsers create passkeys for names only. */
export const canHavePasskeys = ({ rpId }: Site): boolean => isIP(rpId.replace(/^\[|\]$/g, '')) === 0;

const SECRET = /^[A-Za-z0-9_-]{43}$/;

/** Returns the value of a cookie that holds a secret; undefined if there is none, or if it has another form. */
export function secretCookie({ headers: { cookie } }: Pick<FastifyRequest, 'headers'>, name: string) {
  if (cookie === undefined) return undefined;
  for (const pair of cookie.split(';')) {
    const [key = '', value = ''] = pair.split('=', 2);
    if (key.trim() === name) return SECRET.test(value.trim()) ? value.trim() : undefined;
  }
  return undefined;
}

/** Returns the header that sets a cookie. Without `maxAgeSeconds` it ends with the browser; with 0 it is removed. */
export function cookieHeader({ isSecure }: Site, name: string, value: string, maxAgeSeconds?: number): string {
  const age = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`;
  return `${name}=${value}; HttpOnly;${isSecure ? ' Secure;' : ''} SameSite=Strict; Path=/${age}`;
}

/**
 * Whether a page of the site itself sent the request. Pages of other origins, also of sibling subdomains, can make a
 * browser send its cookies, but they cannot set these headers.
 */
export function isSameOrigin({ headers }: Pick<FastifyRequest, 'headers'>, { origin }: Site): boolean {
  const { origin: sent, 'sec-fetch-site': fetchSite } = headers;
  // A proxy that passes another Host on would otherwise make its site this one.
  if (sent !== undefined && sent !== origin) return false;
  return fetchSite === undefined ? sent === origin : fetchSite === 'same-origin';
}

const MAX_USER_AGENT_LENGTH = 200;

/** What a request tells of its browser. */
export const browserOf = (request: FastifyRequest, site: Site) => ({
  browser: {
    address: request.callerAddress,
    userAgent: (request.headers['user-agent'] ?? '').replaceAll(/\P{ASCII}/gu, '?').slice(0, MAX_USER_AGENT_LENGTH),
  },
  sessionSecret: secretCookie(request, site.cookies.session),
  browserSecret: secretCookie(request, site.cookies.browser),
});

/** A browser is known for as long as the service keeps the session that it began with. */
const BROWSER_COOKIE_SECONDS = 30 * 86_400;

/** Returns the cookies of a new session. */
export const sessionCookies = (site: Site, { secret, browserSecret }: { secret: string; browserSecret: string }) => [
  cookieHeader(site, site.cookies.session, secret),
  cookieHeader(site, site.cookies.browser, browserSecret, BROWSER_COOKIE_SECONDS),
];

/** Returns the site, for a request that sets cookies or relies on them. Throws if another page may have sent it. */
export function requireSite(request: FastifyRequest, siteOf: SiteOf): Site {
  const site = siteOf(request);
  if (!site) {
    throw new CrossOriginError(
      'People cannot sign in at this address. PUBLIC_URL must begin with https://, or be unset for this machine alone.',
    );
  }
  if (!isSameOrigin(request, site)) throw new CrossOriginError(`Only pages of ${site.origin} may do this.`);
  return site;
}
