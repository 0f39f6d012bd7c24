import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import type { Context } from '../../kernel/context.ts';
import type { ShownRecord } from '../../kernel/database/database.ts';
import { retryOnConflict } from '../../kernel/database/optimistic-retry.ts';
import { violatedConstraint } from '../../kernel/database/postgres-errors.ts';
import { assertBelowLimit } from '../../kernel/database/row-limit.ts';
import { notFound } from '../../kernel/errors.ts';
import { externalIdPart, requireFreeExternalId } from '../../kernel/external-ids/verbs.ts';
import { newId } from '../../kernel/ids.ts';
import { pgArrayLiteral } from '../../kernel/sql/inputs.ts';
import { parseTime, toSql } from '../../kernel/time/time.ts';
import type { Form } from '../../kernel/validation/form.ts';
import { invoiceIds } from './external-ids.sql.ts';
import type { InvoiceBody } from './schema.ts';
import { type InvoiceLine, type InvoiceTotals, readLines, readTotals } from './totals.ts';
import * as sql from './writes.sql.ts';

export async function createInvoice(
  context: Context,
  caseId: string,
  form: Form<InvoiceBody>,
  externalId?: string,
): Promise<ShownRecord> {
  const { db, company, clock } = context;
  const draft = readDraft(context, form);
  const insert = ({ columns, items }: Draft) =>
    db.queryRecord(
      sql.insertInvoice(
        {
          company_id: company.id,
          case_id: caseId,
          id: newId(),
          ...columns,
          terms: company.terms,
          payment_terms: form.body.payment_terms ?? company.paymentTerms,
          now: toSql(clock()),
          origin: auditOrigin(context),
          ...items,
        },
        externalIdPart(externalId),
      ),
    );
  return retryOnConflict(
    async () => draft && insert(draft),
    async () => {
      await requireFreeExternalId(context, invoiceIds, form, externalId);
      await explainRejection(context, caseId, null, form);
    },
  );
}

/** The items change only if the request has `items` or `keep_existing_items: false`. */
export async function updateInvoice(
  context: Context,
  caseId: string,
  id: string,
  form: Form<InvoiceBody>,
): Promise<ShownRecord> {
  const { db, company, clock } = context;
  const { items, keep_existing_items: keep, payment_terms: terms } = form.body;
  const draft = readDraft(context, form);
  const key = { company_id: company.id, case_id: caseId, id };
  const replace = keep === false || (items !== undefined && keep !== true);
  if (draft && !replace && items?.length) await assertBelowLimit(db, sql.itemLimit, key, items.length);
  const update = async ({ allowPaid }: { allowPaid: boolean }) =>
    draft &&
    db
      .queryRecord(
        sql.updateInvoice(
          {
            ...key,
            ...draft.columns,
            payment_terms: terms === null ? company.paymentTerms : terms,
            now: toSql(clock()),
            origin: auditOrigin(context),
          },
          { remove_items: replace, add_items: Boolean(items?.length) && draft.items, allow_paid: allowPaid },
        ),
      )
      .catch((error: unknown) => {
        if (violatedConstraint(error) !== 'invoices_number') throw error;
        return undefined;
      });
  // The fast statement skips invoices that are paid. If it wrote nothing, the complete one is used from then on.
  const record = await update({ allowPaid: false });
  if (record) return record;
  return retryOnConflict(
    () => update({ allowPaid: true }),
    () => explainRejection(context, caseId, id, form),
  );
}

/** The columns and the items of an invoice as inputs of its statements. */
type Draft = { columns: ReturnType<typeof columnInputs>; items: ReturnType<typeof itemInputs> };

/** Returns undefined if the form has faults. */
function readDraft({ company }: Context, form: Form<InvoiceBody>): Draft | undefined {
  const { body } = form;
  const created = form.read('date_created', body.date_created, (text) => parseTime(text, company.timeZone));
  const due = form.read('date_due', body.date_due, (text) => parseTime(text, company.timeZone));
  const totals = readTotals(form);
  const lines = readLines(form);
  if (!form.ok || !created || !due || !totals) return undefined;
  return { columns: columnInputs(body, toSql(created), toSql(due), totals), items: itemInputs(lines) };
}

const columnInputs = (body: InvoiceBody, created: string, due: string, totals: InvoiceTotals) => ({
  invoice_number: body.invoice_number,
  sender_id: body.sender_id,
  date_created: created,
  date_due: due,
  vat: totals.vat,
  sub_total: totals.subTotal,
  vat_amount: totals.vatAmount,
  total: totals.total,
});

const itemInputs = (lines: InvoiceLine[]) => ({
  item_ids: pgArrayLiteral(lines.map(() => newId())),
  descriptions: lines.map((line) => line.description),
  quantities: pgArrayLiteral(lines.map((line) => line.quantity)),
  rates: pgArrayLiteral(lines.map((line) => line.rate)),
  amounts: pgArrayLiteral(lines.map((line) => line.amount)),
  subtotals: pgArrayLiteral(lines.map((line) => line.subtotal)),
  vat_amounts: pgArrayLiteral(lines.map((line) => line.vatAmount)),
});

/** Throws the reason why nothing was written. Returns if there is none: a concurrent update won. */
async function explainRejection(
  { db, company }: Context,
  caseId: string,
  id: string | null,
  form: Form<InvoiceBody>,
): Promise<void> {
  const number = form.hasFault('invoice_number') ? null : form.body.invoice_number;
  const reasons = await db.queryFirst<{ found: boolean; number_taken: boolean }>(
    sql.rejectionReasons({ company_id: company.id, case_id: caseId, id, invoice_number: number }),
  );
  if (!reasons?.found) throw notFound(id === null ? 'case' : 'invoice');
  if (reasons.number_taken) form.addFault('invoice_number', 'taken', 'is already used by another invoice of the case');
  form.check();
}
