import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import type { Context } from '../../kernel/context.ts';
import type { ShownRecord } from '../../kernel/database/database.ts';
import { retryOnConflict } from '../../kernel/database/optimistic-retry.ts';
import { invalidState } from '../../kernel/errors.ts';
import { parsePastTime, toSql } from '../../kernel/time/time.ts';
import { zonePlaceholder } from '../../kernel/time/wall-time-placeholders.ts';
import type { Form } from '../../kernel/validation/form.ts';
import * as sql from './lifecycle.sql.ts';
import { requireInvoice, requireItem } from './reads.ts';
import type { SentBody } from './schema.ts';

/** Sending an invoice again moves the date. */
export async function sendInvoice(
  context: Context,
  caseId: string,
  id: string,
  form: Form<SentBody>,
): Promise<ShownRecord> {
  const { db, company, clock } = context;
  const now = clock();
  const sent = form.read('date_sent', form.body.date_sent, (text) => parsePastTime(text, company.timeZone, now)) ?? now;
  const send = () =>
    db.queryRecord(
      sql.sendInvoice({
        company_id: company.id,
        case_id: caseId,
        id,
        zone: zonePlaceholder(company.timeZone),
        now: toSql(now),
        origin: auditOrigin(context),
        date_sent: toSql(sent),
      }),
    );
  return retryOnConflict(
    async () => form.ok && send(),
    async () => {
      const { cancelled } = await requireInvoice(context, caseId, id);
      if (cancelled) form.addFault('status', 'invalid_state', 'a cancelled invoice cannot be sent: reinstate it first');
      form.check();
    },
  );
}

export async function cancelInvoice(context: Context, caseId: string, id: string): Promise<ShownRecord> {
  return retryOnConflict(
    () => context.db.queryRecord(sql.cancelInvoice(invoiceInputs(context, caseId, id))),
    async () => {
      const { cancelled, has_payments } = await requireInvoice(context, caseId, id);
      if (cancelled) throw invalidState('status', 'the invoice is already cancelled');
      if (has_payments) throw invalidState('status', 'the invoice has payments: reverse them first');
    },
  );
}

export async function reinstateInvoice(context: Context, caseId: string, id: string): Promise<ShownRecord> {
  return retryOnConflict(
    () => context.db.queryRecord(sql.reinstateInvoice(invoiceInputs(context, caseId, id))),
    async () => {
      const { cancelled } = await requireInvoice(context, caseId, id);
      if (!cancelled) throw invalidState('status', 'the invoice is not cancelled');
    },
  );
}

export async function cancelItem(
  context: Context,
  caseId: string,
  invoiceId: string,
  itemId: string,
): Promise<ShownRecord> {
  return retryOnConflict(
    () => context.db.queryRecord(sql.cancelItem(itemInputs(context, caseId, invoiceId, itemId))),
    async () => {
      const { cancelled, invoice_cancelled } = await requireItem(context, caseId, invoiceId, itemId);
      if (invoice_cancelled) throw invoiceIsCancelled();
      if (cancelled) throw invalidState('status', 'the item is already cancelled');
    },
  );
}

export async function reinstateItem(
  context: Context,
  caseId: string,
  invoiceId: string,
  itemId: string,
): Promise<ShownRecord> {
  return retryOnConflict(
    () => context.db.queryRecord(sql.reinstateItem(itemInputs(context, caseId, invoiceId, itemId))),
    async () => {
      const { cancelled, invoice_cancelled } = await requireItem(context, caseId, invoiceId, itemId);
      if (invoice_cancelled) throw invoiceIsCancelled();
      if (!cancelled) throw invalidState('status', 'the item is not cancelled');
    },
  );
}

const invoiceIsCancelled = () => invalidState('status', 'the invoice is cancelled: reinstate it first');

const invoiceInputs = (context: Context, caseId: string, id: string) => ({
  company_id: context.company.id,
  case_id: caseId,
  id,
  zone: zonePlaceholder(context.company.timeZone),
  now: toSql(context.clock()),
  origin: auditOrigin(context),
});

const itemInputs = (context: Context, caseId: string, invoiceId: string, itemId: string) => ({
  company_id: context.company.id,
  case_id: caseId,
  id: invoiceId,
  item_id: itemId,
  now: toSql(context.clock()),
  origin: auditOrigin(context),
});
