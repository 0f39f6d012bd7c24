import type { Form } from '../../../../kernel/validation/form.ts';
import { countSegments } from '../sms-text.ts';
import { DEFAULT_TEXTS, type TemplateMessage } from './defaults.ts';
import { FIELD_NAMES, FIELDS, fieldsOf } from './fields.ts';
import { htmlOf } from './html.ts';
import { parseTemplate, renderTemplate, type Template } from './language.ts';
import { type OwnTexts, readOwnTexts, renderOwnText, TEXT_NAMES, type TextName } from './own-text.ts';
import { readPreviewed } from './preview.sql.ts';
import type { PreviewBody } from './schema.ts';
import { findOwnTexts, requireMessage, type TemplateContext } from './verbs.ts';

type Composed = Record<TextName, string> & { own: TextName[]; companyName: string };

/** Returns the message with the texts of the form, or those in force, as a client would get it. */
export async function previewMessage(context: TemplateContext, name: string, form: Form<PreviewBody>): Promise<string> {
  const message = requireMessage(name);
  const { subject, email_text, sms_text, own } = await composePreview(context, message, form);
  return JSON.stringify({
    ...{ message, subject, email_text, sms_text, own },
    email_html: htmlOf(email_text, subject),
    sms_segments: countSegments(sms_text),
  });
}

/** Throws if the form has faults. */
export async function composePreview(
  context: TemplateContext,
  message: TemplateMessage,
  form: Form<PreviewBody>,
): Promise<Composed> {
  const drafts = readOwnTexts(form, message);
  const fields = await readFields(context, form);
  form.check();
  const stored = await findOwnTexts(context, message);
  const texts: OwnTexts = { subject: null, email_text: null, sms_text: null, ...stored, ...drafts };
  const rendered = TEXT_NAMES.map((name) => [name, renderOwnText(name, texts, fields)] as const);
  const own = rendered.filter(([, text]) => text !== undefined).map(([name]) => name);
  const defaults = (name: TextName) => {
    const source = DEFAULT_TEXTS[message][name];
    return renderTemplate(
      parseTemplate(typeof source === 'string' ? source : (source[0] ?? ''), FIELD_NAMES).template as Template,
      fields,
    );
  };
  const all = Object.fromEntries(rendered.map(([name, text]) => [name, text ?? defaults(name)]));
  return { ...(all as Record<TextName, string>), own, companyName: fields.company ?? '' };
}

/** The values of the appointment that the form names, or the samples. Adds its faults to the form. */
async function readFields(
  { db, company }: TemplateContext,
  form: Form<PreviewBody>,
): Promise<Readonly<Record<string, string>>> {
  const { case_id, appointment_id } = form.body;
  const samples = Object.fromEntries(Object.entries(FIELDS).map(([field, { sample }]) => [field, sample]));
  if (case_id == null && appointment_id == null) return samples;
  for (const name of ['case_id', 'appointment_id'] as const) {
    if (form.body[name] == null) form.addFault(name, 'required', 'is required, together with the other identifier');
  }
  if (!case_id || !appointment_id || form.hasFault('case_id') || form.hasFault('appointment_id')) return samples;
  const row = await db.queryFirst<never>(readPreviewed({ company_id: company.id, case_id, id: appointment_id }));
  if (!row) {
    form.addFault('appointment_id', 'unknown', 'is no appointment of the case');
    return samples;
  }
  return fieldsOf(row);
}
