import { NEVER_ISSUED_ID } from '../../../../kernel/ids.ts';
import type { Form } from '../../../../kernel/validation/form.ts';
import type { Channel, Customer, OutgoingMessage, OwnTexts } from '../message.ts';
import { splitSegments } from '../sms-segments.ts';
import { TEXT_NAMES, type TemplateName, type TextName } from './defaults.ts';
import { FIELDS, fieldsOf } from './fields.ts';
import { readOwnTexts, renderOwnText } from './own-text.ts';
import { readPreviewed } from './preview.sql.ts';
import { renderEmail, renderSms } from './render.ts';
import type { PreviewBody } from './schema.ts';
import { findOwnTexts, requireMessage, type TemplateContext } from './verbs.ts';

type Preview = {
  company: string;
  subject: string;
  email_text: string;
  email_html: string;
  sms_text: string;
  /** The texts in the company's own words. */
  own: TextName[];
};

/** Returns the message with the texts of the form, or those in force, as a client would get it. */
export async function previewMessage(context: TemplateContext, name: string, form: Form<PreviewBody>): Promise<string> {
  const message = requireMessage(name);
  const { company: _, ...preview } = await composePreview(context, message, form);
  const { encoding, texts } = splitSegments(preview.sms_text);
  return JSON.stringify({ message, ...preview, sms_segments: texts.length, sms_encoding: encoding });
}

/** Throws if the form has faults. */
export async function composePreview(
  context: TemplateContext,
  message: TemplateName,
  form: Form<PreviewBody>,
): Promise<Preview> {
  const drafts = readOwnTexts(form, message);
  const previewed = await readData(context, form);
  form.check();
  const stored = await findOwnTexts(context, message);
  const own: OwnTexts = { subject: null, email_text: null, sms_text: null, ...stored, ...drafts };
  const outgoing = (channel: Channel) => toOutgoing(previewed, message, channel, own);
  const { subject, text, html } = renderEmail(outgoing('email'));
  const isOwn = (name: TextName) =>
    renderOwnText(name, own, fieldsOf(outgoing(name === 'sms_text' ? 'sms' : 'email'))) !== undefined;
  return {
    ...{ company: previewed.company, subject, email_text: text, email_html: html },
    ...{ sms_text: renderSms(outgoing('sms')), own: TEXT_NAMES.filter(isOwn) },
  };
}

type Previewed = {
  company: string;
  time_zone: string;
  sender_address: string | null;
  client_contact_email: string | null;
  client_contact_phone: string | null;
  contact_line: string | null;
  message_signature: string | null;
  appointment: PreviewedAppointment | null;
};
type PreviewedAppointment = {
  start: string;
  end: string;
  location: string | null;
  join_url: string | null;
  adviser: string;
  customer: Customer | null;
};

/** Adds its faults to the form. */
async function readData({ db, company, scopes }: TemplateContext, form: Form<PreviewBody>): Promise<Previewed> {
  const { case_id = null, appointment_id = null } = form.body;
  if (appointment_id !== null && scopes && !scopes.has('appointments:read')) {
    form.addFault('appointment_id', 'not_allowed', 'needs the scope appointments:read, because the texts show it');
  }
  for (const [name, other] of [
    ['case_id', appointment_id],
    ['appointment_id', case_id],
  ] as const) {
    if (form.body[name] == null && other !== null) form.addFault(name, 'required', 'is required with the other one');
  }
  const isReadable = form.ok && appointment_id !== null;
  const key = isReadable ? { case_id, id: appointment_id } : { case_id: null, id: null };
  const row = await db.queryFirst<Previewed>(readPreviewed({ company_id: company.id, ...key }));
  if (!row) throw new Error('The company of the credential does not exist.');
  if (isReadable && !row.appointment) form.addFault('appointment_id', 'unknown', 'is no appointment of the case');
  return row;
}

/** The same values as the samples of the fields. */
const SAMPLE = {
  day: '2026-06-29',
  from: '14:30',
  to: '15:30',
  location: FIELDS.location.sample,
  joinUrl: FIELDS.join_url.sample,
  adviser: FIELDS.adviser.sample,
  customer: { title: 'Mr', first_names: 'John', last_name: 'Smith' },
};

/** A change is shown as if the appointment had been three days earlier, because most have never been moved. */
const MOVED_BY = { hours: 3 * 24 };

function toOutgoing(row: Previewed, message: TemplateName, channel: Channel, own: OwnTexts): OutgoingMessage {
  const { appointment, time_zone: timeZone } = row;
  const at = (time: string) =>
    Temporal.PlainDateTime.from(`${SAMPLE.day}T${time}`).toZonedDateTime(timeZone).toInstant();
  const start = appointment ? Temporal.Instant.from(appointment.start) : at(SAMPLE.from);
  const end = appointment ? Temporal.Instant.from(appointment.end) : at(SAMPLE.to);
  const location = appointment ? appointment.location : SAMPLE.location;
  return {
    ...{ id: NEVER_ISSUED_ID, appointmentId: NEVER_ISSUED_ID, version: 1, due: start, recipient: '', phoneRegion: '' },
    ...{ channel, kind: message === 'change' ? 'confirmation' : message, start, end, location, timeZone },
    joinUrl: appointment ? appointment.join_url : SAMPLE.joinUrl,
    adviser: appointment?.adviser ?? SAMPLE.adviser,
    customer: appointment ? appointment.customer : SAMPLE.customer,
    earlier: message === 'change' ? { start: start.subtract(MOVED_BY), end: end.subtract(MOVED_BY), location } : null,
    company: row.company,
    ...{ senderName: null, senderAddress: row.sender_address, organizer: null },
    contact: { email: row.client_contact_email, phone: row.client_contact_phone, line: row.contact_line },
    signature: row.message_signature,
    ownTexts: { [message]: own },
  };
}
