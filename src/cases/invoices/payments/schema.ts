import type { Static } from 'typebox';
import { decimal, instant, nullable, optional, text, time, uuid } from '../../../kernel/validation/schema-types.ts';
import { Type } from '../../../kernel/validation/type.ts';

export const PaymentBody = Type.Object(
  {
    amount: decimal({
      description: 'More than 0, with at most two decimals, and not more than the outstanding amount.',
      examples: ['72.00'],
    }),
    paid_at: optional(time({ description: 'Must not be in the future. Default: now.' })),
    reference: optional(text({ maxLength: 255, examples: ['Bank transfer 4711'] })),
  },
  { title: 'PaymentBody' },
);
export type PaymentBody = Static<typeof PaymentBody>;

export const Payment = Type.Object(
  {
    id: uuid(),
    case_invoice_id: uuid(),
    customer_case_id: uuid(),
    amount: Type.Number({ examples: [72] }),
    paid_at: instant(),
    reference: nullable(Type.String()),
    created_at: instant(),
    reversed_at: nullable(instant()),
  },
  { title: 'Payment', additionalProperties: false },
);

export const PaymentList = Type.Array(Payment);
