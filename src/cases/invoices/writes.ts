import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import type { Context } from '../../kernel/context.ts';
import { retryOnConflict } from '../../kernel/database/optimistic-retry.ts';
import { violatedConstraint } from '../../kernel/database/postgres-errors.ts';
import { assertBelowLimit } from '../../kernel/database/row-limit.ts';
import { notFound } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { pgArrayLiteral } from '../../kernel/sql/statement.ts';
import { parseTime, toSql } from '../../kernel/time/time.ts';
import type { Form } from '../../kernel/validation/form.ts';
import type { InvoiceBody } from './schema.ts';
import { type InvoiceLine, readLines, readTotals } from './totals.ts';
import * as sql from './writes.sql.ts';

export async function createInvoice(context: Context, caseId: string, form: Form<InvoiceBody>): Promise<string> {
  const { db, company, clock } = context;
  const draft = readDraft(context, form);
  const insert = async (complete: Draft) =>
    db.queryJson(sql.insertInvoice, [
      company.id,
      caseId,
      newId(),
      ...complete.values,
      company.terms,
      form.body.payment_terms ?? company.paymentTerms,
      toSql(clock()),
      ...complete.items,
      auditOrigin(context),
    ]);
  return retryOnConflict(
    async () => draft && insert(draft),
    () => judge(context, caseId, null, form),
  );
}

/** Items are touched only when the request speaks of them; an update of the heading leaves them alone. */
export async function updateInvoice(
  context: Context,
  caseId: string,
  id: string,
  form: Form<InvoiceBody>,
): Promise<string> {
  const { db, company, clock } = context;
  const { items, keep_existing_items: keep, payment_terms: terms } = form.body;
  const draft = readDraft(context, form);
  const replace = keep === false || (items !== undefined && keep !== true);
  if (draft && !replace && items?.length) {
    await assertBelowLimit(db, sql.itemLimit, [company.id, caseId, id], items.length);
  }
  const added = (items?.length ?? 0) > 0;
  let paid = false;
  const update = async (complete: Draft) =>
    db
      .queryJson(
        sql.updateInvoice([replace && 'removed', added && (replace ? 'placed' : 'appended'), paid && 'paid']),
        [
          company.id,
          caseId,
          id,
          ...complete.values,
          terms === null ? company.paymentTerms : terms,
          toSql(clock()),
          auditOrigin(context),
          ...(added ? complete.items : []),
        ],
      )
      .catch((error: unknown) => {
        if (violatedConstraint(error) !== 'invoices_number') throw error;
        return undefined;
      });
  return retryOnConflict(
    async () => {
      if (!draft) return false;
      const record = paid ? undefined : await update(draft);
      // What is right for a paid one is right for all.
      paid = true;
      return record ?? update(draft);
    },
    () => judge(context, caseId, id, form),
  );
}

/** The figures and dates, and the items, in the order of the statements. */
type Draft = { values: unknown[]; items: unknown[] };

/** Undefined where the form has faults. */
function readDraft({ company }: Context, form: Form<InvoiceBody>): Draft | undefined {
  const { body } = form;
  const created = form.read('date_created', body.date_created, (text) => parseTime(text, company.timeZone));
  const due = form.read('date_due', body.date_due, (text) => parseTime(text, company.timeZone));
  const totals = readTotals(form);
  const lines = readLines(form);
  if (!form.ok || !created || !due || !totals) return undefined;
  const { vat, subTotal, vatAmount, total } = totals;
  const values = [body.invoice_number, body.sender_id, toSql(created), toSql(due), vat, subTotal, vatAmount, total];
  return { values, items: columns(lines) };
}

const columns = (lines: InvoiceLine[]): unknown[] => [
  pgArrayLiteral(lines.map(() => newId())),
  lines.map((line) => line.description),
  pgArrayLiteral(lines.map((line) => line.quantity)),
  pgArrayLiteral(lines.map((line) => line.rate)),
  pgArrayLiteral(lines.map((line) => line.amount)),
  pgArrayLiteral(lines.map((line) => line.subtotal)),
  pgArrayLiteral(lines.map((line) => line.vatAmount)),
];

/** Nothing was written: throws the reason, or returns where another change came between and it can be tried again. */
async function judge(context: Context, caseId: string, id: string | null, form: Form<InvoiceBody>): Promise<void> {
  const { db, company } = context;
  const number = form.hasFault('invoice_number') ? null : form.body.invoice_number;
  const judged = await db.queryFirst<{ found: boolean; taken: boolean }>(sql.judgeInvoice, [
    company.id,
    caseId,
    id,
    number,
  ]);
  if (!judged?.found) throw notFound(id === null ? 'case' : 'invoice');
  if (judged.taken) form.addFault('invoice_number', 'taken', 'is already used by another invoice of the case');
  form.check();
}
