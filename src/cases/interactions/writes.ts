import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import type { Context } from '../../kernel/context.ts';
import type { ShownRecord } from '../../kernel/database/database.ts';
import { retryOnConflict } from '../../kernel/database/optimistic-retry.ts';
import { notFound } from '../../kernel/errors.ts';
import { ExternalIdTakenError, externalIdPart } from '../../kernel/external-ids/verbs.ts';
import { newId } from '../../kernel/ids.ts';
import { parseTime, toSql } from '../../kernel/time/time.ts';
import type { Form } from '../../kernel/validation/form.ts';
import { requireCase } from '../case.ts';
import { requireInteraction } from './reads.ts';
import type { InteractionBody } from './schema.ts';
import * as sql from './writes.sql.ts';

export async function createInteraction(
  context: Context,
  caseId: string,
  form: Form<InteractionBody>,
  externalId?: string,
): Promise<ShownRecord> {
  const { db, company, clock } = context;
  const { type, notes, sender, recipient } = form.body;
  const now = clock();
  const when = readWhen(context, form) ?? now;
  if (!form.ok) {
    await requireCase(context, caseId);
    form.check();
  }
  const record = await db.queryRecord(
    sql.insertInteraction(
      {
        company_id: company.id,
        case_id: caseId,
        id: newId(),
        type,
        notes: notes ?? '',
        happened_at: toSql(when),
        sender,
        recipient: recipient ?? '',
        now: toSql(now),
        origin: auditOrigin(context),
      },
      externalIdPart(externalId),
    ),
  );
  if (record) return record;
  if (externalId === undefined) throw notFound('case');
  await requireCase(context, caseId);
  throw new ExternalIdTakenError();
}

/** An absent field stays as it is; null sets what a create without the field would have set. */
export async function updateInteraction(
  context: Context,
  caseId: string,
  id: string,
  form: Form<InteractionBody>,
): Promise<ShownRecord> {
  const { db, company, clock } = context;
  const { type, notes, when, sender, recipient } = form.body;
  const now = toSql(clock());
  const newWhen = readWhen(context, form);
  const update = () =>
    db.queryRecord(
      sql.updateInteraction({
        company_id: company.id,
        case_id: caseId,
        id,
        type,
        notes: notes === null ? '' : notes,
        happened_at: when === null ? now : newWhen && toSql(newWhen),
        sender,
        set_sender: sender !== undefined,
        recipient: recipient === null ? '' : recipient,
        now,
        origin: auditOrigin(context),
      }),
    );
  return retryOnConflict(
    async () => form.ok && update(),
    async () => {
      await requireInteraction(context, caseId, id);
      form.check();
    },
  );
}

const readWhen = ({ company }: Context, form: Form<InteractionBody>) =>
  form.read('when', form.body.when, (text) => parseTime(text, company.timeZone));
