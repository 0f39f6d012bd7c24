import type { Context } from '../../kernel/context.ts';
import { notFound } from '../../kernel/errors.ts';
import type { Scope } from '../../kernel/scopes.ts';
import { startOfDay, toSql } from '../../kernel/time/time.ts';
import { readOverview } from './overview.sql.ts';

export async function showOverview({ db, company, clock, scopes }: Context, id: string): Promise<string> {
  const mayRead = (scope: Scope) => scopes === undefined || scopes.has(scope);
  const now = clock();
  const record = await db.queryJson(
    readOverview({
      company_id: company.id,
      id,
      now: toSql(now),
      today: toSql(startOfDay(now, company.timeZone)),
      address_book: mayRead('address_book:read'),
      interactions: mayRead('interactions:read'),
      invoices: mayRead('invoices:read'),
      appointments: mayRead('appointments:read'),
    }),
  );
  if (record === undefined) throw notFound('case');
  return record;
}
