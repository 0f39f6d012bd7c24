import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import type { Context } from '../../kernel/context.ts';
import type { ShownRecord } from '../../kernel/database/database.ts';
import { retryOnConflict } from '../../kernel/database/optimistic-retry.ts';
import { notFound } from '../../kernel/errors.ts';
import { externalIdPart, requireFreeExternalId } from '../../kernel/external-ids/verbs.ts';
import { newId } from '../../kernel/ids.ts';
import { type Instant, parseTime, toSql, toWallTime } from '../../kernel/time/time.ts';
import type { Form } from '../../kernel/validation/form.ts';
import { requirePhone } from '../../kernel/validation/phone.ts';
import { appointmentIds } from './external-ids.sql.ts';
import { type ChannelRequest, type PlannedAppointment, planMessages } from './message-plan.ts';
import type { Channel } from './messages/message.ts';
import type { CreateAppointmentBody, UpdateAppointmentBody } from './schema.ts';
import { messageStates, newMessageInputs, sideEffectsOf } from './side-effects.ts';
import { appointmentOf, type LoadedAppointment, notifyIfDue, updateInputs } from './versioned-update.ts';
import * as sql from './writes.sql.ts';

export async function createAppointment(
  context: Context,
  caseId: string,
  form: Form<CreateAppointmentBody>,
  externalId?: string,
): Promise<ShownRecord> {
  const { db, company, clock } = context;
  const { body } = form;
  const { start, end } = parseTimes(context, form);
  checkOrder(form, start, end);
  checkPhone(context, form);
  const requested = requestedMessages(form);
  const insert = async () => {
    if (!form.ok || !start || !end) return undefined;
    const now = clock();
    const appointment: PlannedAppointment = {
      start,
      end,
      recipient: { email: body.email_recipient || null, sms: body.sms_recipient ?? null },
      reminder: { email: requested.email.reminder ?? false, sms: requested.sms.reminder ?? false },
      cancelled: false,
    };
    const plan = planMessages(appointment, undefined, requested, now, company);
    const inputs = {
      company_id: company.id,
      case_id: caseId,
      id: newId(),
      adviser_email: body.adviser_email,
      ...appointmentInputs(appointment),
      notes: body.notes,
      location: body.location,
      video_meeting: body.video_meeting ?? false,
      ...newMessageInputs(plan.insert),
      ...messageStates(plan),
      end_time: toWallTime(end, company.timeZone),
      now: toSql(now),
      origin: auditOrigin(context),
    };
    const parts = {
      recipient: appointment.recipient.email !== null,
      meeting: body.video_meeting === true,
      ...externalIdPart(externalId),
    };
    const record = await db.queryRecord(sql.insertAppointment(inputs, parts));
    if (record) notifyIfDue(context, plan, now, body.video_meeting ?? false);
    return record;
  };
  return retryOnConflict(insert, async () => {
    await requireFreeExternalId(context, appointmentIds, form, externalId);
    await explainRejection(context, caseId, form);
  });
}

/** Reads the appointment, decides, and writes if the version is still the same. After a conflict it starts again. */
export async function updateAppointment(
  context: Context,
  caseId: string,
  id: string,
  form: Form<UpdateAppointmentBody>,
  requested = requestedMessages(form),
): Promise<ShownRecord> {
  const { db, company, clock } = context;
  const { body } = form;
  const times = parseTimes(context, form);
  checkPhone(context, form);
  const newRecipient = form.hasFault('email_recipient') ? null : body.email_recipient || null;
  return retryOnConflict(async () => {
    const loaded = await loadAppointment(context, caseId, id, times.start, newRecipient);
    const row = loaded.was.appointments;
    const before = appointmentOf(row);
    const after: PlannedAppointment = {
      start: times.start ?? before.start,
      end: times.end ?? before.end,
      recipient: {
        email: body.email_recipient === undefined ? before.recipient.email : body.email_recipient || null,
        sms: body.sms_recipient === undefined ? before.recipient.sms : body.sms_recipient,
      },
      reminder: {
        email: requested.email.reminder ?? before.reminder.email,
        sms: requested.sms.reminder ?? before.reminder.sms,
      },
      cancelled: before.cancelled,
    };
    checkOrder(form, after.start, after.end);
    if (loaded.recipient_known === false) form.addFault('email_recipient', ...UNKNOWN_RECIPIENT);
    form.check();
    const now = clock();
    const plan = planMessages(after, before, requested, now, company);
    const inputs = {
      ...updateInputs(context, caseId, id, loaded, now, after.end),
      ...appointmentInputs(after),
      notes: body.notes === undefined ? row.notes : body.notes,
      location: body.location === undefined ? row.location : body.location,
    };
    const sideEffects = sideEffectsOf(plan, loaded.messages, loaded.has_meeting);
    const record = await db.queryRecord(sql.updateAppointment(inputs, sideEffects));
    if (record) notifyIfDue(context, plan, now, row.video_meeting);
    return record;
  });
}

