import { auditOrigin } from '../../../kernel/audit/audit-log.ts';
import type { Context } from '../../../kernel/context.ts';
import type { Executor, ShownRecord } from '../../../kernel/database/database.ts';
import { retryOnConflict } from '../../../kernel/database/optimistic-retry.ts';
import { assertBelowLimit } from '../../../kernel/database/row-limit.ts';
import { InvalidValue, invalidState, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import { type DecimalInput, parseExactDecimal, toText } from '../../../kernel/money.ts';
import { parsePastTime, toSql } from '../../../kernel/time/time.ts';
import type { Form } from '../../../kernel/validation/form.ts';
import type { PaymentBody } from './schema.ts';
import * as sql from './statements.sql.ts';

export async function listPayments({ db, company }: Context, caseId: string, invoiceId: string): Promise<string> {
  const list = await db.queryJson(sql.listPayments({ company_id: company.id, case_id: caseId, id: invoiceId }));
  if (list === undefined) throw notFound('invoice');
  return list;
}

export async function recordPayment(
  context: Context,
  caseId: string,
  invoiceId: string,
  form: Form<PaymentBody>,
): Promise<ShownRecord> {
  const { db, company, clock } = context;
  const { body } = form;
  const now = clock();
  const amount = form.read('amount', body.amount, readAmount);
  const paidAt = form.read('paid_at', body.paid_at, (text) => parsePastTime(text, company.timeZone, now)) ?? now;
  const key = { company_id: company.id, case_id: caseId, id: invoiceId };
  const insert = async (executor: Executor) =>
    form.ok &&
    amount !== undefined &&
    executor.queryRecord(
      sql.insertPayment({
        ...key,
        payment_id: newId(),
        amount,
        paid_at: toSql(paidAt),
        reference: body.reference,
        now: toSql(now),
        origin: auditOrigin(context),
      }),
    );
  const insertLocked = () =>
    db.transaction(async (transaction) => {
      await transaction.queryFirst(sql.lockInvoice(key));
      return insert(transaction);
    });
  const explainRejection = async () => {
    const reasons = await db.queryFirst<RejectionReasons>(sql.rejectionReasons({ ...key, amount }));
    if (!reasons) throw notFound('invoice');
    const { cancelled, exceeds_total, outstanding } = reasons;
    if (cancelled) form.addFault('status', 'invalid_state', 'a cancelled invoice cannot be paid: reinstate it first');
    else if (exceeds_total)
      form.addFault('amount', 'out_of_range', `must not be more than the outstanding amount: ${outstanding}`);
    form.check();
  };
  if (form.ok) await assertBelowLimit(db, sql.paymentLimit, key);
  const record = await insert(db);
  if (record) return record;
  await explainRejection();
  // Many payments of one invoice may arrive concurrently. Without the lock, 400 of them took 12 s of retries.
  return retryOnConflict(insertLocked, explainRejection);
}

type RejectionReasons = { cancelled: boolean; exceeds_total: boolean; outstanding: string };

export async function reversePayment(
  context: Context,
  caseId: string,
  invoiceId: string,
  paymentId: string,
): Promise<ShownRecord> {
  const { db, company, clock } = context;
  const key = { company_id: company.id, case_id: caseId, id: invoiceId, payment_id: paymentId };
  return retryOnConflict(
    () => db.queryRecord(sql.reversePayment({ ...key, now: toSql(clock()), origin: auditOrigin(context) })),
    async () => {
      const found = await db.queryFirst<{ reversed: boolean }>(sql.findPayment(key));
      if (!found) throw notFound('payment');
      if (found.reversed) throw invalidState('reversed_at', 'the payment is already reversed');
    },
  );
}

function readAmount(value: DecimalInput): string {
  const amount = parseExactDecimal(value, 2);
  if (amount.units <= 0n) throw new InvalidValue('out_of_range', 'must be more than 0');
  return toText(amount);
}
