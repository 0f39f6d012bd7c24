import type { Static } from 'typebox';
import { externalId } from '../../kernel/external-ids/schema.ts';
import { PAGE_QUERY } from '../../kernel/validation/paging.ts';
import {
  booleanFlag,
  decimal,
  instant,
  nullable,
  optional,
  queryFlag,
  text,
  time,
  uuid,
  wallTime,
} from '../../kernel/validation/schema-types.ts';
import { Type } from '../../kernel/validation/type.ts';

const MAX_ITEMS = 1_000;

const Item = Type.Object(
  {
    description: text({ maxLength: 200, examples: ['Mirror wills'] }),
    quantity: decimal({ description: 'A whole number.', examples: ['2'] }),
    rate: decimal({ description: 'Stored with four decimals.', examples: ['60.00'] }),
    amount: decimal({ description: 'Line total including any applicable tax.', examples: ['144.00'] }),
  },
  { title: 'InvoiceItemBody' },
);

const fields = {
  invoice_number: text({
    minLength: 1,
    maxLength: 50,
    description: 'Unique within the case.',
    examples: ['INV-0001'],
  }),
  sender_id: uuid({ description: 'Identifier of the sender.' }),
  date_created: time({}),
  date_due: time({}),
  vat: decimal({ description: 'VAT percentage of the invoice.', examples: [20] }),
  total: decimal({ description: 'Total including VAT.', examples: [144] }),
  sub_total: decimal({ description: 'Total excluding VAT.', examples: [120] }),
  vat_amount: optional(decimal({ description: 'Default: total minus sub_total.', examples: [24] })),
  payment_terms: optional(text({ description: 'Default: the payment terms of the company.', examples: ['30 days'] })),
  items: optional(Type.Array(Item, { maxItems: MAX_ITEMS, description: `At most ${MAX_ITEMS} per request.` })),
};

const EXAMPLE = {
  invoice_number: 'INV-0001',
  sender_id: '6f1ed002-ab5d-4c5e-9d4e-1c2f3a4b5c6d',
  date_created: '2026-03-01 09:00:00',
  date_due: '2026-03-31 09:00:00',
  vat: 20,
  total: 144,
  sub_total: 120,
  items: [{ description: 'Mirror wills', quantity: '2', rate: '60.00', amount: '144.00' }],
};

export const CreateInvoiceBody = Type.Object(fields, { title: 'CreateInvoiceBody', examples: [EXAMPLE] });

export const UpdateInvoiceBody = Type.Object(
  {
    ...fields,
    keep_existing_items: optional(
      booleanFlag({
        description:
          'True: the items are added to the existing ones. False: they replace the existing ones; without items, all ' +
          'are removed.',
      }),
    ),
  },
  { title: 'UpdateInvoiceBody', examples: [{ ...EXAMPLE, payment_terms: '30 days' }] },
);
export type InvoiceBody = Static<typeof UpdateInvoiceBody>;

const showCancelledItems = queryFlag({ description: 'Also lists cancelled items.' });

export const INVOICE_STATUSES = ['Not Paid', 'Part Paid', 'Paid', 'Cancelled'] as const;

export const InvoiceQuery = Type.Object({
  show_cancelled_items: showCancelledItems,
  status: Type.Optional(
    Type.Unsafe<string>({
      title: 'InvoiceStatus',
      type: 'string',
      enum: [...INVOICE_STATUSES],
      description: 'Only invoices with this status.',
    }),
  ),
  due_from: Type.Optional(time({ description: 'Due at this time or later.' })),
  due_to: Type.Optional(time({ description: 'Due before this time.' })),
  ...PAGE_QUERY,
});
export type InvoiceQuery = Static<typeof InvoiceQuery>;

/** The query of a read of one invoice. */
export const OneInvoiceQuery = Type.Object({ show_cancelled_items: showCancelledItems });
export type OneInvoiceQuery = Static<typeof OneInvoiceQuery>;

export const SentBody = Type.Object(
  {
    date_sent: optional(time({ description: 'Must not be in the future. Default: now.' })),
  },
  { title: 'MarkInvoiceSentBody' },
);
export type SentBody = Static<typeof SentBody>;

const common = {
  id: uuid(),
  ref: nullable(Type.String()),
  notes: nullable(Type.String()),
  date_due: instant(),
  date_sent: nullable(instant()),
  date_paid: nullable(instant()),
  payment_terms: Type.String(),
  subtotal: Type.Number({ description: 'The sub_total that was sent.', examples: [120] }),
  total: Type.Number({ examples: [144] }),
  invoice_number: Type.String({ examples: ['INV-0001'] }),
  vat_amount: Type.Number({ examples: [24] }),
  customer_case_id: uuid(),
};

export const InvoiceRecord = Type.Object(
  {
    ...common,
    terms: nullable(Type.String()),
    date_created: instant(),
    recipients_name: nullable(Type.String({ examples: ['Mr John Smith and Mrs Ann Smith'] })),
  },
  { title: 'InvoiceRecord', additionalProperties: false },
);

export const InvoiceItem = Type.Object(
  {
    id: uuid(),
    description: Type.String(),
    amount: Type.Number(),
    quantity: Type.Number(),
    rate: Type.Number(),
    subtotal: Type.Number({ description: 'quantity × rate' }),
    vat_amount: Type.Number({ description: 'amount minus subtotal' }),
    status: Type.Unsafe<string | null>({ type: ['string', 'null'], enum: ['paid', 'cancelled', null] }),
    paid_at: nullable(instant()),
    case_invoice_id: uuid(),
    customer_case_id: uuid(),
    has_vat: Type.Boolean(),
  },
  { title: 'InvoiceItem', additionalProperties: false },
);

const element = {
  ...common,
  terms: Type.String(),
  date_created: wallTime({ description: 'Wall time of the company.' }),
  recipients_name: Type.String(),
  status: Type.Unsafe<string>({
    title: 'InvoiceStatus',
    type: 'string',
    enum: [...INVOICE_STATUSES],
  }),
  mail_sent: Type.Boolean(),
  payable_online: Type.Boolean(),
  formatted_recurring_interval: nullable(Type.String()),
  items: Type.Array(InvoiceItem),
};

export const InvoiceList = Type.Array(Type.Object(element, { title: 'ListedInvoice', additionalProperties: false }));

/** The response of the additional operations. */
export const Invoice = Type.Object(
  {
    ...element,
    sender_id: uuid({ description: 'Identifier of the sender.' }),
    vat: Type.Number({ description: 'VAT percentage of the invoice.', examples: [20] }),
    external_id: externalId,
    paid: Type.Number({ description: 'The sum of the payments that are not reversed.', examples: [72] }),
    outstanding: Type.Number({
      description: 'The amount that can still be paid; 0 if the invoice is cancelled.',
      examples: [72],
    }),
  },
  { title: 'Invoice', additionalProperties: false },
);
