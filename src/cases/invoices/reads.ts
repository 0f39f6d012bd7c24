import type { Context } from '../../kernel/context.ts';
import type { ShownRecord } from '../../kernel/database/database.ts';
import { notFound } from '../../kernel/errors.ts';
import { zonePlaceholder } from '../../kernel/time/wall-time-placeholders.ts';
import type { Form } from '../../kernel/validation/form.ts';
import { isTrue } from '../../kernel/validation/schema-types.ts';
import { type CaseList, readInstant, readList } from '../list.ts';
import * as sql from './reads.sql.ts';
import type { InvoiceQuery, OneInvoiceQuery } from './schema.ts';

export { invoiceIds } from './external-ids.sql.ts';
export { currentVersion } from './reads.sql.ts';

export function listInvoices(context: Context, caseId: string, query: Form<InvoiceQuery>): Promise<CaseList> {
  return readList(context, caseId, sql.invoiceLists, query, {
    element: {
      zone: zonePlaceholder(context.company.timeZone),
      show_cancelled_items: isTrue(query.body.show_cancelled_items),
    },
    filters: {
      status: query.body.status,
      due_from: readInstant(context, query, 'due_from'),
      due_to: readInstant(context, query, 'due_to'),
    },
  });
}

export async function readInvoice(
  { db, company }: Context,
  caseId: string,
  id: string,
  query: Form<OneInvoiceQuery>,
): Promise<ShownRecord> {
  const record = await db.queryRecord(
    sql.readInvoice({
      company_id: company.id,
      case_id: caseId,
      id,
      zone: zonePlaceholder(company.timeZone),
      show_cancelled_items: isTrue(query.body.show_cancelled_items),
    }),
  );
  if (record === undefined) throw notFound('invoice');
  query.check();
  return record;
}

type InvoiceState = { cancelled: boolean; has_payments: boolean };

export async function requireInvoice({ db, company }: Context, caseId: string, id: string): Promise<InvoiceState> {
  const state = await db.queryFirst<InvoiceState>(sql.findInvoice({ company_id: company.id, case_id: caseId, id }));
  if (!state) throw notFound('invoice');
  return state;
}

type ItemState = { cancelled: boolean; invoice_cancelled: boolean };

export async function requireItem(
  { db, company }: Context,
  caseId: string,
  invoiceId: string,
  itemId: string,
): Promise<ItemState> {
  const key = { company_id: company.id, case_id: caseId, id: invoiceId };
  const state = await db.queryFirst<ItemState>(sql.findItem({ ...key, item_id: itemId }));
  if (!state) throw notFound('invoice item');
  return state;
}
