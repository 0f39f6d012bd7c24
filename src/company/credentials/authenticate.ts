import type { Caller, Credential } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/database/database.ts';
import { type Clock, millisecondsOf, toSql } from '../../kernel/time/time.ts';
import { type CompanyRow, companyOf } from '../company.ts';
import { findToken } from './authenticate.sql.ts';
import type { LastUsedRecorder } from './last-used.ts';
import { secretHash } from './secrets.ts';

const CACHE_TTL_MS = 2_000;
const MAX_CACHED_TOKENS = 10_000;

/**
 * Who a token speaks for. An answer is kept for two seconds: a revoked token and a changed setting are noticed
 * within that time on every process, and a busy caller costs one look-up in it.
 */
export function createAuthenticator(
  db: Executor,
  clock: Clock,
  uses: LastUsedRecorder,
): (token: string) => Caller | Promise<Caller | undefined> {
  const milliseconds = millisecondsOf(clock);
  const cache = new Map<string, { until: number; caller: Caller | Promise<Caller | undefined> }>();
  return (token) => {
    const now = milliseconds();
    const known = cache.get(token);
    if (known && known.until > now && known.until <= now + CACHE_TTL_MS) return known.caller;
    const caller = lookUpCaller(db, clock, uses, token);
    if (cache.size >= MAX_CACHED_TOKENS) cache.clear();
    const entry: { until: number; caller: Caller | Promise<Caller | undefined> } = {
      until: now + CACHE_TTL_MS,
      caller,
    };
    cache.set(token, entry);
    // A look-up that failed says nothing about the token, and strangers' guesses are not worth the memory.
    const forget = () => cache.get(token) === entry && cache.delete(token);
    caller.then((found) => {
      if (found) entry.caller = found;
      else forget();
    }, forget);
    return caller;
  };
}

type TokenRow = CompanyRow & { token_id: string; client_id: string | null; name: string; scopes: string[] };

async function lookUpCaller(
  db: Executor,
  clock: Clock,
  uses: LastUsedRecorder,
  token: string,
): Promise<Caller | undefined> {
  const row = await db.queryFirst<TokenRow>(findToken, [secretHash(token), toSql(clock())]);
  if (!row) return undefined;
  // Noted where the look-up is made and not on every request: two seconds do not matter to "last used".
  if (row.client_id === null) uses.record(row.id, row.token_id);
  const { name } = row;
  const credential: Credential =
    row.client_id === null ? { type: 'key', id: row.token_id, name } : { type: 'client', id: row.client_id, name };
  const key = { companyId: row.id, id: row.token_id };
  return { credential, token: key, scopes: new Set(row.scopes), company: companyOf(row) };
}
