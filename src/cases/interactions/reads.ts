import type { Context } from '../../kernel/context.ts';
import type { ShownRecord } from '../../kernel/database/database.ts';
import { notFound } from '../../kernel/errors.ts';
import { zonePlaceholder } from '../../kernel/time/wall-time-placeholders.ts';
import type { Form } from '../../kernel/validation/form.ts';
import { isTrue } from '../../kernel/validation/schema-types.ts';
import { type CaseList, readInstant, readList } from '../list.ts';
import * as sql from './reads.sql.ts';
import type { InteractionQuery } from './schema.ts';

export { interactionIds } from './external-ids.sql.ts';
export { currentVersion } from './reads.sql.ts';

export function listInteractions(context: Context, caseId: string, query: Form<InteractionQuery>): Promise<CaseList> {
  return readList(context, caseId, sql.interactionLists, query, {
    element: { zone: zonePlaceholder(context.company.timeZone) },
    filters: {
      type: query.body.type,
      from: readInstant(context, query, 'from'),
      to: readInstant(context, query, 'to'),
      deleted: isTrue(query.body.deleted) || undefined,
    },
  });
}

export async function readInteraction({ db, company }: Context, caseId: string, id: string): Promise<ShownRecord> {
  const key = { company_id: company.id, case_id: caseId, id };
  const record = await db.queryRecord(sql.readInteraction({ ...key, zone: zonePlaceholder(company.timeZone) }));
  if (record === undefined) throw notFound('interaction');
  return record;
}

/** Returns undefined if there is no such interaction; a deleted one is found. */
export const findInteraction = (
  { db, company }: Context,
  caseId: string,
  id: string,
): Promise<{ deleted: boolean } | undefined> =>
  db.queryFirst(sql.findInteraction({ company_id: company.id, case_id: caseId, id }));

/** Throws if there is no such interaction, or if it is deleted. */
export async function requireInteraction(context: Context, caseId: string, id: string): Promise<void> {
  const found = await findInteraction(context, caseId, id);
  if (!found || found.deleted) throw notFound('interaction');
}
