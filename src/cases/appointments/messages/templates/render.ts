import type { OutgoingMessage } from '../message.ts';
import { countSegments } from '../sms-segments.ts';
import { COMPLETE_SMS_TEXTS, DEFAULT_TEXTS, requireTemplate, TEMPLATE_NAMES, type TemplateName } from './defaults.ts';
import { changesOf, type FieldName, fieldsOf, oneLine } from './fields.ts';
import { htmlOf } from './html.ts';
import { renderTemplate, type Template } from './language.ts';
import { MAX_SMS_SEGMENTS, renderOwnText } from './own-text.ts';

const DEFAULTS = Object.fromEntries(
  TEMPLATE_NAMES.map((name) => {
    const { subject, email_text, sms_text } = DEFAULT_TEXTS[name];
    const templates = { subject: requireTemplate(subject), email_text: requireTemplate(email_text) };
    return [name, { ...templates, sms_text: sms_text.map(requireTemplate) }];
  }),
) as Record<TemplateName, { subject: Template; email_text: Template; sms_text: Template[] }>;

/** A confirmation is a change if the client was told another time or place before. */
export function templateNameOf(message: OutgoingMessage): TemplateName {
  const { time, place } = changesOf(message);
  return message.kind === 'confirmation' && (time || place) ? 'change' : message.kind;
}

export function renderEmail(message: OutgoingMessage): { subject: string; text: string; html: string } {
  const fields = fieldsOf(message);
  const name = templateNameOf(message);
  const own = message.ownTexts?.[name] ?? null;
  const defaults = DEFAULTS[name];
  const subject = renderOwnText('subject', own, fields) ?? oneLine(renderTemplate(defaults.subject, fields));
  const text = renderOwnText('email_text', own, fields) ?? `${renderTemplate(defaults.email_text, fields).trimEnd()}\n`;
  return { subject, text, html: htmlOf(text, subject) };
}

/** Up to so many segments are spent before anything is left out. */
const MAX_COMPLETE_SEGMENTS = 3;

/**
 * Renders the text of an SMS. A company's own text is sent as it is. Our own words are shortened if that saves a
 * segment; what the client has to know is left out only beyond the third, and place and link never.
 */
export function renderSms(message: OutgoingMessage): string {
  const fields = fieldsOf(message);
  const name = templateNameOf(message);
  const own = renderOwnText('sms_text', message.ownTexts?.[name] ?? null, fields);
  if (own !== undefined) return own;
  const templates = DEFAULTS[name].sms_text;
  const texts = templates.map((template) => renderTemplate(template, fields));
  for (let segments = 1; segments <= MAX_COMPLETE_SEGMENTS; segments++) {
    const fitting = texts.slice(0, COMPLETE_SMS_TEXTS).find((text) => countSegments(text) <= segments);
    if (fitting !== undefined) return fitting;
  }
  const shortened = texts.slice(COMPLETE_SMS_TEXTS).find((text) => countSegments(text) <= MAX_COMPLETE_SEGMENTS);
  return shortened ?? withinSegments(templates.at(-1) as Template, fields);
}

/** Cuts a place that would make the text longer than any provider sends at its end; the mail has it whole. */
function withinSegments(template: Template, fields: Record<FieldName, string>): string {
  const withPlace = (location: string) => renderTemplate(template, { ...fields, location });
  const whole = withPlace(fields.location);
  if (countSegments(whole) <= MAX_SMS_SEGMENTS) return whole;
  const characters = [...fields.location];
  const cut = (length: number) => withPlace(`${characters.slice(0, length).join('').trimEnd()}...`);
  let [fitting, tooLong] = [0, characters.length];
  while (tooLong - fitting > 1) {
    const length = Math.floor((fitting + tooLong) / 2);
    if (countSegments(cut(length)) <= MAX_SMS_SEGMENTS) fitting = length;
    else tooLong = length;
  }
  return fitting === 0 ? whole : cut(fitting);
}
