import { type Static, Type } from 'typebox';
import { booleanFlag, optional, text, time } from '../../kernel/validation/schema-types.ts';

const range = {
  from: Type.Optional(time({ description: 'Starts at this time or later.', examples: ['2026-03-29 00:00:00'] })),
  to: Type.Optional(time({ description: 'Starts before this time.', examples: ['2026-03-30 00:00:00'] })),
  deleted: Type.Optional(
    Type.Unsafe<'true' | 'false' | '1' | '0' | 'all'>({
      type: 'string',
      enum: ['true', 'false', '1', '0', 'all'],
      default: 'false',
      description: 'Only those that are not deleted, only deleted ones, or all.',
    }),
  ),
};
const adviserEmail = text({
  minLength: 1,
  maxLength: 254,
  description: 'The address that an adviser of the company has now.',
  examples: ['adviser@firm.example'],
});

export const AppointmentsQuery = Type.Object({ ...range, adviser_email: Type.Optional(adviserEmail) });
export type AppointmentsQuery = Static<typeof AppointmentsQuery>;

/** The page comes on top, which is the transport's affair. */
export const DIARY_QUERY = { adviser_email: adviserEmail, ...range };

export const OutcomeBody = Type.Object({
  attended: optional(booleanFlag({ description: 'Whether the client attended; not before the start.' })),
  cancelled: optional(
    booleanFlag({
      description: 'True withdraws every message that has not gone out; false places the reminders anew.',
    }),
  ),
  type: optional(text({ maxLength: 100, description: 'A word of your own.', examples: ['review'] })),
});
export type OutcomeBody = Static<typeof OutcomeBody>;
