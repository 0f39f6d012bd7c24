import { EXTERNAL_ID_INPUT, unlessTaken } from '../../kernel/external-ids/statements.sql.ts';
import { insertedWithInput, sameKey } from '../../kernel/sql/input-table.ts';
import { jsonObject } from '../../kernel/sql/json.ts';
import { read, readVariants, writeVariants } from '../../kernel/sql/statement.ts';
import { APPOINTMENT_KEY_INPUTS } from './appointment-key.sql.ts';
import { appointmentAudit } from './audit.sql.ts';
import { createdAppointment, STATE_INPUTS, shownVersion, updatedAppointment } from './projection.sql.ts';
import { MESSAGE_COLUMNS, NEW_MESSAGE_INPUTS, newMessages } from './side-effects.sql.ts';
import { loadForUpdate, versionedUpdate } from './versioned-update.sql.ts';

/** SQL: with `OFFSET 0`, because the planner would otherwise join the adviser with all cases of the company. */
const activeAdviser = (companyId: string, email: string) => `(
        SELECT d.id, d.video_provider FROM advisers d
         WHERE d.company_id = ${companyId} AND lower(d.email) = lower(${email}) AND d.active AND d.removed_at IS NULL
        OFFSET 0)`;

type CustomerInput = { company_id: string; case_id: string };
const isCustomer = ({ company_id, case_id }: CustomerInput, email: string) => `EXISTS (
        SELECT 1 FROM customers u
         WHERE u.company_id = ${company_id} AND u.case_id = ${case_id} AND lower(u.email) = lower(${email})
           AND u.removed_at IS NULL)`;

const APPOINTMENT_INPUTS = {
  start_at: 'timestamptz',
  end_at: 'timestamptz',
  email_recipient: 'text?',
  sms_recipient: 'text?',
  email_reminder: 'boolean',
  sms_reminder: 'boolean',
  notes: 'text?',
  location: 'text?',
} as const;

const insertMeeting = `
      INSERT INTO meetings
        (company_id, case_id, appointment_id, start_at, end_at, wished, state, due_at, created_at, updated_at)
      SELECT a.company_id, a.case_id, a.id, a.start_at, a.end_at, true,
             CASE WHEN a.meeting_pending THEN 'pending' ELSE 'none' END, a.now, a.now, a.now
        FROM a`;

/**
 * With the part `recipient`, the email recipient must be a customer of the case. Returns no row if the case, the
 * adviser or the recipient is unknown, or if another appointment has the external id.
 */
export const insertAppointment = writeVariants('appointments.insert', {
  inputs: {
    ...APPOINTMENT_KEY_INPUTS,
    adviser_email: 'text',
    ...APPOINTMENT_INPUTS,
    video_meeting: 'boolean',
    ...NEW_MESSAGE_INPUTS,
    ...STATE_INPUTS,
    end_time: 'text',
    now: 'timestamptz',
    origin: 'json',
  },
  parts: { recipient: {}, meeting: {}, external_id: EXTERNAL_ID_INPUT },
  batch: true,
  fromInput: (input, inputTable, has) => `
    WITH ${inputTable}, inserted AS (
      INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at, email_recipient,
        sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, meeting_pending, created_at,
        updated_at${has('external_id') ? ', external_id' : ''})
      SELECT c.company_id, c.id, ${input.id}, d.id, ${input.adviser_email}, ${input.start_at}, ${input.end_at},
             ${input.email_recipient}, ${input.sms_recipient}, ${input.email_reminder}, ${input.sms_reminder},
             ${input.notes}, ${input.location}, ${input.video_meeting},
             ${has('meeting') ? `d.video_provider IS NOT NULL AND ${input.end_at} > ${input.now}` : 'false'},
             ${input.now}, ${input.now}${has('external_id') ? `, ${input.external_id}` : ''}
        FROM input JOIN cases c ON c.company_id = ${input.company_id} AND c.id = ${input.case_id}
       CROSS JOIN LATERAL ${activeAdviser(input.company_id, input.adviser_email)} d
       ${has('recipient') ? `WHERE ${isCustomer(input, input.email_recipient)}` : ''}${has('external_id') ? unlessTaken : ''}
      RETURNING *
    ), ${insertedWithInput('a')}, m AS (
      INSERT INTO messages (${MESSAGE_COLUMNS})
      SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
        FROM a JOIN input USING (nth), ${newMessages(input)}
    ), event AS (
      ${appointmentAudit.insertEvent('created', { from: 'a', at: 'a.now', origin: 'a.origin' })}
    )${has('meeting') ? `, meeting AS (${insertMeeting})` : ''}`,
  answer: (input) => ({
    json: createdAppointment({ endTime: input.end_time, states: 'input' }),
    version: shownVersion('input'),
    from: 'a JOIN input USING (nth)',
  }),
});

/** Null is a known adviser or recipient. Returns no row if the case does not exist. */
export const rejectionReasons = read('appointments.rejection_reasons', {
  inputs: { company_id: 'uuid', case_id: 'uuid', adviser_email: 'text?', email_recipient: 'text?' },
  sql: (input) => `
    SELECT ${input.adviser_email} IS NOT NULL
             AND NOT EXISTS ${activeAdviser(input.company_id, input.adviser_email)} AS unknown_adviser,
           ${input.email_recipient} IS NOT NULL AND NOT ${isCustomer(input, input.email_recipient)} AS unknown_recipient
      FROM cases c WHERE c.company_id = ${input.company_id} AND c.id = ${input.case_id}`,
});

/** Whether the email is that of the adviser of the appointment, at the time of booking or now. */
export const isBookedWith = read('appointments.is_booked_with', {
  inputs: { ...APPOINTMENT_KEY_INPUTS, adviser_email: 'text' },
  sql: (input) => `
    SELECT lower(${input.adviser_email}) IN (lower(a.adviser_email), lower(d.email)) AS same
      FROM appointments a JOIN advisers d ON d.company_id = a.company_id AND d.id = a.adviser_id
     WHERE a.company_id = ${input.company_id} AND a.case_id = ${input.case_id} AND a.id = ${input.id}`,
});

/** `new_start` is null if the start stays. Returns no row if the appointment does not exist or is deleted. */
export const loadAppointment = readVariants('appointments.load', {
  inputs: { ...APPOINTMENT_KEY_INPUTS, new_start: 'timestamptz?' },
  parts: { recipient: { new_recipient: 'text' } },
  batch: true,
  fromInput: (input, inputTable, has) => `
    WITH ${inputTable}
    SELECT input.nth, ${jsonObject({
      ...loadForUpdate(`coalesce(${input.new_start}, a.start_at)`),
      ...(has('recipient') && { recipient_known: isCustomer(input, input.new_recipient) }),
    })}::text
      FROM input JOIN appointments a ON ${sameKey('a', 'input')}
     WHERE a.deleted_at IS NULL`,
});

export const updateAppointment = versionedUpdate('appointments.update', {
  action: 'updated',
  inputs: APPOINTMENT_INPUTS,
  set: (input) => `start_at = ${input.start_at}, end_at = ${input.end_at}, email_recipient = ${input.email_recipient},
          sms_recipient = ${input.sms_recipient}, email_reminder = ${input.email_reminder},
          sms_reminder = ${input.sms_reminder}, notes = ${input.notes}, location = ${input.location}`,
  needsMeeting: (input) =>
    `(a.start_at, a.end_at) IS DISTINCT FROM (${input.start_at}, ${input.end_at}) AND a.cancelled = 0`,
  where: 'a.deleted_at IS NULL',
  answer: updatedAppointment,
});
