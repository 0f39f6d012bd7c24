import type { Static } from 'typebox';
import { instant, nullable, optional, text, uuid } from '../../../../kernel/validation/schema-types.ts';
import { Type } from '../../../../kernel/validation/type.ts';
import { CHANNELS } from '../message.ts';
import { TEMPLATE_NAMES, TEXT_NAMES } from './defaults.ts';
import { MAX_TEMPLATE_LENGTH } from './language.ts';

const closed = { additionalProperties: false };
const oneOf = <const T extends string>(values: readonly T[], description: string) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], description });

const message = oneOf(TEMPLATE_NAMES, 'A change is the confirmation of a moved appointment.');

const ownText = (maxLength: number, description: string, example: string) =>
  optional(text({ maxLength, description, examples: [example] }));

const texts = {
  subject: ownText(500, 'The subject of the mail, in one line.', 'Your appointment with {{company}}'),
  email_text: ownText(
    MAX_TEMPLATE_LENGTH,
    'The text of the mail. Its HTML part is made from it.',
    'We look forward to seeing you.',
  ),
  sms_text: ownText(2_000, 'The text of the SMS.', 'See you soon.'),
};

/** Null resets a text to the default. */
export const TemplateBody = Type.Object(texts, { title: 'MessageTemplateBody' });
export type TemplateBody = Static<typeof TemplateBody>;

const shownTexts = { subject: Type.String(), email_text: Type.String(), sms_text: Type.String() };
const ownNames = (description: string) =>
  Type.Array(Type.Unsafe<(typeof TEXT_NAMES)[number]>({ type: 'string', enum: [...TEXT_NAMES] }), { description });

export const MessageTemplate = Type.Object(
  {
    message,
    ...shownTexts,
    own: ownNames("The texts that are in the company's own words. The others are the defaults."),
    defaults: Type.Object(shownTexts, { title: 'MessageTemplateDefaults', ...closed }),
    updated_at: nullable(instant({ description: 'Null if the company has no words of its own.' })),
  },
  { title: 'MessageTemplate', ...closed },
);
export const MessageTemplates = Type.Array(MessageTemplate);

export const TemplateFields = Type.Array(
  Type.Object(
    {
      field: Type.String({ examples: ['adviser'] }),
      description: Type.String(),
      sample: Type.String({ description: 'The value in a preview that names no appointment.' }),
    },
    { title: 'MessageTemplateField', ...closed },
  ),
);

const data = {
  case_id: optional(uuid({ description: 'The case of the appointment.' })),
  appointment_id: optional(
    uuid({ description: 'The appointment whose values are filled in; without it, sample values are.' }),
  ),
};

/** Texts that are sent are tried out instead of those in force. */
export const PreviewBody = Type.Object({ ...texts, ...data }, { title: 'MessagePreviewBody' });
export type PreviewBody = Static<typeof PreviewBody>;

export const MessagePreview = Type.Object(
  {
    message,
    ...shownTexts,
    email_html: Type.String({ description: 'The HTML part of the mail.' }),
    sms_segments: Type.Integer({ description: 'How many SMS the text is charged as.', examples: [2] }),
    sms_encoding: oneOf(['gsm7', 'ucs2'], 'UCS-2 if a character is outside GSM-7; a segment is then shorter.'),
    own: ownNames(
      "The texts that are in the company's own words. If such a text would be empty or too long with these values, the " +
        'default is sent instead.',
    ),
  },
  { title: 'MessagePreview', ...closed },
);

export const TestBody = Type.Object(
  {
    ...texts,
    ...data,
    email: optional(text({ maxLength: 254, description: 'Sends the mail here.', examples: ['me@company.example'] })),
    phone: optional(text({ maxLength: 100, description: 'Sends the SMS here.', examples: ['07400 123456'] })),
  },
  { title: 'TestMessageBody' },
);
export type TestBody = Static<typeof TestBody>;

export const TestMessage = Type.Object(
  {
    id: uuid(),
    message,
    channel: oneOf(CHANNELS, 'How the message is sent.'),
    recipient: Type.String(),
    state: oneOf(['scheduled', 'sent', 'failed'], 'State of the message.'),
    attempts: Type.Integer({ description: 'Number of attempts to send it.' }),
    last_error: nullable(Type.String({ description: 'Why the last failed attempt failed.' })),
    created_at: instant(),
    sent_at: nullable(instant()),
  },
  { title: 'TestMessage', ...closed },
);
export const TestMessages = Type.Array(TestMessage);
