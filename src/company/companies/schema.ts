import type { Static } from 'typebox';
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
import { Type } from '../../kernel/validation/type.ts';

/** Null resets a setting to its default. */
const settings = {
  time_zone: optional(
    text({
      maxLength: 100,
      description:
        'An IANA time zone such as Europe/London, or UTC. Times that are sent without an offset are read in it.',
      examples: ['Europe/London'],
    }),
  ),
  phone_region: optional(
    text({
      maxLength: 2,
      description: 'ISO 3166 code of the country that phone numbers without a country code belong to.',
      examples: ['GB'],
    }),
  ),
  terms: optional(text({ maxLength: MAX_LONG_TEXT, description: 'Printed on new invoices.' })),
  payment_terms: optional(
    text({ maxLength: MAX_SHORT_TEXT, description: 'Default for new invoices.', examples: ['30 days'] }),
  ),
  reminder_lead_days: optional(
    decimal({ description: 'How many days before an appointment its reminder is sent: 1 to 30.', examples: [1] }),
  ),
  sender_name: optional(
    text({ maxLength: 200, description: 'The sender name of mails.', examples: ['Smith & Partners'] }),
  ),
  sender_address: optional(
    text({ maxLength: 254, description: 'The sender address of mails.', examples: ['office@company.example'] }),
  ),
  contact_email: optional(
    text({
      maxLength: 254,
      description:
        'Receives notices that need attention, such as a failing webhook endpoint; the sender address by default.',
      examples: ['it@company.example'],
    }),
  ),
  client_contact_email: optional(
    text({
      maxLength: 254,
      description: 'Where clients reach the company: replies to mails go there.',
      examples: ['office@company.example'],
    }),
  ),
  client_contact_phone: optional(
    text({
      maxLength: 50,
      description: 'The number that clients can call, as messages show it.',
      examples: ['020 7946 0018'],
    }),
  ),
  contact_line: optional(
    text({
      maxLength: 300,
      description:
        'Tells clients in messages how to change or cancel an appointment. By default a sentence with the email and ' +
        'phone for clients; an empty text for none.',
      examples: ['To change your appointment, call Jane on 020 7946 0018.'],
    }),
  ),
  message_signature: optional(
    text({
      description: 'How mails to clients end. By default "Kind regards," and the name; an empty text for nothing.',
      examples: ['Kind regards,\nSmith & Partners'],
    }),
  ),
  session_idle_minutes: optional(
    decimal({
      description: 'After how many minutes without a request a person is signed out: 5 to 120.',
      examples: [30],
    }),
  ),
  session_hours: optional(
    decimal({
      description: 'After how many hours a person has to sign in again in any case: 1 to 24.',
      examples: [12],
    }),
  ),
  legal_name: optional(
    text({ maxLength: 200, description: 'The registered name.', examples: ['Smith & Partners LLP'] }),
  ),
  address: optional(
    text({
      maxLength: 500,
      description: 'The address on paper; it may have several lines.',
      examples: ['1 High Street\nLondon\nAB1 2CD'],
    }),
  ),
  company_number: optional(
    text({ maxLength: 50, description: 'The number in the register of companies.', examples: ['OC301234'] }),
  ),
  tax_number: optional(
    text({ maxLength: 50, description: 'The number for VAT or another tax.', examples: ['GB123456789'] }),
  ),
  currency: optional(
    text({
      maxLength: 3,
      description: 'ISO 4217 code of the currency of its invoices. It describes them and converts nothing.',
      examples: ['GBP'],
    }),
  ),
};
const name = text({ minLength: 1, maxLength: 200, examples: ['Smith & Partners'] });

export const CreateCompanyBody = Type.Object({ name, ...settings }, { title: 'CreateCompanyBody' });
export const CompanyBody = Type.Object({ name: Type.Optional(name), ...settings }, { title: 'UpdateCompanyBody' });
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
    client_contact_email: nullable(Type.String()),
    client_contact_phone: nullable(Type.String()),
    contact_line: nullable(Type.String()),
    message_signature: nullable(Type.String()),
    session_idle_minutes: Type.Integer({ examples: [30] }),
    session_hours: Type.Integer({ examples: [12] }),
    legal_name: nullable(Type.String()),
    address: nullable(Type.String()),
    company_number: nullable(Type.String()),
    tax_number: nullable(Type.String()),
    currency: nullable(Type.String({ examples: ['GBP'] })),
    created_at: instant(),
    updated_at: instant(),
  },
  { title: 'Company', additionalProperties: false },
);
export const CompanyList = Type.Array(CompanyRecord);