/**
 * Updates the appointment that a create names by its external id: the adviser stays, and confirmations were requested by
 * the first request, so that a repeated one sends nothing again.
 */
export async function updateNamedAppointment(
  context: Context,
  caseId: string,
  id: string,
  form: Form<CreateAppointmentBody>,
): Promise<ShownRecord> {
  const { db, company } = context;
  if (!form.hasFault('adviser_email')) {
    const key = { company_id: company.id, case_id: caseId, id };
    const booked = await db.queryFirst<{ same: boolean }>(
      sql.isBookedWith({ ...key, adviser_email: form.body.adviser_email }),
    );
    if (booked?.same === false) form.addFault('adviser_email', 'invalid_state', 'the adviser cannot be changed');
  }
  const { email, sms } = requestedMessages(form);
  return updateAppointment(context, caseId, id, form, {
    email: { reminder: email.reminder },
    sms: { reminder: sms.reminder },
  });
}

async function loadAppointment(
  { db, company }: Context,
  caseId: string,
  id: string,
  newStart: Instant | undefined,
  newRecipient: string | null,
): Promise<LoadedAppointment> {
  const inputs = { company_id: company.id, case_id: caseId, id, new_start: newStart && toSql(newStart) };
  const recipient = newRecipient !== null && { new_recipient: newRecipient };
  const json = await db.queryJson(sql.loadAppointment(inputs, { recipient }));
  if (json === undefined) throw notFound('appointment');
  return JSON.parse(json);
}

const appointmentInputs = ({ start, end, recipient, reminder }: PlannedAppointment) => ({
  start_at: toSql(start),
  end_at: toSql(end),
  email_recipient: recipient.email,
  sms_recipient: recipient.sms,
  email_reminder: reminder.email,
  sms_reminder: reminder.sms,
});

const UNKNOWN_RECIPIENT = ['unknown', 'is not the email of a customer of this case'] as const;

/** The fields that a create and an update share. */
type Body = UpdateAppointmentBody;

function parseTimes(
  { company }: Context,
  form: Form<Body>,
): { start?: Instant | undefined; end?: Instant | undefined } {
  const parse = (field: 'start_time' | 'end_time') =>
    form.read(field, form.body[field], (text) => parseTime(text, company.timeZone));
  return { start: parse('start_time'), end: parse('end_time') };
}

/** Null has the same meaning as false: the message is not wanted. */
function requestedMessages({ body }: Form<Body>): Record<Channel, ChannelRequest> {
  const isRequested = (value: boolean | null | undefined) => (value === undefined ? undefined : value === true);
  return {
    email: { confirmation: isRequested(body.email_confirmation), reminder: isRequested(body.email_notification) },
    sms: { confirmation: isRequested(body.sms_confirmation), reminder: isRequested(body.sms_notification) },
  };
}

/** The fault names the time that was sent, and the end if both were. */
function checkOrder(form: Form<Body>, start: Instant | undefined, end: Instant | undefined): void {
  if (form.hasFault('start_time') || form.hasFault('end_time')) return;
  if (!start || !end || Temporal.Instant.compare(end, start) > 0) return;
  form.addFault(
    form.has('end_time') ? 'end_time' : 'start_time',
    'not_after_start',
    'end_time must be later than start_time',
  );
}

function checkPhone({ company }: Context, form: Form<Body>): void {
  form.read('sms_recipient', form.body.sms_recipient, (text) => requirePhone(text, company.phoneRegion));
}

/**
 * Throws the reason why nothing was inserted. Returns if a concurrent change has removed it: then a retry can succeed.
 */
async function explainRejection(
  { db, company }: Context,
  caseId: string,
  form: Form<CreateAppointmentBody>,
): Promise<void> {
  const { adviser_email, email_recipient } = form.body;
  const reasons = await db.queryFirst<{ unknown_adviser: boolean; unknown_recipient: boolean }>(
    sql.rejectionReasons({
      company_id: company.id,
      case_id: caseId,
      adviser_email: form.hasFault('adviser_email') ? null : adviser_email,
      email_recipient: form.hasFault('email_recipient') ? null : email_recipient || null,
    }),
  );
  if (!reasons) throw notFound('case');
  if (reasons.unknown_adviser) {
    form.addFault('adviser_email', 'unknown', 'is not the email of an adviser of this company');
  }
  if (reasons.unknown_recipient) form.addFault('email_recipient', ...UNKNOWN_RECIPIENT);
  form.check();
}
