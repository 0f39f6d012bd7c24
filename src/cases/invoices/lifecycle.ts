import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import type { Context } from '../../kernel/context.ts';
import { retryOnConflict } from '../../kernel/database/optimistic-retry.ts';
import { invalidState, notFound } from '../../kernel/errors.ts';
import type { Statement } from '../../kernel/sql/statement.ts';
import { parsePastTime, toSql } from '../../kernel/time/time.ts';
import { zonePlaceholder } from '../../kernel/time/wall-time-placeholders.ts';
import type { Form } from '../../kernel/validation/form.ts';
import { isTrue } from '../../kernel/validation/schema-types.ts';
import * as sql from './lifecycle.sql.ts';
import type { OneInvoiceQuery, SentBody } from './schema.ts';

export async function readInvoice(
  context: Context,
  caseId: string,
  id: string,
  query: Form<OneInvoiceQuery>,
): Promise<string> {
  const { db, company } = context;
  const record = await db.queryJson(sql.readInvoice, [
    company.id,
    caseId,
    id,
    zonePlaceholder(company.timeZone),
    isTrue(query.body.show_cancelled_items),
  ]);
  if (record === undefined) throw notFound('invoice');
  query.check();
  return record;
}

/** Sending again moves the date. */
export async function sendInvoice(context: Context, caseId: string, id: string, form: Form<SentBody>): Promise<string> {
  const { db, company, clock } = context;
  const now = clock();
  const sent = form.read('date_sent', form.body.date_sent, (text) => parsePastTime(text, company.timeZone, now)) ?? now;
  const values = [
    company.id,
    caseId,
    id,
    zonePlaceholder(company.timeZone),
    toSql(now),
    auditOrigin(context),
    toSql(sent),
  ];
  return retryOnConflict(
    async () => form.ok && db.queryJson(sql.sendInvoice, values),
    async () => {
      const { cancelled } = await judgeChange(context, caseId, id, null);
      if (cancelled) form.addFault('status', 'invalid_state', 'a cancelled invoice cannot be sent');
      form.check();
    },
  );
}

export const cancelInvoice = (context: Context, caseId: string, id: string): Promise<string> =>
  change(context, caseId, id, sql.cancelInvoice, ({ cancelled, has_payments }) => {
    if (cancelled) return 'the invoice is already cancelled';
    return has_payments ? 'the invoice has payments that are not reversed' : undefined;
  });

export const reinstateInvoice = (context: Context, caseId: string, id: string): Promise<string> =>
  change(context, caseId, id, sql.reinstateInvoice, ({ cancelled }) =>
    cancelled ? undefined : 'the invoice is not cancelled',
  );

type Standing = { cancelled: boolean; has_payments: boolean; outstanding: string; beyond: boolean };

function change(
  context: Context,
  caseId: string,
  id: string,
  statement: Statement,
  refusal: (standing: Standing) => string | undefined,
): Promise<string> {
  const { db, company, clock } = context;
  return retryOnConflict(
    () =>
      db.queryJson(statement, [
        company.id,
        caseId,
        id,
        zonePlaceholder(company.timeZone),
        toSql(clock()),
        auditOrigin(context),
      ]),
    async () => {
      const reason = refusal(await judgeChange(context, caseId, id, null));
      if (reason) throw invalidState('status', reason);
    },
  );
}

/** Where an invoice stands, and whether a payment of `amount` goes beyond what is outstanding. */
export async function judgeChange(
  { db, company }: Context,
  caseId: string,
  id: string,
  amount: string | null,
): Promise<Standing> {
  const standing = await db.queryFirst<Standing>(sql.judgeChange, [company.id, caseId, id, amount]);
  if (!standing) throw notFound('invoice');
  return standing;
}

export const cancelItem = (context: Context, caseId: string, invoiceId: string, id: string): Promise<string> =>
  changeItem(context, caseId, invoiceId, id, sql.cancelItem, (cancelled) =>
    cancelled ? 'the item is already cancelled' : undefined,
  );

export const reinstateItem = (context: Context, caseId: string, invoiceId: string, id: string): Promise<string> =>
  changeItem(context, caseId, invoiceId, id, sql.reinstateItem, (cancelled) =>
    cancelled ? undefined : 'the item is not cancelled',
  );

function changeItem(
  context: Context,
  caseId: string,
  invoiceId: string,
  id: string,
  statement: Statement,
  refusal: (cancelled: boolean) => string | undefined,
): Promise<string> {
  const { db, company, clock } = context;
  return retryOnConflict(
    () => db.queryJson(statement, [company.id, caseId, invoiceId, id, toSql(clock()), auditOrigin(context)]),
    async () => {
      type Found = { cancelled: boolean; invoice_cancelled: boolean };
      const found = await db.queryFirst<Found>(sql.findItem, [company.id, caseId, invoiceId, id]);
      if (!found) throw notFound('invoice item');
      const reason = found.invoice_cancelled ? 'the invoice is cancelled' : refusal(found.cancelled);
      if (reason) throw invalidState('status', reason);
    },
  );
}
