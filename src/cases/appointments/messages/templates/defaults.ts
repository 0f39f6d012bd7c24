import { FIELD_NAMES } from './fields.ts';
import { parseTemplate, type Template } from './language.ts';

/** The wording of the service. A company can replace each text by its own. */

export const TEMPLATE_NAMES = ['confirmation', 'change', 'reminder', 'cancellation'] as const;
/** A confirmation is a `change` if the client was told another time or place before. */
export type TemplateName = (typeof TEMPLATE_NAMES)[number];

export const TEXT_NAMES = ['subject', 'email_text', 'sms_text'] as const;
export type TextName = (typeof TEXT_NAMES)[number];

/** The last lines of each mail. */
const ENDING = `{{#contact_line}}

{{contact_line}}
{{/contact_line}}
{{#signature}}

{{signature}}
{{/signature}}
`;

const JOIN = `{{#join_url}}
Join online: {{join_url}}
{{/join_url}}
`;

const DETAILS = `When: {{when}}
With: {{adviser}}, {{company}}
{{#location}}
Where: {{location}}
{{/location}}
`;

/** The details with the time and place that the client was told before, if they differ. */
const CHANGED_DETAILS = `{{#previous_when}}
New time: {{when}}
Old time: {{previous_when}}
{{/previous_when}}
{{^previous_when}}
When: {{when}}
{{/previous_when}}
With: {{adviser}}, {{company}}
{{#previous_location}}
{{#location}}
New place: {{location}}
{{/location}}
Old place: {{previous_location}}
{{/previous_location}}
{{^previous_location}}
{{#location}}
Where: {{location}}
{{/location}}
{{/previous_location}}
`;

const mail = (opening: string, details: string) => `{{greeting}}\n\n${opening}\n\n${details}${ENDING}`;

const PLACE = '{{#location}}, {{location}}{{/location}}.{{#join_url}} {{join_url}}{{/join_url}}';
const CONTACT = '{{#contact_line}} {{contact_line}}{{/contact_line}}';
const SHORT_CONTACT = '{{#short_contact_line}} {{short_contact_line}}{{/short_contact_line}}';

/**
 * The SMS texts from long to short: in our words, in fewer words, without the end, without the time zone, without the
 * contact. None is without the place and the link. `long` and `short` precede the time.
 */
const smsTexts = (long: string, short: string): string[] => [
  `{{company}}: ${long} {{short_date}}, {{start_time}}-{{end_time}} {{short_time_zone}}${PLACE}${CONTACT}`,
  `{{company}}: ${short} {{short_date}}, {{start_time}}-{{end_time}} {{short_time_zone}}${PLACE}${SHORT_CONTACT}`,
  `{{company}}: ${short} {{short_date}}, {{start_time}} {{short_time_zone}}${PLACE}${SHORT_CONTACT}`,
  `{{company}}: ${short} {{short_date}}, {{start_time}}${PLACE}${SHORT_CONTACT}`,
  `{{company}}: ${short} {{short_date}}, {{start_time}}${PLACE}`,
];
/** How many of the first SMS texts hold everything. */
export const COMPLETE_SMS_TEXTS = 2;

const cancelledSms = (time: string, contact: string) => `{{company}}: ${time}${contact}`;

type DefaultTexts = { subject: string; email_text: string; sms_text: readonly string[] };

export const DEFAULT_TEXTS: Record<TemplateName, DefaultTexts> = {
  confirmation: {
    subject: 'Your appointment on {{start}}',
    email_text: mail('Your appointment has been booked:', DETAILS + JOIN),
    sms_text: smsTexts('your appointment is on', 'appointment'),
  },
  change: {
    subject: 'Changed: your appointment on {{start}}',
    email_text: mail('Your appointment has been changed:', CHANGED_DETAILS + JOIN),
    sms_text: smsTexts(
      'your appointment{{#previous_short_start}} on {{previous_short_start}}{{/previous_short_start}} has been changed. ' +
        'It is{{#previous_short_start}} now{{/previous_short_start}} on',
      'appointment has been changed{{#previous_short_start}} from {{previous_short_start}}{{/previous_short_start}} to',
    ),
  },
  reminder: {
    subject: 'Reminder: your appointment on {{start}}',
    email_text: mail('This is a reminder of your appointment:', CHANGED_DETAILS + JOIN),
    sms_text: smsTexts(
      'reminder of your appointment{{#previous_short_start}}, which was on {{previous_short_start}} and is now{{/previous_short_start}} on',
      'reminder:{{#previous_short_start}} not {{previous_short_start}} but{{/previous_short_start}}',
    ),
  },
  cancellation: {
    subject: 'Cancelled: your appointment on {{start}}',
    email_text: mail('Your appointment has been cancelled:', DETAILS),
    sms_text: [
      cancelledSms(
        'your appointment on {{short_date}}, {{start_time}}-{{end_time}} {{short_time_zone}} has been cancelled.',
        CONTACT,
      ),
      cancelledSms('cancelled: {{short_date}}, {{start_time}}-{{end_time}} {{short_time_zone}}.', SHORT_CONTACT),
      cancelledSms('cancelled: {{short_date}}, {{start_time}} {{short_time_zone}}.', SHORT_CONTACT),
      cancelledSms('cancelled: {{short_date}}, {{start_time}}.', SHORT_CONTACT),
      cancelledSms('cancelled: {{short_date}}, {{start_time}}.', ''),
    ],
  },
};

/** Throws if the text has faults: for the texts of the service, which have none. */
export function requireTemplate(text: string): Template {
  const { template, faults } = parseTemplate(text, FIELD_NAMES);
  if (!template) throw new Error(`A text of the service has a fault: ${faults[0]?.message}`);
  return template;
}
