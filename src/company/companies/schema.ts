import { type Static, Type } from 'typebox';
import {
  decimal,
  instant,
  MAX_LONG_TEXT,
  MAX_SHORT_TEXT,
  nullable,
  optional,
  text,
  uuid,
} from '../../kernel/validation/schema-types.ts';

/** Null for one of them stands for its default. */
const settings = {
  time_zone: optional(
    text({
      maxLength: 100,
      description: 'An IANA zone: an area and a place, or UTC. Text without a zone is wall time in it.',
      examples: ['Europe/London'],
    }),
  ),
  phone_region: optional(
    text({
      maxLength: 2,
      description: 'ISO 3166: where phone numbers without a country code belong.',
      examples: ['GB'],
    }),
  ),
  terms: optional(text({ maxLength: MAX_LONG_TEXT, description: 'Printed on new invoices.' })),
  payment_terms: optional(
    text({ maxLength: MAX_SHORT_TEXT, description: 'Of new invoices that name none.', examples: ['30 days'] }),
  ),
  reminder_lead_days: optional(
    decimal({ description: 'How many days before the start a reminder goes out: 1 to 30.', examples: [1] }),
  ),
  sender_name: optional(text({ maxLength: 200, description: 'Whom mails come from.', examples: ['Smith & Partners'] })),
  sender_address: optional(text({ maxLength: 254, description: 'Its address.', examples: ['office@firm.example'] })),
  contact_email: optional(
    text({
      maxLength: 254,
      description: 'Who is told when something needs a person, such as a webhook endpoint that fails; else the sender.',
      examples: ['it@firm.example'],
    }),
  ),
};
const name = text({ minLength: 1, maxLength: 200, examples: ['Smith & Partners'] });

export const CreateCompanyBody = Type.Object({ name, ...settings });
export const CompanyBody = Type.Object({ name: Type.Optional(name), ...settings });
export type CompanyBody = Static<typeof CompanyBody>;

export const CompanyRecord = Type.Object(
  {
    id: uuid(),
    name: Type.String(),
    time_zone: Type.String({ examples: ['Europe/London'] }),
    phone_region: Type.String({ examples: ['GB'] }),
    terms: Type.String(),
    payment_terms: Type.String({ examples: ['30 days'] }),
    reminder_lead_days: Type.Integer({ examples: [1] }),
    sender_name: nullable(Type.String()),
    sender_address: nullable(Type.String()),
    contact_email: nullable(Type.String()),
    created_at: instant(),
    updated_at: instant(),
  },
  { additionalProperties: false },
);
export const CompanyList = Type.Array(CompanyRecord);
