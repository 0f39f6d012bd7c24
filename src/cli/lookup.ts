import type { AdminContext, CompanyContext } from '../company/admin-context.ts';
import { NotFoundError } from '../kernel/errors.ts';
import { isUuid } from '../kernel/ids.ts';
import type { Query } from '../kernel/sql/statement.ts';
import * as sql from './lookup.sql.ts';
import { formatCell } from './table.ts';

/** Returns identifiers of records that a person names by an identifier, a name, or the beginning of either. */

type Candidate = { id: string; label: string; is_exact: boolean };

/** Several records fit what was typed. */
export class AmbiguousNameError extends Error {
  readonly candidates: readonly string[];

  constructor(word: string, candidates: readonly Candidate[]) {
    super(`"${word}" fits more than one. Type more of the name, or an identifier:`);
    const lines = candidates.slice(0, sql.MAX_CANDIDATES).map(({ id, label }) => `${id}  ${formatCell(label)}`);
    this.candidates = candidates.length > sql.MAX_CANDIDATES ? [...lines, '… and more'] : lines;
  }
}

/** A whole name wins over names that only begin with it. */
async function findId({ db }: AdminContext, recordName: string, word: string, query: Query): Promise<string> {
  // Every name begins with an empty text: `--company "$UNSET"` would choose the only company.
  if (word.trim() === '') throw noSuchRecord(recordName, word);
  const candidates = await db.queryRows<Candidate>(query);
  const exact = candidates.filter(({ is_exact }) => is_exact);
  const matches = exact.length > 0 ? exact : candidates;
  const [match] = matches;
  if (!match) throw noSuchRecord(recordName, word);
  if (matches.length > 1) throw new AmbiguousNameError(word, matches);
  return match.id;
}

const noSuchRecord = (recordName: string, word: string) =>
  new NotFoundError(`There is no ${recordName} named "${formatCell(word)}".`);

/** The verb that gets the identifier says whether there is such a record. */
const unlessId = (word: string, find: () => Promise<string>): Promise<string> =>
  isUuid(word) ? Promise.resolve(word) : find();

export const findCompanyId = (context: AdminContext, word: string) =>
  unlessId(word, () => findId(context, 'company', word, sql.companies({ word })));

/** Returns the companies that have exactly this name; letter case does not matter. */
export async function findCompanyIdsByName({ db }: AdminContext, name: string): Promise<string[]> {
  const candidates = await db.queryRows<Candidate>(sql.companies({ word: name }));
  return candidates.filter(({ is_exact }) => is_exact).map(({ id }) => id);
}

export const findAdviserId = (context: CompanyContext, word: string, { removed = false } = {}) =>
  unlessId(word, () =>
    findId(context, 'adviser', word, sql.advisers({ company_id: context.company.id, removed, word })),
  );

export const findCaseId = (context: CompanyContext, word: string) =>
  unlessId(word, () => findId(context, 'case', word, sql.cases({ company_id: context.company.id, word })));

export const findCaseKindId = (context: CompanyContext, word: string, { removed = false } = {}) =>
  unlessId(word, () =>
    findId(context, 'kind of case', word, sql.caseKinds({ company_id: context.company.id, removed, word })),
  );

export const findCustomerId = (
  context: CompanyContext,
  { caseId, word, removed = false }: { caseId: string; word: string; removed?: boolean },
) =>
  unlessId(word, () =>
    findId(
      context,
      'customer',
      word,
      sql.customers({ company_id: context.company.id, case_id: caseId, removed, word }),
    ),
  );

export const findClientId = (context: CompanyContext, word: string) =>
  unlessId(word, () => findId(context, 'client', word, sql.clients({ company_id: context.company.id, word })));

export const findKeyId = (context: CompanyContext, word: string) =>
  unlessId(word, () => findId(context, 'key', word, sql.keys({ company_id: context.company.id, word })));

export const findUserId = (context: CompanyContext, word: string) =>
  unlessId(word, () => findId(context, 'user', word, sql.users({ company_id: context.company.id, word })));

export const findCredentialId = (context: AdminContext, word: string) =>
  unlessId(word, () => findId(context, 'key or client', word, sql.credentials({ word })));

export const findEndpointId = (context: CompanyContext, word: string) =>
  unlessId(word, () =>
    findId(context, 'webhook endpoint', word, sql.endpoints({ company_id: context.company.id, word })),
  );

export const findDeliveryId = (context: CompanyContext, endpointId: string, word: string) =>
  unlessId(word, () =>
    findId(
      context,
      'delivery',
      word,
      sql.deliveries({ company_id: context.company.id, endpoint_id: endpointId, word }),
    ),
  );
