export const TEMPLATE_MESSAGES = ['confirmation', 'change', 'reminder', 'cancellation'] as const;
export type TemplateMessage = (typeof TEMPLATE_MESSAGES)[number];

export type DefaultTexts = { subject: string; email_text: string; sms_text: readonly string[] };

const texts = (opening: string): DefaultTexts => ({
  subject: `${opening} {{start}}`,
  email_text: `{{#customer}}Dear {{customer}},{{/customer}}{{^customer}}Hello,{{/customer}}

${opening}

When: {{start}}
With: {{adviser}}, {{company}}
{{#location}}
Where: {{location}}
{{/location}}
{{#join_url}}
Join online: {{join_url}}
{{/join_url}}

Kind regards,
{{company}}
`,
  sms_text: [
    `{{company}}: ${opening} {{start}}{{#location}}, {{location}}{{/location}}.{{#join_url}} {{join_url}}{{/join_url}}`,
  ],
});

export const DEFAULT_TEXTS: Record<TemplateMessage, DefaultTexts> = {
  confirmation: texts('Your appointment has been booked:'),
  change: texts('Your appointment has been changed:'),
  reminder: texts('This is a reminder of your appointment:'),
  cancellation: texts('Your appointment has been cancelled:'),
};
