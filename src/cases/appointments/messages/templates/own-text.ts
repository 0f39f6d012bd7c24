import { InvalidValue } from '../../../../kernel/errors.ts';
import type { Form } from '../../../../kernel/validation/form.ts';
import { assertVisible } from '../../../../kernel/validation/single-line.ts';
import type { OwnTexts } from '../message.ts';
import { countSegments, toGsm7 } from '../sms-segments.ts';
import { DEFAULT_TEXTS, TEXT_NAMES, type TemplateName, type TextName } from './defaults.ts';
import { DAY_FIELDS, FIELD_NAMES, PLACE_FIELDS, TIME_FIELDS } from './fields.ts';
import { alwaysShows, parseTemplate, renderTemplate } from './language.ts';

/** What a company may write in its own words, and how that is rendered. */

const MAX_SUBJECT_LENGTH = 250;
const MAX_MAIL_LENGTH = 100_000;
/** SMS providers take at most ten segments, so a longer text would not be sent at all. */
export const MAX_SMS_SEGMENTS = 10;

/** Returns the default as the company reads it: of an SMS the longest form, which the others shorten. */
export function defaultText(message: TemplateName, name: TextName): string {
  const texts = DEFAULT_TEXTS[message];
  return name === 'sms_text' ? (texts.sms_text[0] ?? '') : texts[name];
}

/**
 * Returns the sent texts as they are stored, and adds their faults to the form. A text that equals the default is stored
 * as the default, so that it changes with it.
 */
export function readOwnTexts(form: Form<Partial<OwnTexts>>, message: TemplateName): Partial<OwnTexts> {
  const texts: Partial<OwnTexts> = {};
  for (const name of TEXT_NAMES) {
    const sent = form.body[name];
    if (sent === undefined || form.hasFault(name)) continue;
    const text = sent?.replace(/\r\n?/g, '\n') ?? null;
    form.read(name, text, (written) => assertText(form, message, name, written));
    texts[name] = text === defaultText(message, name) ? null : text;
  }
  return texts;
}

function assertText(form: Form<Partial<OwnTexts>>, message: TemplateName, name: TextName, text: string): void {
  if (name === 'subject') {
    assertVisible(text);
    if (text === '') throw new InvalidValue('too_short', 'must not be empty');
  } else if (/[^\P{Cc}\n\t]/u.test(text)) {
    throw new InvalidValue('invalid_character', 'must not contain control characters except tabs and line breaks');
  }
  const { template, faults } = parseTemplate(text, FIELD_NAMES);
  for (const { line, column, message: reason } of faults ?? []) {
    form.addFault(name, 'format', `line ${line}, column ${column}: ${reason}`);
  }
  if (!template || name === 'subject') return;
  for (const [what, fields] of [
    ['on which day', DAY_FIELDS],
    ['at what time', TIME_FIELDS],
  ] as const) {
    if (alwaysShows(template, fields)) continue;
    const tags = fields.map((field) => `{{${field}}}`).join(' or ');
    form.addFault(name, 'required', `must say ${what} the appointment is: write ${tags} where no section can hide it`);
  }
  if (message === 'cancellation') return;
  for (const field of PLACE_FIELDS) {
    if (alwaysShows(template, [field])) continue;
    form.addFault(name, 'required', `must contain {{${field}}} where no section other than its own can hide it`);
  }
}

/**
 * Returns the text in the company's own words. Undefined if there are none, or if they cannot be sent with these values:
 * the default goes out then, because a client must hear of the appointment whatever the words are.
 */
export function renderOwnText(
  name: TextName,
  own: OwnTexts | null,
  fields: Readonly<Record<string, string>>,
): string | undefined {
  const text = own?.[name];
  if (text == null) return undefined;
  // A later release could know fewer fields than the one that stored the text.
  const { template } = parseTemplate(text, FIELD_NAMES);
  if (!template) return undefined;
  const rendered = LIMITS[name](renderTemplate(template, fields).trim());
  return rendered === '' ? undefined : rendered;
}

/** Return the text as it is sent, or undefined if it is too long. */
const LIMITS: Record<TextName, (text: string) => string | undefined> = {
  // A line break would end the header; fields such as the place can hold some.
  subject: (text) => within(MAX_SUBJECT_LENGTH, text.replace(/[\p{Cc}\s]+/gu, ' ')),
  email_text: (text) => within(MAX_MAIL_LENGTH, `${text}\n`),
  sms_text: (text) => {
    const sent = toGsm7(text);
    return countSegments(sent) <= MAX_SMS_SEGMENTS ? sent : undefined;
  },
};

const within = (max: number, text: string): string | undefined => (text.length <= max ? text : undefined);
