import { auditOrigin } from '../../../kernel/audit/audit-log.ts';
import type { Context } from '../../../kernel/context.ts';
import type { Executor } from '../../../kernel/database/database.ts';
import { retryOnConflict } from '../../../kernel/database/optimistic-retry.ts';
import { assertBelowLimit } from '../../../kernel/database/row-limit.ts';
import { InvalidValue, invalidState, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import { type DecimalInput, parseExact, toText } from '../../../kernel/money.ts';
import { parsePastTime, toSql } from '../../../kernel/time/time.ts';
import type { Form } from '../../../kernel/validation/form.ts';
import { judgeChange } from '../lifecycle.ts';
import type { PaymentBody } from './schema.ts';
import * as sql from './statements.sql.ts';

export async function listPayments({ db, company }: Context, caseId: string, invoiceId: string): Promise<string> {
  const list = await db.queryJson(sql.listPayments, [company.id, caseId, invoiceId]);
  if (list === undefined) throw notFound('invoice');
  return list;
}

export async function recordPayment(
  context: Context,
  caseId: string,
  invoiceId: string,
  form: Form<PaymentBody>,
): Promise<string> {
  const { db, company, clock } = context;
  const { body } = form;
  const now = clock();
  const amount = form.read('amount', body.amount, readAmount) ?? null;
  const paidAt = form.read('paid_at', body.paid_at, (text) => parsePastTime(text, company.timeZone, now)) ?? now;
  const key = [company.id, caseId, invoiceId];
  const columns = [toSql(paidAt), body.reference ?? null, toSql(now), auditOrigin(context)];
  const insert = (executor: Executor) => executor.queryJson(sql.insertPayment, [...key, newId(), amount, ...columns]);
  if (form.ok) await assertBelowLimit(db, sql.paymentLimit, key);
  // Many pay one invoice at once: who has come too late once waits in line. Four hundred took 12 s by trying again.
  const insertInLine = () =>
    db.transaction(async (transaction) => {
      await transaction.queryFirst(sql.holdInvoice, key);
      return insert(transaction);
    });
  let late = false;
  return retryOnConflict(
    async () => form.ok && (late ? insertInLine() : insert(db)),
    async () => {
      late = true;
      const { cancelled, beyond, outstanding } = await judgeChange(context, caseId, invoiceId, amount);
      if (cancelled) form.addFault('status', 'invalid_state', 'a cancelled invoice takes no payment');
      else if (beyond)
        form.addFault('amount', 'out_of_range', `must not be more than what is outstanding: ${outstanding}`);
      form.check();
    },
  );
}

export async function reversePayment(context: Context, caseId: string, invoiceId: string, id: string): Promise<string> {
  const { db, company, clock } = context;
  const key = [company.id, caseId, invoiceId, id];
  return retryOnConflict(
    () => db.queryJson(sql.reversePayment, [...key, toSql(clock()), auditOrigin(context)]),
    async () => {
      const found = await db.queryFirst<{ reversed: boolean }>(sql.findPayment, key);
      if (!found) throw notFound('payment');
      if (found.reversed) throw invalidState('reversed_at', 'the payment is already reversed');
    },
  );
}

function readAmount(value: DecimalInput): string {
  const amount = parseExact(value, 2);
  if (amount.units <= 0n) throw new InvalidValue('out_of_range', 'must be more than 0');
  return toText(amount);
}
