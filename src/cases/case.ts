import type { Context } from '../kernel/context.ts';
import { notFound } from '../kernel/errors.ts';
import { statement } from '../kernel/sql/statement.ts';

const caseExists = statement('cases.exists', 'SELECT 1 FROM cases WHERE company_id = $1 AND id = $2');

/** A case of another company is as unknown as one that never was. */
export async function requireCase({ db, company }: Context, caseId: string): Promise<void> {
  if (!(await db.queryFirst(caseExists, [company.id, caseId]))) throw notFound('case');
}
