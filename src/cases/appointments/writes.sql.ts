import { forSeveral } from '../../kernel/sql/batch-statement.ts';
import { isoTime, jsonObject, statement, statementVariants } from '../../kernel/sql/statement.ts';
import { appointmentLog } from './audit.sql.ts';
import { followAppointments } from './meetings/desired-state.sql.ts';
import { created, givenWords, updated, WORDS } from './projection.sql.ts';
import { callOff, MESSAGE_COLUMNS, PLACED, placed } from './side-effects.sql.ts';
import { change, foundAppointment } from './versioned-update.sql.ts';

const adviserId = `(SELECT d.id, d.video_provider FROM advisers d
  WHERE d.company_id = $1 AND lower(d.email) = lower($4) AND d.active AND d.removed_at IS NULL)`;
const isCustomer = (email: string) => `EXISTS (
  SELECT 1 FROM customers u
   WHERE u.company_id = $1 AND u.case_id = $2 AND lower(u.email) = lower(${email}) AND u.removed_at IS NULL)`;

const wishMeeting = `
  INSERT INTO meetings (company_id, case_id, appointment_id, start_at, end_at, wished, state, due_at, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, a.end_at, true,
         CASE WHEN a.meeting_pending THEN 'pending' ELSE 'none' END, $14, $14, $14
    FROM a`;

const CREATED = [
  ...['uuid', 'uuid', 'uuid', 'text', 'timestamptz', 'timestamptz', 'text', 'text', 'boolean', 'boolean'],
  ...['text', 'text', 'boolean', 'timestamptz', 'text', ...PLACED, 'text', ...WORDS],
];

/**
 * $1 company, $2 case, $3 id, $4 adviser, $5 start, $6 end, $7 and $8 recipients (email, SMS), $9 and $10 reminders
 * wanted, $11 notes, $12 location, $13 video meeting, $14 now, $15 zone, $16… the messages, $22 origin, $23… the words
 * for the messages. Nothing where the adviser or the recipient is unknown.
 */
export const insertAppointment = statementVariants<'recipient' | 'meeting'>('appointments.insert', (parts) => {
  const meeting = parts.includes('meeting');
  return forSeveral(
    'a',
    CREATED,
    ({ insert, behind, whose }) => `WITH ${insert(
      (first) => `INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at,
           email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, created_at,
           updated_at, meeting_pending)
         SELECT c.company_id, c.id, $3, d.id, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14,
                ${meeting ? 'd.video_provider IS NOT NULL AND $6::timestamptz > $14::timestamptz' : 'false'}
           FROM ${first}cases c, LATERAL ${adviserId} d
          WHERE c.company_id = $1 AND c.id = $2 ${parts.includes('recipient') ? `AND ${isCustomer('$7')}` : ''}
         RETURNING *`,
    )}, ${behind(`m AS (
       INSERT INTO messages (${MESSAGE_COLUMNS})
       SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, $14, $14 FROM a, ${placed(16)}
     ), e AS (
       ${appointmentLog.insertEvent('created', { from: 'a', at: '$14', origin: '$22' })}
     )${meeting ? `, g AS (${wishMeeting})` : ''}`)}
     SELECT ${whose}${behind(`${created('$15')}::text FROM a, ${givenWords(23)}`)}`,
  );
});

/** $1 company, $2 case, $3 adviser, $4 email recipient: what stands in the way. */
export const judgeAppointment = statement(
  'appointments.judge',
  `SELECT EXISTS ${adviserId.replace('$4', '$3')} AS adviser, $4::text IS NULL OR ${isCustomer('$4')} AS recipient
     FROM cases c WHERE c.company_id = $1 AND c.id = $2`,
);

/**
 * $1 company, $2 case, $3 id, $4 the start that is to be, or null where it stays, $5 the email recipient that is to be,
 * where there is one.
 */
export const findAppointment = statementVariants<'recipient'>('appointments.find', (parts) => {
  const named = parts.includes('recipient');
  const found = foundAppointment('coalesce($4, a.start_at)');
  return forSeveral(
    'given',
    ['uuid', 'uuid', 'uuid', 'timestamptz', ...(named ? ['text'] : [])],
    ({
      whose,
      here,
      from,
    }) => `SELECT ${whose}${here(jsonObject(named ? { ...found, recipient_known: isCustomer('$5') } : found))}::text
      FROM ${from && `${from}, `}appointments a
     WHERE ${here('a.company_id = $1 AND a.case_id = $2 AND a.id = $3')} AND a.deleted_at IS NULL`,
  );
});

/** $9 start, $10 end, $11 and $12 recipients (email, SMS), $13 and $14 reminders wanted, $15 notes, $16 location. */
export const updateAppointment = change('appointments.update', {
  verb: 'updated',
  set: `start_at = $9, end_at = $10, email_recipient = $11, sms_recipient = $12, email_reminder = $13,
        sms_reminder = $14, notes = $15, location = $16`,
  takes: ['timestamptz', 'timestamptz', 'text', 'text', 'boolean', 'boolean', 'text', 'text'],
  meets: '(a.start_at, a.end_at) IS DISTINCT FROM ($9, $10) AND a.cancelled = 0',
  where: 'a.deleted_at IS NULL',
  answer: updated,
});

/**
 * $1 company, $2 case, $3 id, $4 now, $5 the id of a cancellation, for a client whose calendar has the appointment,
 * $6 origin.
 * Nothing where an update came between: its messages would not be among those that are seen here, and would go out.
 */
export const deleteAppointment = statement(
  'appointments.delete',
  forSeveral(
    'a',
    ['uuid', 'uuid', 'uuid', 'timestamptz', 'uuid', 'text'],
    (given) => `WITH ${appointmentLog.auditedUpdate({
      verb: 'deleted',
      set: 'deleted_at = $4',
      where: 'a.deleted_at IS NULL',
      returning: 'a.company_id, a.case_id, a.id, a.start_at, a.end_at, a.video_meeting, a.cancelled, a.deleted_at',
      at: '$4',
      origin: '$6',
      given,
    })}, m AS (
       UPDATE messages m SET state = 'cancelled', updated_at = ${given.behind('$4')} FROM a
        WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
          AND m.state IN ('scheduled', 'skipped') AND m.kind <> 'cancellation'
     ), called_off AS (
       ${given.behind(callOff('$5::uuid', '$4::timestamptz'))}
     ), g AS (
       ${given.behind(followAppointments('$4'))}
     )
     SELECT ${given.whose}${jsonObject({ id: 'a.id', deleted_at: isoTime('a.deleted_at') })}::text FROM a`,
  ),
);
