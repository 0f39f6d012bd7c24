import { auditOrigin } from '../../../kernel/audit/audit-log.ts';
import type { Executor } from '../../../kernel/database/database.ts';
import type { SecretBox } from '../../../kernel/secret-box.ts';
import { type Clock, toSql } from '../../../kernel/time/time.ts';
import { codeSecretOwner } from '../factors/code-secrets.ts';
import { matchCode, newCodeSecret } from '../factors/one-time-codes.ts';
import { useCode, useRecoveryCode } from '../factors/statements.sql.ts';
import type { UserKey } from '../sessions/verbs.ts';

/** What is known of the second factor of a user when the code arrives. */
export type SecondFactor = {
  sealed_secret: string | null;
  /** The step of the last one-time code that was accepted. */
  code_step: string | null;
  /** Whether the code that was sent is a recovery code of the user that has not been used. */
  has_recovery_code: boolean;
};

/** A code that is right: the step of a one-time code, or a recovery code. */
type RightCode = number | 'recovery';

const NO_SECRET = newCodeSecret();

/**
 * Returns undefined if the code is wrong or was used before. Reads nothing from the database and changes nothing there:
 * otherwise the time of an answer would tell whether the password, which is checked before, was right.
 */
export function checkCode(
  { clock, secrets }: { clock: Clock; secrets: SecretBox | undefined },
  { company_id, user_id }: UserKey,
  { sealed_secret, code_step, has_recovery_code }: SecondFactor,
  code: string,
): RightCode | undefined {
  const secret =
    sealed_secret === null ? undefined : secrets?.open(sealed_secret, codeSecretOwner(company_id, user_id));
  const step = matchCode(secret ?? NO_SECRET, code, clock());
  if (step !== undefined && secret !== undefined && (code_step === null || step > Number(code_step))) return step;
  return has_recovery_code ? 'recovery' : undefined;
}

/** Uses the code up. Returns false if another request has used it since it was checked. */
export async function useUpCode(
  { db, clock, requestId }: { db: Executor; clock: Clock; requestId: string },
  { company_id, user_id }: UserKey,
  { name, code_sha256, right }: { name: string; code_sha256: Buffer; right: RightCode },
): Promise<boolean> {
  const key = { company_id, user_id };
  if (right !== 'recovery') return (await db.queryRows(useCode({ ...key, code_step: right }))).length > 0;
  const origin = auditOrigin({ credential: { type: 'user', id: user_id, name }, requestId });
  const used = await db.queryRows(useRecoveryCode({ ...key, hash: code_sha256, now: toSql(clock()), origin }));
  return used.length > 0;
}
