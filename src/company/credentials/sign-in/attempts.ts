import { hash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { Executor } from '../../../kernel/database/database.ts';
import { TooManyAttemptsError } from '../../../kernel/errors.ts';
import type { ByteaText } from '../../../kernel/sql/inputs.ts';
import { type Clock, toSql } from '../../../kernel/time/time.ts';
import * as sql from './attempts.sql.ts';

/** What attempts are counted by, such as `{ account: 'olivia@company.example' }`. */
type Subjects = Partial<Record<sql.AttemptKind, string>>;

export type Attempt = { keys: readonly ByteaText[] };

/**
 * Takes one attempt of each subject, or none of any, and throws, if one of them has to wait. The rows are the same
 * whether an account exists or not.
 */
export async function takeAttempt({ db, clock }: { db: Executor; clock: Clock }, subjects: Subjects): Promise<Attempt> {
  const kinds = Object.keys(subjects) as sql.AttemptKind[];
  const keys = kinds.map((kind): ByteaText => `\\x${hash('sha256', `${kind}\0${subjects[kind]}`, 'hex')}`);
  return db.transaction(async (transaction) => {
    const rows = await transaction.queryRows<{ allowed: boolean; wait_seconds: number }>(
      sql.takeAttempt({ keys: keys as never, kinds, now: toSql(clock()) }),
    );
    const waits = rows.filter(({ allowed }) => !allowed).map(({ wait_seconds }) => wait_seconds);
    // A concurrent attempt may have delayed one of the subjects meanwhile: then none is taken from the others either.
    if (waits.length > 0)
      throw new TooManyAttemptsError('Too many attempts have failed. Try again later.', Math.max(...waits));
    return { keys };
  });
}

export async function forgiveAttempt(db: Executor, { keys }: Attempt): Promise<void> {
  await db.queryRows(sql.forgiveAttempt({ keys: keys as never }));
}

/** Who has one IPv6 address usually has its whole /64, so all of them count together. */
export function addressSubject(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::', 2);
  const groups = head === '' ? [] : head.split(':');
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === '' ? 0 : tail.split(':').length);
  return [...groups, ...Array<string>(missing).fill('0'), ...(tail ?? '').split(':')].slice(0, 4).join(':');
}
