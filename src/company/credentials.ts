import { createHash, randomBytes } from 'node:crypto';
import type { Company } from '../kernel/context.ts';
import type { Executor } from '../kernel/database.ts';
import { newId } from '../kernel/ids.ts';
import { type Clock, toSql } from '../kernel/time.ts';
import type { Office } from './company.ts';
import { findToken, insertToken } from './credentials.sql.ts';

export type Caller = { company: Company; tokenId: string; scopes: ReadonlySet<string> };

const CACHE_MS = 2_000;
const MOST_CACHED = 10_000;

const digest = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** Makes a token and gives its text, which is stored nowhere. */
export async function createToken(
  { db, clock }: Office,
  token: { companyId: string; name: string; scopes: readonly string[] },
): Promise<string> {
  const secret = `cr_${randomBytes(32).toString('base64url')}`;
  await db.rows(insertToken, [token.companyId, newId(), digest(secret), token.name, token.scopes, toSql(clock())]);
  return secret;
}

/**
 * Who a token speaks for. An answer is kept for two seconds: a revoked token and a changed setting are noticed
 * within that time on every process, and a busy caller costs one look-up in it.
 */
export function callerFinder(db: Executor, clock: Clock): (token: string) => Promise<Caller | undefined> {
  const cache = new Map<string, { until: number; caller: Promise<Caller | undefined> }>();
  return (token) => {
    const now = clock().epochMilliseconds;
    const known = cache.get(token);
    if (known && known.until > now && known.until <= now + CACHE_MS) return known.caller;
    const caller = findCaller(db, clock, token);
    if (cache.size >= MOST_CACHED) cache.clear();
    cache.set(token, { until: now + CACHE_MS, caller });
    // A look-up that failed says nothing about the token, and strangers' guesses are not worth the memory.
    caller.then(
      (found) => found ?? cache.delete(token),
      () => cache.delete(token),
    );
    return caller;
  };
}

type TokenRow = {
  token_id: string;
  scopes: string[];
  id: string;
  time_zone: string;
  phone_region: string;
  terms: string;
  payment_terms: string;
  reminder_lead_days: number;
};

async function findCaller(db: Executor, clock: Clock, token: string): Promise<Caller | undefined> {
  const row = await db.first<TokenRow>(findToken, [digest(token), toSql(clock())]);
  return (
    row && {
      tokenId: row.token_id,
      scopes: new Set(row.scopes),
      company: {
        id: row.id,
        timeZone: row.time_zone,
        phoneRegion: row.phone_region,
        terms: row.terms,
        paymentTerms: row.payment_terms,
        reminderLeadDays: row.reminder_lead_days,
      },
    }
  );
}
