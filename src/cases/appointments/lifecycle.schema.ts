import type { Static } from 'typebox';
import { PAGE_QUERY } from '../../kernel/validation/paging.ts';
import { booleanFlag, optional, text, time } from '../../kernel/validation/schema-types.ts';
import { Type } from '../../kernel/validation/type.ts';

const filters = {
  from: Type.Optional(time({ description: 'Starts at this time or later.' })),
  to: Type.Optional(time({ description: 'Starts before this time.' })),
  deleted: Type.Optional(
    Type.Unsafe<'true' | 'false' | '1' | '0' | 'all'>({
      type: 'string',
      enum: ['true', 'false', '1', '0', 'all'],
      default: 'false',
      description: '`false`: only appointments that are not deleted; `true`: only deleted ones; `all`: both.',
    }),
  ),
};
const adviserEmail = text({
  minLength: 1,
  maxLength: 254,
  description: 'The current address of an adviser of the company.',
  examples: ['paul.phone@demo.example'],
});

export const AppointmentsQuery = Type.Object({ ...filters, adviser_email: Type.Optional(adviserEmail) });
export type AppointmentsQuery = Static<typeof AppointmentsQuery>;

/** The query of the list of an adviser whose pages have numbers. */
export const DiaryQuery = Type.Object({ adviser_email: adviserEmail, ...filters, ...PAGE_QUERY });

export const OutcomeBody = Type.Object(
  {
    attended: optional(booleanFlag({ description: 'Whether the client attended. Cannot be true before the start.' })),
    cancelled: optional(
      booleanFlag({
        description: '`true` withdraws every message that has not been sent; `false` schedules the reminders again.',
      }),
    ),
    type: optional(text({ maxLength: 100, description: 'Free text, for your own use.', examples: ['review'] })),
  },
  { title: 'AppointmentOutcomeBody' },
);
export type OutcomeBody = Static<typeof OutcomeBody>;
