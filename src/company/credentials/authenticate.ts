import type { Caller, Credential } from '../../kernel/context.ts';
import type { Database, Executor } from '../../kernel/database/database.ts';
import { RequestDatabase } from '../../kernel/database/request-database.ts';
import { effectiveScopes } from '../../kernel/scopes.ts';
import { type Clock, millisecondsOf, toSql } from '../../kernel/time/time.ts';
import { type CompanyRow, companyOf } from '../company.ts';
import { findToken } from './authenticate.sql.ts';
import type { LastUsedRecorder } from './last-used.ts';
import { secretHash } from './secrets.ts';

const CACHE_TTL_MS = 2_000;
const MAX_CACHED_TOKENS = 10_000;

type CacheEntry = { expiresAtMs: number; caller: Caller | Promise<Caller | undefined> };

type LookUp = (secret: string) => Promise<Caller | undefined>;

/** Returns a function that resolves a token to its caller, or to undefined if the token is not valid. */
export const createAuthenticator = (db: Database, clock: Clock, lastUsed: LastUsedRecorder) =>
  cachedLookup(clock, (token) => lookUpCaller(new RequestDatabase(db), clock, lastUsed, token));

/**
 * Caches the results of a look-up, so that a busy caller costs one query per CACHE_TTL_MS. Every process notices an
 * ended token or session, or a changed setting, within that time.
 */
export function cachedLookup(clock: Clock, lookUp: LookUp): (token: string) => Caller | Promise<Caller | undefined> {
  const milliseconds = millisecondsOf(clock);
  const cache = new Map<string, CacheEntry>();
  return (token) => {
    const now = milliseconds();
    const cached = cache.get(token);
    if (cached && cached.expiresAtMs > now && cached.expiresAtMs <= now + CACHE_TTL_MS) return cached.caller;
    const caller = lookUp(token);
    if (cache.size >= MAX_CACHED_TOKENS) cache.clear();
    const entry: CacheEntry = { expiresAtMs: now + CACHE_TTL_MS, caller };
    cache.set(token, entry);
    // A failed look-up says nothing about the token, and guessed tokens must not fill the cache.
    const evict = () => cache.get(token) === entry && cache.delete(token);
    caller.then((found) => {
      if (found) entry.caller = found;
      else evict();
    }, evict);
    return caller;
  };
}

type TokenRow = CompanyRow & { token_id: string; client_id: string | null; name: string; scopes: string[] };

async function lookUpCaller(
  db: Executor,
  clock: Clock,
  lastUsed: LastUsedRecorder,
  token: string,
): Promise<Caller | undefined> {
  const row = await db.queryFirst<TokenRow>(findToken({ secret_sha256: secretHash(token), now: toSql(clock()) }));
  if (!row) return undefined;
  // Recorded once per look-up instead of once per request: "last used" is exact to about a minute anyway.
  if (row.client_id === null) lastUsed.record(row.id, row.token_id);
  const { name } = row;
  const credential: Credential =
    row.client_id === null ? { type: 'key', id: row.token_id, name } : { type: 'client', id: row.client_id, name };
  const key = { companyId: row.id, id: row.token_id };
  return { credential, token: key, scopes: effectiveScopes(row.scopes), company: companyOf(row) };
}
