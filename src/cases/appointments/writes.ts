import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import type { Context } from '../../kernel/context.ts';
import { retryOnConflict } from '../../kernel/database/optimistic-retry.ts';
import { notFound } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { notifyWorkers } from '../../kernel/jobs/notify-workers.ts';
import { type Instant, parseTime, toSql } from '../../kernel/time/time.ts';
import { zonePlaceholder } from '../../kernel/time/wall-time-placeholders.ts';
import { requirePhone } from '../../kernel/validation/contact.ts';
import type { Form } from '../../kernel/validation/form.ts';
import { type Appointment, type Asked, type Channel, messageColumns, planMessages, wordsOf } from './message-plan.ts';
import type { CreateAppointmentBody, UpdateAppointmentBody } from './schema.ts';
import { appointmentOf, changeOf, type FoundAppointment, notice } from './versioned-update.ts';
import * as sql from './writes.sql.ts';

export async function createAppointment(
  context: Context,
  caseId: string,
  form: Form<CreateAppointmentBody>,
): Promise<string> {
  const { db, company, clock } = context;
  const { body } = form;
  const { start, end } = readTimes(context, form);
  requireOrder(form, start, end);
  checkPhone(context, form);
  const asked = readAsked(form);
  const book = async () => {
    if (!form.ok || !start || !end) return undefined;
    const now = clock();
    const appointment: Appointment = {
      start,
      end,
      recipient: { email: body.email_recipient || null, sms: body.sms_recipient ?? null },
      reminder: { email: asked.email.reminder ?? false, sms: asked.sms.reminder ?? false },
      cancelled: false,
    };
    const plan = planMessages(appointment, undefined, asked, now, company);
    const statement = sql.insertAppointment([
      appointment.recipient.email !== null && 'recipient',
      body.video_meeting === true && 'meeting',
    ]);
    const record = await db.queryJson(statement, [
      company.id,
      caseId,
      newId(),
      body.adviser_email,
      ...appointmentColumns(appointment),
      body.notes ?? null,
      body.location ?? null,
      body.video_meeting ?? false,
      toSql(now),
      zonePlaceholder(company.timeZone),
      ...messageColumns(plan),
      auditOrigin(context),
      ...wordsOf(plan),
    ]);
    if (record) notice(context, plan, now, body.video_meeting ?? false);
    return record;
  };
  return retryOnConflict(book, () => judge(context, caseId, form));
}

/** Read, decide, and write onto the version that was read; where another update came between, once more. */
export async function updateAppointment(
  context: Context,
  caseId: string,
  id: string,
  form: Form<UpdateAppointmentBody>,
): Promise<string> {
  const { db, company, clock } = context;
  const { body } = form;
  const times = readTimes(context, form);
  checkPhone(context, form);
  const asked = readAsked(form);
  const newRecipient = form.hasFault('email_recipient') ? null : body.email_recipient || null;
  return retryOnConflict(async () => {
    const found = await findAppointment(context, caseId, id, times.start, newRecipient);
    const row = found.was.appointments;
    const before = appointmentOf(row);
    const after: Appointment = {
      start: times.start ?? before.start,
      end: times.end ?? before.end,
      recipient: {
        email: body.email_recipient === undefined ? before.recipient.email : body.email_recipient || null,
        sms: body.sms_recipient === undefined ? before.recipient.sms : body.sms_recipient,
      },
      reminder: {
        email: asked.email.reminder ?? before.reminder.email,
        sms: asked.sms.reminder ?? before.reminder.sms,
      },
      cancelled: before.cancelled,
    };
    requireOrder(form, after.start, after.end);
    if (found.recipient_known === false) form.addFault('email_recipient', ...UNKNOWN_RECIPIENT);
    form.check();
    const now = clock();
    const plan = planMessages(after, before, asked, now, company);
    const { parts, values } = changeOf(context, { caseId, id, found, now, plan }, [
      ...appointmentColumns(after),
      body.notes === undefined ? row.notes : body.notes,
      body.location === undefined ? row.location : body.location,
    ]);
    const record = await db.queryJson(sql.updateAppointment(parts), values);
    if (record) notice(context, plan, now, row.video_meeting);
    return record;
  });
}

export async function deleteAppointment(context: Context, caseId: string, id: string): Promise<string> {
  const { db, company, clock } = context;
  const record = await retryOnConflict(
    () => db.queryJson(sql.deleteAppointment, [company.id, caseId, id, toSql(clock()), newId(), auditOrigin(context)]),
    async () => {
      await findAppointment(context, caseId, id);
    },
  );
  notifyWorkers(db);
  return record;
}

async function findAppointment(
  { db, company }: Context,
  caseId: string,
  id: string,
  newStart?: Instant,
  newRecipient: string | null = null,
): Promise<FoundAppointment> {
  const start = newStart && toSql(newStart);
  const values = [company.id, caseId, id, start, ...(newRecipient === null ? [] : [newRecipient])];
  const row = await db.queryJson(sql.findAppointment([newRecipient !== null && 'recipient']), values);
  if (row === undefined) throw notFound('appointment');
  return JSON.parse(row);
}

const appointmentColumns = ({ start, end, recipient, reminder }: Appointment): unknown[] => [
  toSql(start),
  toSql(end),
  recipient.email,
  recipient.sms,
  reminder.email,
  reminder.sms,
];

const UNKNOWN_RECIPIENT = ['unknown', 'is not the email of a customer of this case'] as const;

type Body = UpdateAppointmentBody;

function readTimes({ company }: Context, form: Form<Body>): { start?: Instant | undefined; end?: Instant | undefined } {
  const read = (field: 'start_time' | 'end_time') =>
    form.read(field, form.body[field], (text) => parseTime(text, company.timeZone));
  return { start: read('start_time'), end: read('end_time') };
}

/** Null clears a wish just as false does. */
function readAsked(form: Form<Body>): Record<Channel, Asked> {
  const wish = (value: boolean | null | undefined) => (value === undefined ? undefined : value === true);
  const { body } = form;
  return {
    email: { confirmation: wish(body.email_confirmation), reminder: wish(body.email_notification) },
    sms: { confirmation: wish(body.sms_confirmation), reminder: wish(body.sms_notification) },
  };
}

/** The fault is that of the time which was sent; of the end where both were. */
function requireOrder(form: Form<Body>, start: Instant | undefined, end: Instant | undefined): void {
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

/** Nothing was booked: throws the reason, or returns where another change came between and it can be tried again. */
async function judge({ db, company }: Context, caseId: string, form: Form<CreateAppointmentBody>): Promise<void> {
  const { adviser_email, email_recipient } = form.body;
  const judged = await db.queryFirst<{ adviser: boolean; recipient: boolean }>(sql.judgeAppointment, [
    company.id,
    caseId,
    form.hasFault('adviser_email') ? null : adviser_email,
    form.hasFault('email_recipient') ? null : email_recipient || null,
  ]);
  if (!judged) throw notFound('case');
  if (!judged.adviser && !form.hasFault('adviser_email')) {
    form.addFault('adviser_email', 'unknown', 'is not the email of an adviser of this company');
  }
  if (!judged.recipient) form.addFault('email_recipient', ...UNKNOWN_RECIPIENT);
  form.check();
}
