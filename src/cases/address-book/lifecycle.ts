import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import type { Context } from '../../kernel/context.ts';
import { retryOnConflict } from '../../kernel/database/optimistic-retry.ts';
import { invalidState, notFound } from '../../kernel/errors.ts';
import { toSql } from '../../kernel/time/time.ts';
import * as sql from './lifecycle.sql.ts';

export async function readEntry({ db, company }: Context, caseId: string, id: string): Promise<string> {
  const record = await db.queryJson(sql.readEntry, [company.id, caseId, id]);
  if (record === undefined) throw notFound('address book entry');
  return record;
}

export async function deleteEntry(context: Context, caseId: string, id: string): Promise<string> {
  const { db, company, clock } = context;
  return retryOnConflict(
    () => db.queryJson(sql.deleteEntry, [company.id, caseId, id, toSql(clock()), auditOrigin(context)]),
    async () => {
      const found = await findEntry(context, caseId, id, null);
      if (!found || found.deleted) throw notFound('address book entry');
    },
  );
}

export async function restoreEntry(context: Context, caseId: string, id: string): Promise<string> {
  const { db, company, clock } = context;
  return retryOnConflict(
    () => db.queryJson(sql.restoreEntry, [company.id, caseId, id, toSql(clock()), auditOrigin(context)]),
    async () => {
      const found = await findEntry(context, caseId, id, null);
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
): Promise<string> {
  const { db, company, clock } = context;
  // PostgreSQL takes no text with NUL in it, so no entry has such a tag.
  const possible = tag.includes('\0') ? null : tag;
  return retryOnConflict(
    () => db.queryJson(sql.removeTag[column], [company.id, caseId, id, possible, toSql(clock()), auditOrigin(context)]),
    async () => {
      const found = await findEntry(context, caseId, id, possible);
      if (!found || found.deleted) throw notFound('address book entry');
      if (!found[column]) throw notFound('tag on this entry');
    },
  );
}

type FoundRow = { deleted: boolean; tags: boolean; custom_tags: boolean };

const findEntry = ({ db, company }: Context, caseId: string, id: string, tag: string | null) =>
  db.queryFirst<FoundRow>(sql.findEntry, [company.id, caseId, id, tag]);
