import { createHmac, randomBytes } from 'node:crypto';
import type { Executor } from '../../kernel/database/database.ts';
import type { SecretBox } from '../../kernel/secret-box.ts';
import { type Clock, toSql } from '../../kernel/time/time.ts';
import * as sql from './secrets.sql.ts';

/** What deliveries are signed with. The prefix tells a reader, and the scanners of code hosts, what has leaked. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64url')}`;

export const secretOwner = (companyId: string, endpointId: string): string[] => [companyId, endpointId.toLowerCase()];

/** As docs/client.md describes it: one signature for each secret. */
export function signatureHeader(secrets: readonly string[], seconds: number, body: string): string {
  const one = (secret: string) => createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return [`t=${seconds}`, ...secrets.map((secret) => `v1=${one(secret)}`)].join(',');
}

type SealedRow = { company_id: string; id: string; sealed: string };

/** How many secrets there are, how many of them no key opens, and how many need an old one. */
export async function countSecrets(
  { db, clock }: { db: Executor; clock: Clock },
  secrets: SecretBox,
): Promise<{ all: number; closed: number; old: number }> {
  const rows = await db.queryRows<SealedRow>(sql.sealedSecrets, [toSql(clock())]);
  const open = rows.filter(
    ({ company_id, id, sealed }) => secrets.open(sealed, secretOwner(company_id, id)) !== undefined,
  );
  const current = open.filter(({ company_id, id, sealed }) => secrets.isCurrent(sealed, secretOwner(company_id, id)));
  return { all: rows.length, closed: rows.length - open.length, old: open.length - current.length };
}

/** Seals anew, with the first key, what needs an old one. `closed` are those that no key opens. */
export async function resealSecrets(
  { db, clock }: { db: Executor; clock: Clock },
  secrets: SecretBox,
): Promise<{ secrets: number; resealed: number; closed: number }> {
  const rows = await db.queryRows<SealedRow>(sql.sealedSecrets, [toSql(clock())]);
  let resealed = 0;
  let closed = 0;
  for (const { company_id, id, sealed } of rows) {
    const owner = secretOwner(company_id, id);
    if (secrets.isCurrent(sealed, owner)) continue;
    const secret = secrets.open(sealed, owner);
    if (secret === undefined) closed += 1;
    else if (await db.queryFirst(sql.resealSecret, [company_id, id, sealed, secrets.seal(secret, owner)]))
      resealed += 1;
  }
  return { secrets: rows.length, resealed, closed };
}

/** How many endpoints the service has stopped sending to, for the doctor. */
export async function countFailingEndpoints({ db }: { db: Executor }): Promise<number> {
  return (await db.queryFirst<{ count: number }>(sql.countFailing, []))?.count ?? 0;
}
