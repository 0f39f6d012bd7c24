import type { Context } from '../../kernel/context.ts';
import { notFound, notPossible } from '../../kernel/errors.ts';
import { toSql } from '../../kernel/time.ts';
import { untilWritten } from '../../kernel/until-written.ts';
import * as sql from './entry-life.sql.ts';

export async function readEntry({ db, company }: Context, caseId: string, id: string): Promise<string> {
  const record = await db.json(sql.readEntry, [company.id, caseId, id]);
  if (record === undefined) throw notFound('address book entry');
  return record;
}

export async function deleteEntry({ db, company, clock }: Context, caseId: string, id: string): Promise<string> {
  const record = await db.json(sql.deleteEntry, [company.id, caseId, id, toSql(clock())]);
  if (record === undefined) throw notFound('address book entry');
  return record;
}

export async function restoreEntry(context: Context, caseId: string, id: string): Promise<string> {
  const { db, company, clock } = context;
  return untilWritten(
    () => db.json(sql.restoreEntry, [company.id, caseId, id, toSql(clock())]),
    async () => {
      const found = await findEntry(context, caseId, id);
      if (!found) throw notFound('address book entry');
      if (!found.deleted) throw notPossible('deleted_at', 'the address book entry is not deleted');
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
  const record =
    !tag.includes('\0') && (await db.json(sql.removeTag[column], [company.id, caseId, id, tag, toSql(clock())]));
  if (record) return record;
  const found = await findEntry(context, caseId, id);
  throw notFound(found && !found.deleted ? 'tag on this entry' : 'address book entry');
}

const findEntry = ({ db, company }: Context, caseId: string, id: string) =>
  db.first<{ deleted: boolean }>(sql.findEntry, [company.id, caseId, id]);
