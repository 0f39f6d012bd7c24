import type { Context } from '../../kernel/context.ts';
import { notFound, notPossible } from '../../kernel/errors.ts';
import type { Form } from '../../kernel/validation/form.ts';
import { newId } from '../../kernel/ids.ts';
import { originOf } from '../../kernel/audit/audit-log.ts';
import { isSet } from '../../kernel/validation/schema-types.ts';
import { parseTime, toSql } from '../../kernel/time/time.ts';
import { untilWritten } from '../../kernel/database/optimistic-retry.ts';
import { zoneMark } from '../../kernel/time/wall-time-placeholders.ts';
import { requireCase } from '../case.ts';
import { type Listed, readInstant, readList } from '../list.ts';
import type { InteractionBody, InteractionQuery } from './schema.ts';
import * as sql from './writes.sql.ts';

export function listInteractions(context: Context, caseId: string, query: Form<InteractionQuery>): Promise<Listed> {
  const { type, deleted } = query.body;
  const range = [readInstant(context, query, 'from'), readInstant(context, query, 'to')];
  const filters = [type, ...range, isSet(deleted) || undefined];
  return readList(context, caseId, sql.interactionLists, query, { own: [zoneMark(context.company.timeZone)], filters });
}

export async function createInteraction(
  context: Context,
  caseId: string,
  form: Form<InteractionBody>,
): Promise<string> {
  const { db, company, clock } = context;
  const { type, notes, sender, recipient } = form.body;
  const now = clock();
  const when = readWhen(context, form) ?? now;
  if (!form.ok) {
    await requireCase(context, caseId);
    form.check();
  }
  const record = await db.json(sql.insertInteraction, [
    company.id,
    caseId,
    newId(),
    type,
    notes ?? '',
    toSql(when),
    sender ?? null,
    recipient ?? '',
    toSql(now),
    originOf(context),
  ]);
  if (record === undefined) throw notFound('case');
  return record;
}

/** What is not sent stays; null gives back what a create without the field would have given. */
export async function updateInteraction(
  context: Context,
  caseId: string,
  id: string,
  form: Form<InteractionBody>,
): Promise<string> {
  const { db, company, clock } = context;
  const { type, notes, when, sender, recipient } = form.body;
  const now = toSql(clock());
  const moved = readWhen(context, form);
  return untilWritten(
    async () =>
      form.ok &&
      db.json(sql.updateInteraction, [
        company.id,
        caseId,
        id,
        type,
        notes === null ? '' : notes,
        when === null ? now : moved && toSql(moved),
        sender,
        recipient === null ? '' : recipient,
        now,
        originOf(context),
        sender !== undefined,
      ]),
    async () => {
      await requireInteraction(context, caseId, id);
      form.check();
    },
  );
}

/** Throws where there is none, or only a deleted one. */
async function requireInteraction({ db, company }: Context, caseId: string, id: string): Promise<void> {
  const found = await db.first<{ deleted: boolean }>(sql.findInteraction, [company.id, caseId, id]);
  if (!found || found.deleted) throw notFound('interaction');
}

export async function readInteraction({ db, company }: Context, caseId: string, id: string): Promise<string> {
  const record = await db.json(sql.readInteraction, [company.id, caseId, id, zoneMark(company.timeZone)]);
  if (record === undefined) throw notFound('interaction');
  return record;
}

export async function deleteInteraction(context: Context, caseId: string, id: string): Promise<string> {
  const { db, company, clock } = context;
  return untilWritten(
    () => db.json(sql.deleteInteraction, [company.id, caseId, id, toSql(clock()), originOf(context)]),
    () => requireInteraction(context, caseId, id),
  );
}

export async function restoreInteraction(context: Context, caseId: string, id: string): Promise<string> {
  const { db, company, clock } = context;
  const values = [company.id, caseId, id, zoneMark(company.timeZone), toSql(clock()), originOf(context)];
  return untilWritten(
    () => db.json(sql.restoreInteraction, values),
    async () => {
      const found = await db.first<{ deleted: boolean }>(sql.findInteraction, [company.id, caseId, id]);
      if (!found) throw notFound('interaction');
      if (!found.deleted) throw notPossible('deleted_at', 'the interaction is not deleted');
    },
  );
}

const readWhen = ({ company }: Context, form: Form<InteractionBody>) =>
  form.read('when', form.body.when, (text) => parseTime(text, company.timeZone));
