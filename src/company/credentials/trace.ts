import { notFound } from '../../kernel/errors.ts';
import { isUuid } from '../../kernel/ids.ts';
import { Form } from '../../kernel/validation/form.ts';
import type { AdminContext, CompanyContext } from '../admin-context.ts';
import { findCompany } from '../company.ts';
import { disableClient } from './clients/verbs.ts';
import { withCredentialLock } from './credential-lock.ts';
import { DESCENDANT_KINDS } from './descendants.schema.ts';
import * as sql from './descendants.sql.ts';
import { type CredentialKey, endDescendants, type TraceEntry, traceInCompany } from './descendants.ts';
import { revokeKey } from './keys/verbs.ts';
import { secretHash } from './secrets.ts';

/** A credential and everything that it made, in all companies. For the command line, which reaches all of them. */

type FoundCredential = CredentialKey & { company_id: string };

/** By the id of a key or a client, or by a key, an access token or a client secret itself. */
export async function findCredential({ db }: AdminContext, idOrSecret: string): Promise<FoundCredential> {
  const found = isUuid(idOrSecret)
    ? await db.queryFirst<FoundCredential>(sql.findCredential, [idOrSecret])
    : await db.queryFirst<FoundCredential>(sql.findCredentialBySecret, [secretHash(idOrSecret)]);
  if (!found) throw notFound('key or client');
  return found;
}

/** Returns a JSON list: the credential, then what it made in its own company, then what it made in others. */
export const traceCredential = (admin: AdminContext, credential: FoundCredential): Promise<string> =>
  forEachCompany(admin, credential, async (context) => ({
    made: await traceInCompany(context, credential, { onlyWorking: false }),
    ended: [],
  }));

/**
 * Ends all of it, with one transaction for each company, and returns the same list as it is afterwards. The credential's own
 * company comes first: from then on the credential makes nothing in any other.
 */
export async function endCredential(admin: AdminContext, credential: FoundCredential): Promise<string> {
  return forEachCompany(admin, credential, (context) =>
    withCredentialLock(context, async (locked) => {
      const root = context.company.id === credential.company_id ? await endRoot(locked, credential) : [];
      const ended = [...root, ...(await endDescendants(locked, credential, DESCENDANT_KINDS))];
      return { made: await traceInCompany(locked, credential, { onlyWorking: false }), ended };
    }),
  );
}

/** Returns the credential if it worked until now. */
async function endRoot(context: CompanyContext, credential: CredentialKey): Promise<TraceEntry[]> {
  const working = await traceInCompany(context, credential, { onlyWorking: true });
  await (credential.type === 'key' ? revokeKey : disableClient)(context, credential.id, new Form({}));
  return working.filter(({ root }) => root);
}

async function forEachCompany(
  admin: AdminContext,
  { company_id, type, id }: FoundCredential,
  work: (context: CompanyContext) => Promise<{ made: TraceEntry[]; ended: TraceEntry[] }>,
): Promise<string> {
  const rows: string[] = [];
  const done = new Set<string>();
  // A key may have been made for a further company while the first ones were worked on.
  for (let next: string | undefined = company_id; next !== undefined; ) {
    const companyId: string = next;
    const context = { ...admin, company: await findCompany(admin, companyId) };
    const { made, ended } = await work(context);
    const endedIds = new Set(ended.map((one) => one.id));
    for (const one of made) {
      rows.push(`${one.json.slice(0, -1)}, "company_id" : "${companyId}", "ended" : ${endedIds.has(one.id)}}`);
    }
    done.add(companyId);
    const companies = await admin.db.queryRows<{ id: string }>(sql.findCompaniesWithCreatedKeys, [type, id]);
    next = companies.find((company) => !done.has(company.id))?.id;
  }
  return `[${rows.join(', ')}]`;
}
