import type { Caller, Credential } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/database/database.ts';
import { type Clock, millisecondsOf, toSql } from '../../kernel/time/time.ts';
import { type CompanyRow, companyOf } from '../company.ts';
import { findToken } from './authenticate.sql.ts';
import type { KeyUses } from './last-used.ts';
import { digest } from './secrets.ts';

const CACHE_MS = 2_000;
const MOST_CACHED = 10_000;

/**
 * Who a token speaks for. An answer is kept for two seconds: a revoked token and a changed setting are noticed
 * within that time on every process, and a busy caller costs one look-up in it.
 */
export function callerFinder(
  db: Executor,
  clock: Clock,
  uses: KeyUses,
): (token: string) => Caller | Promise<Caller | undefined> {
  const milliseconds = millisecondsOf(clock);
  const cache = new Map<string, { until: number; caller: Caller | Promise<Caller | undefined> }>();
  return (token) => {
    const now = milliseconds();
    const known = cache.get(token);
    if (known && known.until > now && known.until <= now + CACHE_MS) return known.caller;
    const caller = findCaller(db, clock, uses, token);
    if (cache.size >= MOST_CACHED) cache.clear();
    const entry: { until: number; caller: Caller | Promise<Caller | undefined> } = { until: now + CACHE_MS, caller };
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

async function findCaller(db: Executor, clock: Clock, uses: KeyUses, token: string): Promise<Caller | undefined> {
  const row = await db.queryFirst<TokenRow>(findToken, [digest(token), toSql(clock())]);
  if (!row) return undefined;
  // Noted where the look-up is made and not on every request: two seconds do not matter to "last used".
  if (row.client_id === null) uses.note(row.id, row.token_id);
  const { name } = row;
  const credential: Credential =
    row.client_id === null ? { type: 'key', id: row.token_id, name } : { type: 'client', id: row.client_id, name };
  const key = { companyId: row.id, id: row.token_id };
  return { credential, token: key, scopes: new Set(row.scopes), company: companyOf(row) };
}
