import { notFound } from '../../kernel/errors.ts';
import { isUuid } from '../../kernel/ids.ts';
import { Form } from '../../kernel/validation/form.ts';
import type { AdminContext, CompanyContext } from '../admin-context.ts';
import { findCompany } from '../company.ts';
import { disableClient } from './clients/verbs.ts';
import { withCredentialLock } from './credential-lock.ts';
import { DESCENDANT_KINDS } from './descendants.schema.ts';
import { type CredentialKey, endDescendants, type TraceEntry, traceInCompany } from './descendants.ts';
import { revokeKey } from './keys/verbs.ts';
import { secretHash } from './secrets.ts';
import * as sql from './trace.sql.ts';
import { endUser } from './users/verbs.ts';

/** A credential and its descendants in all companies, for the command line. */

type FoundCredential = CredentialKey & { company_id: string };

/** Finds a credential by the id of a key, a client or a user, or by a key, an access token or a client secret. */
export async function findCredential({ db }: AdminContext, idOrSecret: string): Promise<FoundCredential> {
  const found = isUuid(idOrSecret)
    ? await db.queryFirst<FoundCredential>(sql.findCredential({ id: idOrSecret }))
    : await db.queryFirst<FoundCredential>(sql.findCredentialBySecret({ secret_sha256: secretHash(idOrSecret) }));
  if (!found) throw notFound('key or client');
  return found;
}

/** Returns a JSON list: the credential, its descendants in its own company, then those in other companies. */
export const traceCredential = (admin: AdminContext, credential: FoundCredential): Promise<string> =>
  forEachCompany(admin, credential, async (context) => ({
    trace: await traceInCompany(context, credential, { onlyWorking: false }),
    ended: [],
  }));

/**
 * Ends the credential and its descendants, with one transaction per company, and returns the list of `traceCredential`.
 * The credential's own company comes first, so the credential cannot create anything in the others afterwards.
 */
export async function endCredential(admin: AdminContext, credential: FoundCredential): Promise<string> {
  return forEachCompany(admin, credential, (context) =>
    withCredentialLock(context, async (locked) => {
      const root = context.company.id === credential.company_id ? await endRoot(locked, credential) : [];
      const ended = [...root, ...(await endDescendants(locked, credential, DESCENDANT_KINDS))];
      return { trace: await traceInCompany(locked, credential, { onlyWorking: false }), ended };
    }),
  );
}

const END = { key: revokeKey, client: disableClient, user: endUser };

/** Ends the credential itself. Returns its entry if it worked until now, else an empty list. */
async function endRoot(context: CompanyContext, credential: CredentialKey): Promise<TraceEntry[]> {
  const working = await traceInCompany(context, credential, { onlyWorking: true });
  await END[credential.type](context, credential.id, new Form({}));
  return working.filter(({ root }) => root);
}

/** Runs `work` for each company that the credential has descendants in, its own company first. */
async function forEachCompany(
  admin: AdminContext,
  { company_id, type, id }: FoundCredential,
  work: (context: CompanyContext) => Promise<{ trace: TraceEntry[]; ended: TraceEntry[] }>,
): Promise<string> {
  const rows: string[] = [];
  const visited = new Set<string>();
  // The credential may create a key in another company during the loop, so the companies are looked up in each round.
  for (let nextCompanyId: string | undefined = company_id; nextCompanyId !== undefined; ) {
    const companyId: string = nextCompanyId;
    const context = { ...admin, company: await findCompany(admin, companyId) };
    const { trace, ended } = await work(context);
    const endedIds = new Set(ended.map(({ id }) => id));
    for (const entry of trace) {
      rows.push(`${entry.json.slice(0, -1)}, "company_id" : "${companyId}", "ended" : ${endedIds.has(entry.id)}}`);
    }
    visited.add(companyId);
    const companies = await admin.db.queryRows<{ id: string }>(
      sql.findCompaniesWithCreatedKeys({ created_by_type: type, created_by_id: id }),
    );
    nextCompanyId = companies.find((company) => !visited.has(company.id))?.id;
  }
  return `[${rows.join(', ')}]`;
}
