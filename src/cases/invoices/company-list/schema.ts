import type { Static } from 'typebox';
import { CURSOR_QUERY } from '../../../kernel/validation/paging.ts';
import { instant, queryFlag } from '../../../kernel/validation/schema-types.ts';
import { Type } from '../../../kernel/validation/type.ts';
import { COMPANY_FIELDS, externalIdFilter, sortBy } from '../../company-list.schema.ts';
import { Invoice, InvoiceQuery } from '../schema.ts';

const { show_cancelled_items, status, due_from, due_to } = InvoiceQuery.properties;

const filters = {
  status,
  open: queryFlag({ description: 'True: only invoices that can still be paid.' }),
  overdue: queryFlag({
    description:
      'True: only invoices that can still be paid and were due before today in the time zone of the company.',
  }),
  due_from,
  due_to,
};

const CompanyInvoicesFilters = {
  ...filters,
  external_id: externalIdFilter,
  show_cancelled_items,
  sort: sortBy(['date_due', 'date_created'], '-date_due'),
};

export const CompanyInvoicesQuery = Type.Object({ ...CompanyInvoicesFilters, ...CURSOR_QUERY });
export type CompanyInvoicesQuery = Static<typeof CompanyInvoicesQuery>;

export const CompanyInvoicesCsvQuery = Type.Object(CompanyInvoicesFilters);
export type CompanyInvoicesCsvQuery = Static<typeof CompanyInvoicesCsvQuery>;

export const CompanyInvoices = Type.Array(
  Type.Object(
    {
      ...Invoice.properties,
      date_created_utc: instant(),
      overdue: Type.Boolean({ description: 'Whether it can still be paid and was due before today.' }),
      ...COMPANY_FIELDS,
    },
    { title: 'CompanyInvoice', additionalProperties: false },
  ),
);

export const InvoiceSumsQuery = Type.Object(filters);
export type InvoiceSumsQuery = Static<typeof InvoiceSumsQuery>;

const sum = (description: string) =>
  Type.Object(
    {
      count: Type.Integer(),
      outstanding: Type.Number({ description: 'Exact, with two decimals.', examples: [1234.5] }),
    },
    { title: 'InvoiceSum', description, additionalProperties: false },
  );

export const InvoiceSums = Type.Object(
  {
    today: Type.String({ description: 'The day in the time zone of the company.', examples: ['2026-03-29'] }),
    time_zone: Type.String({ examples: ['Europe/London'] }),
    open: sum('Invoices that can still be paid.'),
    overdue: sum('Those of them that were due before today.'),
  },
  { title: 'InvoiceSums', additionalProperties: false },
);
