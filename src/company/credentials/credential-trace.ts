import { notFound } from '../../kernel/errors.ts';
import { isUuid } from '../../kernel/ids.ts';
import { Form } from '../../kernel/validation/form.ts';
import type { AdminContext, CompanyContext } from '../admin-context.ts';
import { findCompany } from '../company.ts';
import { disableClient } from './clients/verbs.ts';
import { MADE_KINDS } from './created-by.schema.ts';
import * as sql from './created-by.sql.ts';
import { type CredentialKey, endMade, listMade, type Made } from './created-by.ts';
import { underCredentialLock } from './credential-lock.ts';
import { revokeKey } from './keys/verbs.ts';
import { digest } from './secrets.ts';

/** A credential and everything that it made, in all companies. For the command line, which reaches all of them. */

type Found = CredentialKey & { company_id: string };

/** By the id of a key or a client, or by a key, an access token or a client secret itself. */
export async function findCredential({ db }: AdminContext, idOrSecret: string): Promise<Found> {
  const found = isUuid(idOrSecret)
    ? await db.queryFirst<Found>(sql.findCredential, [idOrSecret])
    : await db.queryFirst<Found>(sql.findCredentialBySecret, [digest(idOrSecret)]);
  if (!found) throw notFound('key or client');
  return found;
}

/** Returns a JSON list: the credential, then what it made in its own company, then what it made in others. */
export const traceCredential = (office: AdminContext, credential: Found): Promise<string> =>
  inEachCompany(office, credential, async (desk) => ({
    made: await listMade(desk, credential, { onlyWorking: false }),
    ended: [],
  }));

/**
 * Ends all of it, with one transaction for each company, and returns the same list as it is afterwards. The credential's own
 * company comes first: from then on the credential makes nothing in any other.
 */
export async function endCredential(office: AdminContext, credential: Found): Promise<string> {
  return inEachCompany(office, credential, (desk) =>
    underCredentialLock(desk, async (held) => {
      const root = desk.company.id === credential.company_id ? await endRoot(held, credential) : [];
      const ended = [...root, ...(await endMade(held, credential, MADE_KINDS))];
      return { made: await listMade(held, credential, { onlyWorking: false }), ended };
    }),
  );
}

/** Returns the credential if it worked until now. */
async function endRoot(desk: CompanyContext, credential: CredentialKey): Promise<Made[]> {
  const working = await listMade(desk, credential, { onlyWorking: true });
  await (credential.type === 'key' ? revokeKey : disableClient)(desk, credential.id, new Form({}));
  return working.filter(({ root }) => root);
}

async function inEachCompany(
  office: AdminContext,
  { company_id, type, id }: Found,
  work: (desk: CompanyContext) => Promise<{ made: Made[]; ended: Made[] }>,
): Promise<string> {
  const rows: string[] = [];
  const done = new Set<string>();
  // A key may have been made for a further company while the first ones were worked on.
  for (let next: string | undefined = company_id; next !== undefined; ) {
    const companyId: string = next;
    const desk = { ...office, company: await findCompany(office, companyId) };
    const { made, ended } = await work(desk);
    const endedIds = new Set(ended.map((one) => one.id));
    for (const one of made) {
      rows.push(`${one.json.slice(0, -1)}, "company_id" : "${companyId}", "ended" : ${endedIds.has(one.id)}}`);
    }
    done.add(companyId);
    const companies = await office.db.queryRows<{ id: string }>(sql.companiesOfMadeKeys, [type, id]);
    next = companies.find((company) => !done.has(company.id))?.id;
  }
  return `[${rows.join(', ')}]`;
}
