import { iso, json, statement, wall } from '../../kernel/sql.ts';

/**
 * The four words and the two days before, from rows of messages. A reminder is that of the present start where there
 * is one, else the last; a confirmation is the last that was asked for.
 */
const words = (rows: string) => `
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind, state,
                 (kind = 'reminder' AND state IN ('scheduled', 'sent', 'failed') AND m.day_before)::int AS day_before
            FROM (${rows}) m
           ORDER BY channel, kind, (kind = 'reminder' AND m.start_at = a.start_at) DESC, id DESC) latest`;

const common = (zone: string) => ({
  id: 'a.id',
  customer_case_id: 'a.case_id',
  start_time: iso('a.start_at'),
  end_time: wall('a.end_at', zone),
  email_confirmation: 'w.email_confirmation',
  email_notification: 'w.email_notification',
  email_day_before: 'w.email_day_before',
  sms_recipient: 'a.sms_recipient',
  sms_confirmation: 'w.sms_confirmation',
  sms_notification: 'w.sms_notification',
  sms_day_before: 'w.sms_day_before',
  notes: 'a.notes',
  location: 'a.location',
  created_at: iso('a.created_at'),
  updated_at: iso('a.updated_at'),
});

/** The message arrays, one element per message, from parameter `first` on. */
const placed = (first: number) =>
  `unnest(${['uuid', 'text', 'text', 'text', 'timestamptz', 'boolean'].map((type, i) => `$${first + i}::${type}[]`).join(', ')})
     AS n (id, channel, kind, state, due_at, day_before)`;

const MESSAGE_COLUMNS =
  'company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at';

const created = json({ ...common('$15'), adviser_email: 'a.adviser_email', email_recipient: 'a.email_recipient' });

const adviserId = `(SELECT d.id FROM advisers d
  WHERE d.company_id = $1 AND lower(d.email) = lower($4) AND d.active AND d.removed_at IS NULL)`;
const isCustomer = (email: string) => `(${email}::text IS NULL OR EXISTS (
  SELECT 1 FROM customers u
   WHERE u.company_id = $1 AND u.case_id = $2 AND lower(u.email) = lower(${email}) AND u.removed_at IS NULL))`;

/**
 * $1 company, $2 case, $3 id, $4 adviser, $5 start, $6 end, $7 and $8 recipients (email, SMS), $9 and $10 reminders
 * wanted, $11 notes, $12 location, $13 video meeting, $14 now, $15 zone, $16… the messages. Nothing where the
 * adviser or the recipient is unknown.
 */
export const insertAppointment = statement(
  'appointments.insert',
  `WITH a AS (
     INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at, email_recipient,
       sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, created_at, updated_at)
     SELECT c.company_id, c.id, $3, d.id, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14
       FROM cases c, ${adviserId} d
      WHERE c.company_id = $1 AND c.id = $2 AND ${isCustomer('$7')}
     RETURNING *
   ), m AS (
     INSERT INTO messages (${MESSAGE_COLUMNS})
     SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, $14, $14 FROM a, ${placed(16)}
     RETURNING *
   )
   SELECT ${created}::text FROM a, LATERAL (${words('SELECT * FROM m')}) w`,
);

/** $1 company, $2 case, $3 adviser, $4 email recipient: what stands in the way. */
export const judgeAppointment = statement(
  'appointments.judge',
  `SELECT EXISTS ${adviserId.replace('$4', '$3')} AS adviser, ${isCustomer('$4')} AS recipient
     FROM cases c WHERE c.company_id = $1 AND c.id = $2`,
);

/** $1 company, $2 case, $3 id, $4 the email recipient that is to be, or null */
export const findAppointment = statement(
  'appointments.find',
  `SELECT ${iso('start_at')} AS start, ${iso('end_at')} AS end, email_recipient, sms_recipient, email_reminder,
          sms_reminder, notes, location, version, ${isCustomer('$4')} AS recipient_known
     FROM appointments WHERE company_id = $1 AND case_id = $2 AND id = $3 AND deleted_at IS NULL`,
);

