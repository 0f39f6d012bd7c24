import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import type { Context } from '../../kernel/context.ts';
import { retryOnConflict } from '../../kernel/database/optimistic-retry.ts';
import { invalidState, notFound } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { parseTime, toSql } from '../../kernel/time/time.ts';
import { zonePlaceholder } from '../../kernel/time/wall-time-placeholders.ts';
import type { Form } from '../../kernel/validation/form.ts';
import { isTrue } from '../../kernel/validation/schema-types.ts';
import { requireCase } from '../case.ts';
import { type Listed, readInstant, readList } from '../list.ts';
import type { InteractionBody, InteractionQuery } from './schema.ts';
import * as sql from './writes.sql.ts';

export function listInteractions(context: Context, caseId: string, query: Form<InteractionQuery>): Promise<Listed> {
  const { type, deleted } = query.body;
  const range = [readInstant(context, query, 'from'), readInstant(context, query, 'to')];
  const filters = [type, ...range, isTrue(deleted) || undefined];
  return readList(context, caseId, sql.interactionLists, query, {
    own: [zonePlaceholder(context.company.timeZone)],
    filters,
  });
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
  const record = await db.queryJson(sql.insertInteraction, [
    company.id,
    caseId,
    newId(),
    type,
    notes ?? '',
    toSql(when),
    sender ?? null,
    recipient ?? '',
    toSql(now),
    auditOrigin(context),
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
  return retryOnConflict(
    async () =>
      form.ok &&
      db.queryJson(sql.updateInteraction, [
        company.id,
        caseId,
        id,
        type,
        notes === null ? '' : notes,
        when === null ? now : moved && toSql(moved),
        sender,
        recipient === null ? '' : recipient,
        now,
        auditOrigin(context),
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
  const found = await db.queryFirst<{ deleted: boolean }>(sql.findInteraction, [company.id, caseId, id]);
  if (!found || found.deleted) throw notFound('interaction');
}

export async function readInteraction({ db, company }: Context, caseId: string, id: string): Promise<string> {
  const record = await db.queryJson(sql.readInteraction, [company.id, caseId, id, zonePlaceholder(company.timeZone)]);
  if (record === undefined) throw notFound('interaction');
  return record;
}

export async function deleteInteraction(context: Context, caseId: string, id: string): Promise<string> {
  const { db, company, clock } = context;
  return retryOnConflict(
    () => db.queryJson(sql.deleteInteraction, [company.id, caseId, id, toSql(clock()), auditOrigin(context)]),
    () => requireInteraction(context, caseId, id),
  );
}

export async function restoreInteraction(context: Context, caseId: string, id: string): Promise<string> {
  const { db, company, clock } = context;
  const values = [company.id, caseId, id, zonePlaceholder(company.timeZone), toSql(clock()), auditOrigin(context)];
  return retryOnConflict(
    () => db.queryJson(sql.restoreInteraction, values),
    async () => {
      const found = await db.queryFirst<{ deleted: boolean }>(sql.findInteraction, [company.id, caseId, id]);
      if (!found) throw notFound('interaction');
      if (!found.deleted) throw invalidState('deleted_at', 'the interaction is not deleted');
    },
  );
}

const readWhen = ({ company }: Context, form: Form<InteractionBody>) =>
  form.read('when', form.body.when, (text) => parseTime(text, company.timeZone));
