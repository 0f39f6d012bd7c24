import { forSeveral } from '../../kernel/sql/batch-statement.ts';
import { jsonObject, statement, statementVariants } from '../../kernel/sql/statement.ts';
import { appointmentAudit } from './audit.sql.ts';
import { createdAppointment, inputStates, STATE_TYPES, updatedAppointment } from './projection.sql.ts';
import { MESSAGE_COLUMNS, NEW_MESSAGE_TYPES, newMessages } from './side-effects.sql.ts';
import { loadForUpdate, versionedUpdate } from './versioned-update.sql.ts';

const activeAdviser = (email: string) => `(SELECT d.id, d.video_provider FROM advisers d
  WHERE d.company_id = $1 AND lower(d.email) = lower(${email}) AND d.active AND d.removed_at IS NULL)`;
const isCustomer = (email: string) => `EXISTS (
  SELECT 1 FROM customers u
   WHERE u.company_id = $1 AND u.case_id = $2 AND lower(u.email) = lower(${email}) AND u.removed_at IS NULL)`;

const insertMeeting = `
  INSERT INTO meetings
    (company_id, case_id, appointment_id, start_at, end_at, wished, state, due_at, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, a.end_at, true,
         CASE WHEN a.meeting_pending THEN 'pending' ELSE 'none' END, $14, $14, $14
    FROM a`;

const INSERT_TYPES = [
  ...['uuid', 'uuid', 'uuid', 'text', 'timestamptz', 'timestamptz', 'text', 'text', 'boolean', 'boolean'],
  ...['text', 'text', 'boolean', 'timestamptz', 'text', ...NEW_MESSAGE_TYPES, 'text', ...STATE_TYPES],
];

/**
 * $1 company, $2 case, $3 id, $4 adviser, $5 start, $6 end, $7 and $8 recipients (email, SMS), $9 and $10 whether a
 * reminder is requested (email, SMS), $11 notes, $12 location, $13 video meeting, $14 now, $15 zone, $16… the messages,
 * $22 origin, $23… the states of the messages. Returns no row if the case, the adviser or the email recipient is
 * unknown.
 */
export const insertAppointment = statementVariants<'recipient' | 'meeting'>('appointments.insert', (parts) => {
  const meeting = parts.includes('meeting');
  return forSeveral(
    'a',
    INSERT_TYPES,
    ({ insert, behind, whose }) => `WITH ${insert(
      (first) => `INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at,
           email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, created_at,
           updated_at, meeting_pending)
         SELECT c.company_id, c.id, $3, d.id, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14,
                ${meeting ? 'd.video_provider IS NOT NULL AND $6::timestamptz > $14::timestamptz' : 'false'}
           FROM ${first}cases c, LATERAL ${activeAdviser('$4')} d
          WHERE c.company_id = $1 AND c.id = $2 ${parts.includes('recipient') ? `AND ${isCustomer('$7')}` : ''}
         RETURNING *`,
    )}, ${behind(`m AS (
       INSERT INTO messages (${MESSAGE_COLUMNS})
       SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, $14, $14 FROM a, ${newMessages(16)}
     ), e AS (
       ${appointmentAudit.insertEvent('created', { from: 'a', at: '$14', origin: '$22' })}
     )${meeting ? `, g AS (${insertMeeting})` : ''}`)}
     SELECT ${whose}${behind(`${createdAppointment('$15')}::text FROM a, ${inputStates(23)}`)}`,
  );
});

/** $1 company, $2 case, $3 adviser, $4 email recipient or null. Returns no row if the case does not exist. */
export const rejectionReasons = statement(
  'appointments.rejection_reasons',
  `SELECT NOT EXISTS ${activeAdviser('$3')} AS unknown_adviser,
          $4::text IS NOT NULL AND NOT ${isCustomer('$4')} AS unknown_recipient
     FROM cases c WHERE c.company_id = $1 AND c.id = $2`,
);

/** $1 company, $2 case, $3 id, $4 the new start, or null if it stays, $5 the new email recipient, if there is one. */
export const loadAppointment = statementVariants<'recipient'>('appointments.load', (parts) => {
  const hasRecipient = parts.includes('recipient');
  const fields = loadForUpdate('coalesce($4, a.start_at)');
  const json = jsonObject(hasRecipient ? { ...fields, recipient_known: isCustomer('$5') } : fields);
  return forSeveral(
    'given',
    ['uuid', 'uuid', 'uuid', 'timestamptz', ...(hasRecipient ? ['text'] : [])],
    ({ whose, here, from }) => `SELECT ${whose}${here(json)}::text
      FROM ${from && `${from}, `}appointments a
     WHERE ${here('a.company_id = $1 AND a.case_id = $2 AND a.id = $3')} AND a.deleted_at IS NULL`,
  );
});

/** $9 start, $10 end, $11 and $12 recipients, $13 and $14 whether a reminder is requested, $15 notes, $16 location. */
export const updateAppointment = versionedUpdate('appointments.update', {
  verb: 'updated',
  set: `start_at = $9, end_at = $10, email_recipient = $11, sms_recipient = $12, email_reminder = $13,
        sms_reminder = $14, notes = $15, location = $16`,
  types: ['timestamptz', 'timestamptz', 'text', 'text', 'boolean', 'boolean', 'text', 'text'],
  needsMeeting: '(a.start_at, a.end_at) IS DISTINCT FROM ($9, $10) AND a.cancelled = 0',
  where: 'a.deleted_at IS NULL',
  answer: updatedAppointment,
});