const updated = json({
  ...common('$14'),
  type: 'a.type',
  attended: 'a.attended',
  cancelled: 'a.cancelled',
  deleted_at: iso('a.deleted_at'),
  email_recipient: `coalesce(a.email_recipient, '')`,
  video_id: 'a.video_id',
  join_url: 'a.join_url',
});

/**
 * $1 company, $2 case, $3 id, $4 the version that was read, $5 start, $6 end, $7 and $8 recipients, $9 and $10
 * reminders wanted, $11 notes, $12 location, $13 now, $14 zone, $15… messages placed,
 * $21… messages withdrawn.
 * What has gone out stays as it is. Nothing where another update came between.
 */
export const updateAppointment = statement(
  'appointments.update',
  `WITH a AS (
     UPDATE appointments
        SET start_at = $5, end_at = $6, email_recipient = $7, sms_recipient = $8, email_reminder = $9,
            sms_reminder = $10, notes = $11, location = $12, updated_at = $13, version = version + 1
      WHERE company_id = $1 AND case_id = $2 AND id = $3 AND version = $4 AND deleted_at IS NULL
     RETURNING *
   ), old AS (
     SELECT m.* FROM messages m JOIN a ON m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
   ), withdrawn AS (
     UPDATE messages m SET state = x.state, updated_at = $13
       FROM a, unnest($21::text[], $22::text[], $23::text[]) AS x (channel, kind, state)
      WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
        AND m.channel = x.channel AND m.kind = x.kind AND m.state IN ('scheduled', 'skipped')
     RETURNING m.*
   ), superseded AS (
     UPDATE messages m SET state = 'cancelled', updated_at = $13
       FROM a, ${placed(15)}
      WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
        AND n.kind = 'reminder' AND m.kind = 'reminder' AND m.channel = n.channel
        AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
     RETURNING m.*
   ), reminders AS (
     INSERT INTO messages AS m (${MESSAGE_COLUMNS})
     SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, $13, $13 FROM a, ${placed(15)} WHERE n.kind = 'reminder'
     ON CONFLICT (company_id, case_id, appointment_id, channel, start_at) WHERE kind = 'reminder'
     DO UPDATE SET state = excluded.state, due_at = excluded.due_at,
                   day_before = excluded.day_before, updated_at = excluded.updated_at
      WHERE m.state NOT IN ('sent', 'scheduled')
     RETURNING m.*
   ), confirmations AS (
     INSERT INTO messages (${MESSAGE_COLUMNS})
     SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, $13, $13 FROM a, ${placed(15)} WHERE n.kind = 'confirmation'
     ON CONFLICT (company_id, case_id, appointment_id, channel) WHERE kind = 'confirmation' AND state = 'scheduled'
     DO NOTHING
     RETURNING *
   ), changed AS (
     SELECT * FROM withdrawn UNION ALL SELECT * FROM superseded
     UNION ALL SELECT * FROM reminders UNION ALL SELECT * FROM confirmations
   )
   SELECT ${updated}::text
     FROM a, LATERAL (${words('SELECT * FROM changed UNION ALL SELECT * FROM old WHERE id NOT IN (SELECT id FROM changed)')}) w`,
);

/**
 * $1 company, $2 case, $3 id, $4 now. Nothing where an update came between: its messages would not be among those
 * that are seen here, and would go out.
 */
export const deleteAppointment = statement(
  'appointments.delete',
  `WITH seen AS MATERIALIZED (
     SELECT version FROM appointments WHERE company_id = $1 AND case_id = $2 AND id = $3 AND deleted_at IS NULL
   ), a AS (
     UPDATE appointments a SET deleted_at = $4, updated_at = $4, version = a.version + 1 FROM seen
      WHERE a.company_id = $1 AND a.case_id = $2 AND a.id = $3 AND a.version = seen.version
     RETURNING a.*
   ), m AS (
     UPDATE messages m SET state = 'cancelled', updated_at = $4 FROM a
      WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
        AND m.state IN ('scheduled', 'skipped')
   )
   SELECT ${json({ id: 'a.id', deleted_at: iso('a.deleted_at') })}::text FROM a`,
);
