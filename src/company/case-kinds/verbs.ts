import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import { retryOnConflict } from '../../kernel/database/optimistic-retry.ts';
import { violatedConstraint } from '../../kernel/database/postgres-errors.ts';
import { assertBelowLimit } from '../../kernel/database/row-limit.ts';
import { invalidRequest, invalidState, notFound } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { toSql } from '../../kernel/time/time.ts';
import type { Form } from '../../kernel/validation/form.ts';
import type { PageOfJson, RemovableListRequest } from '../../kernel/validation/paging.ts';
import { assertVisible } from '../../kernel/validation/single-line.ts';
import type { CompanyContext } from '../admin-context.ts';
import { readListPage } from '../list.ts';
import type { CaseKindBody } from './schema.ts';
import * as sql from './statements.sql.ts';

const NOUN = 'kind of case';
const NAME_TAKEN = { code: 'taken', message: 'is already a kind of case of the company' } as const;

export function listCaseKinds({ db, company }: CompanyContext, request: RemovableListRequest): Promise<PageOfJson> {
  const statements = request.removed ? sql.listRemovedCaseKinds : sql.listCaseKinds;
  return readListPage(db, statements, { company_id: company.id }, request);
}

export async function showCaseKind({ db, company }: CompanyContext, id: string): Promise<string> {
  const record = await db.queryJson(sql.showCaseKind({ company_id: company.id, id }));
  if (record === undefined) throw notFound(NOUN);
  return record;
}

export async function createCaseKind(context: CompanyContext, form: Form<CaseKindBody>): Promise<string> {
  const { db, company } = context;
  form.read('name', form.body.name, assertVisible);
  form.check();
  await assertBelowLimit(db, sql.caseKindLimit, { company_id: company.id });
  const record = await db.queryJson(
    sql.insertCaseKind({ ...changeOf(context, newId()), name: form.body.name as string }),
  );
  if (record) return record;
  form.addFault('name', NAME_TAKEN.code, NAME_TAKEN.message);
  form.check();
  throw new Error('The kind of case was not written, and no reason was found.');
}

export function updateCaseKind(context: CompanyContext, id: string, form: Form<CaseKindBody>): Promise<string> {
  form.read('name', form.body.name, assertVisible);
  const values = { ...changeOf(context, id), name: form.body.name };
  return retryOnConflict(
    async () => form.ok && context.db.queryJson(sql.updateCaseKind(values)).catch(rethrowUnlessNameTaken),
    async () => {
      const found = await findRejection(context, id, form.hasFault('name') ? undefined : form.body.name);
      if (!found || found.removed) throw notFound(NOUN);
      if (found.name_taken && form.has('name')) form.addFault('name', NAME_TAKEN.code, NAME_TAKEN.message);
      form.check();
    },
  );
}

export async function removeCaseKind(context: CompanyContext, id: string): Promise<string> {
  const record = await context.db.queryJson(sql.removeCaseKind(changeOf(context, id)));
  if (record === undefined) throw notFound(NOUN);
  return record;
}

/** Restores the kind unchanged, unless another kind has the name by now. */
export function restoreCaseKind(context: CompanyContext, id: string): Promise<string> {
  return retryOnConflict(
    () => context.db.queryJson(sql.restoreCaseKind(changeOf(context, id))).catch(rethrowUnlessNameTaken),
    async () => {
      const found = await findRejection(context, id, undefined);
      if (!found) throw notFound(NOUN);
      if (!found.removed) throw invalidState('removed_at', 'the kind of case is not removed');
      if (found.name_taken) throw invalidRequest([{ field: 'name', ...NAME_TAKEN }]);
    },
  );
}

const changeOf = (context: CompanyContext, id: string) => ({
  company_id: context.company.id,
  id,
  now: toSql(context.clock()),
  origin: auditOrigin(context),
});

const findRejection = ({ db, company }: CompanyContext, id: string, name: string | undefined) =>
  db.queryFirst<{ removed: boolean; name_taken: boolean }>(sql.explainRejection({ company_id: company.id, id, name }));

function rethrowUnlessNameTaken(error: unknown): undefined {
  if (violatedConstraint(error) !== 'case_kinds_name') throw error;
}
