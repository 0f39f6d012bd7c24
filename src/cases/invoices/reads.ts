import type { Context } from '../../kernel/context.ts';
import { zonePlaceholder } from '../../kernel/time/wall-time-placeholders.ts';
import type { Form } from '../../kernel/validation/form.ts';
import { isTrue } from '../../kernel/validation/schema-types.ts';
import { type CaseList, readInstant, readList } from '../list.ts';
import { invoiceLists } from './reads.sql.ts';
import type { InvoiceQuery } from './schema.ts';

export function listInvoices(context: Context, caseId: string, query: Form<InvoiceQuery>): Promise<CaseList> {
  return readList(context, caseId, invoiceLists, query, {
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
