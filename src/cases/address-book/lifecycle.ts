import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import type { Context } from '../../kernel/context.ts';
import type { ShownRecord } from '../../kernel/database/database.ts';
import { retryOnConflict } from '../../kernel/database/optimistic-retry.ts';
import { invalidState, notFound } from '../../kernel/errors.ts';
import { refuseTakenExternalId } from '../../kernel/external-ids/verbs.ts';
import { toSql } from '../../kernel/time/time.ts';
import { entryIds } from './external-ids.sql.ts';
import * as sql from './lifecycle.sql.ts';
import { findEntry } from './reads.ts';

export async function deleteEntry(context: Context, caseId: string, id: string): Promise<ShownRecord> {
  const { db } = context;
  return retryOnConflict(
    () => db.queryRecord(sql.deleteEntry(changeInputs(context, caseId, id))),
    async () => {
      const found = await findEntry(context, caseId, id);
      if (!found || found.deleted) throw notFound('address book entry');
    },
  );
}

export async function restoreEntry(context: Context, caseId: string, id: string): Promise<ShownRecord> {
  const { db } = context;
  return retryOnConflict(
    () => db.queryRecord(sql.restoreEntry(changeInputs(context, caseId, id))).catch(refuseTakenExternalId(entryIds)),
    async () => {
      const found = await findEntry(context, caseId, id);
      if (!found) throw notFound('address book entry');
      if (!found.deleted) throw invalidState('deleted_at', 'the address book entry is not deleted');
    },
  );
}

export async function removeTag(
  context: Context,
  caseId: string,
  id: string,
  column: 'tags' | 'custom_tags',
  tag: string,
): Promise<ShownRecord> {
  const { db } = context;
  // PostgreSQL accepts no NUL in a text, so no entry has such a tag.
  const storableTag = tag.includes('\0') ? null : tag;
  return retryOnConflict(
    () => db.queryRecord(sql.removeTag[column]({ ...changeInputs(context, caseId, id), tag: storableTag })),
    async () => {
      const found = await findEntry(context, caseId, id, storableTag);
      if (!found || found.deleted) throw notFound('address book entry');
      if (!found[column]) throw notFound('tag on this entry');
    },
  );
}

const changeInputs = (context: Context, caseId: string, id: string) => ({
  company_id: context.company.id,
  case_id: caseId,
  id,
  now: toSql(context.clock()),
  origin: auditOrigin(context),
});
