import type { Context } from '../kernel/context.ts';
import { notFound } from '../kernel/errors.ts';
import { read } from '../kernel/sql/statement.ts';

const caseExists = read('cases.exists', {
  inputs: { company_id: 'uuid', id: 'uuid' },
  sql: (input) => `SELECT 1 FROM cases WHERE company_id = ${input.company_id} AND id = ${input.id}`,
});

/** Throws if the company has no such case. */
export async function requireCase({ db, company }: Context, caseId: string): Promise<void> {
  if (!(await db.queryFirst(caseExists({ company_id: company.id, id: caseId })))) throw notFound('case');
}
