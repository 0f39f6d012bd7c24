import {
  batchOf,
  columns,
  fromInput,
  isoTime,
  JSON_NULL,
  jsonObject,
  jsonRaw,
  jsonString,
  jsonUnescaped,
  nullable,
  nullableString,
  type Statement,
  toInstant,
  wallTime,
} from './sql.ts';

/** Covers only what the measured requests use: confirmations and reminders by email, one day before. */

const SCHEDULED = `'"scheduled"'`;
const ONE = `'1'`;

const common = (zone: string) => ({
  id: jsonUnescaped('a.id'),
  ...columns(nullableString, 'a', 'notes', 'location', 'sms_recipient'),
  customer_case_id: jsonUnescaped('a.case_id'),
  start_time: isoTime('a.start_at'),
  end_time: wallTime('a.end_at', zone),
  sms_confirmation: JSON_NULL,
  sms_notification: JSON_NULL,
  sms_day_before: `'0'`,
  created_at: isoTime('a.created_at'),
  updated_at: isoTime('a.updated_at'),
});

const MESSAGE_COLUMNS = `company_id, case_id, appointment_id, id, channel, kind, start_at, state, due_at, day_before,
  created_at, updated_at`;
const dayBefore = (start: string, zone: string) =>
  `((${start} AT TIME ZONE ${zone} - interval '1 day') AT TIME ZONE ${zone})`;

const created = (zone: string) =>
  jsonObject({
    ...common(zone),
    ...columns(nullableString, 'a', 'adviser_email', 'email_recipient'),
    email_confirmation: SCHEDULED,
    email_notification: SCHEDULED,
    email_day_before: ONE,
  });

/** $1 company, $2 case, $3 id, $4 adviser, $5 start, $6 end, $7 recipient, $8 notes, $9 location, $10 zone. */
export const create: Statement = {
  name: 'baseline.create_appointment',
  text: `WITH a AS (
           INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at,
             email_recipient, email_reminder, sms_reminder, notes, location, video_meeting, created_at, updated_at)
           SELECT $1, $2, $3, d.id, $4, ${toInstant('$5', '$10')}, ${toInstant('$6', '$10')}, $7, true, false, $8,
                  $9, false, now(), now()
             FROM advisers d WHERE d.company_id = $1 AND lower(d.email) = lower($4) AND d.removed_at IS NULL
           RETURNING *
         ), m AS (
           INSERT INTO messages (${MESSAGE_COLUMNS})
           SELECT $1, $2, $3, uuidv7(), 'email', 'confirmation', a.start_at, 'scheduled', now(), false, now(),
                  now() FROM a
           UNION ALL
           SELECT $1, $2, $3, uuidv7(), 'email', 'reminder', a.start_at, 'scheduled', ${dayBefore('a.start_at', '$10')},
                  true, now(), now() FROM a
         )
         SELECT ${created('$10')} FROM a`,
  batch: batchOf(
    ['uuid', 'uuid', 'uuid', 'text', 'text', 'text', 'text', 'text', 'text', 'text'],
    `, a AS (
       INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at,
         email_recipient, email_reminder, sms_reminder, notes, location, video_meeting, created_at, updated_at)
       SELECT p1, p2, p3, d.id, p4, ${toInstant('p5', 'p10')}, ${toInstant('p6', 'p10')}, p7, true, false, p8, p9,
              false, now(), now()
         FROM input JOIN advisers d ON d.company_id = p1 AND lower(d.email) = lower(p4) AND d.removed_at IS NULL
       RETURNING *
     ), m AS (
       INSERT INTO messages (${MESSAGE_COLUMNS})
       SELECT a.company_id, a.case_id, a.id, uuidv7(), 'email', 'confirmation', a.start_at, 'scheduled', now(), false,
              now(), now() FROM a
       UNION ALL
       SELECT p1, p2, p3, uuidv7(), 'email', 'reminder', a.start_at, 'scheduled', ${dayBefore('a.start_at', 'p10')},
              true, now(), now() FROM a JOIN input ON input.p3 = a.id
     )
     SELECT input.nth, ${created('p10')} FROM a JOIN input ON input.p3 = a.id`,
  ),
};

const moved = jsonObject({
  ...common('$7'),
  ...columns(nullableString, 'a', 'type', 'video_id', 'join_url'),
  ...columns(jsonRaw, 'a', 'attended', 'cancelled'),
  deleted_at: nullable(isoTime('a.deleted_at')),
  email_recipient: jsonString(`coalesce(a.email_recipient, '')`),
  email_confirmation: nullable(`(SELECT ${jsonUnescaped('m.state')} FROM messages m
    WHERE m.company_id = $1 AND m.case_id = $2 AND m.appointment_id = $3 AND m.kind = 'confirmation'
    ORDER BY m.id DESC LIMIT 1)`),
  email_notification: SCHEDULED,
  email_day_before: ONE,
});

/** $1 company, $2 case, $3 id, $4 start, $5 end, $6 notes, $7 zone. The reminder of the old start is cancelled. */
export const move: Statement = {
  name: 'baseline.move_appointment',
  text: `WITH a AS (
           UPDATE appointments
              SET start_at = ${toInstant('$4', '$7')}, end_at = ${toInstant('$5', '$7')}, notes = $6,
                  updated_at = now(), version = version + 1
            WHERE company_id = $1 AND case_id = $2 AND id = $3 AND deleted_at IS NULL
           RETURNING *
         ), gone AS (
           UPDATE messages m SET state = 'cancelled', updated_at = now() FROM a
            WHERE m.company_id = $1 AND m.case_id = $2 AND m.appointment_id = $3 AND m.kind = 'reminder'
              AND m.state = 'scheduled' AND m.start_at <> a.start_at
         ), m AS (
           INSERT INTO messages (${MESSAGE_COLUMNS})
           SELECT $1, $2, $3, uuidv7(), 'email', 'reminder', a.start_at, 'scheduled', ${dayBefore('a.start_at', '$7')},
                  true, now(), now() FROM a
           ON CONFLICT (company_id, case_id, appointment_id, channel, start_at)
             WHERE kind = 'reminder' AND resend_of IS NULL
           DO UPDATE SET state = excluded.state, due_at = excluded.due_at, updated_at = excluded.updated_at
         )
         SELECT ${moved} FROM a`,
  batch: batchOf(
    ['uuid', 'uuid', 'uuid', 'text', 'text', 'text', 'text'],
    `, a AS (
       UPDATE appointments a
          SET start_at = ${toInstant('p4', 'p7')}, end_at = ${toInstant('p5', 'p7')}, notes = p6, updated_at = now(),
              version = version + 1
         FROM input WHERE a.company_id = p1 AND a.case_id = p2 AND a.id = p3 AND a.deleted_at IS NULL
       RETURNING a.*
     ), gone AS (
       UPDATE messages m SET state = 'cancelled', updated_at = now() FROM a
        WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
          AND m.kind = 'reminder' AND m.state = 'scheduled' AND m.start_at <> a.start_at
     ), m AS (
       INSERT INTO messages (${MESSAGE_COLUMNS})
       SELECT p1, p2, p3, uuidv7(), 'email', 'reminder', a.start_at, 'scheduled', ${dayBefore('a.start_at', 'p7')},
              true, now(), now() FROM a JOIN input ON input.p3 = a.id
       ON CONFLICT (company_id, case_id, appointment_id, channel, start_at)
         WHERE kind = 'reminder' AND resend_of IS NULL
       DO UPDATE SET state = excluded.state, due_at = excluded.due_at, updated_at = excluded.updated_at
     )
     SELECT input.nth, ${fromInput(moved)} FROM a JOIN input ON input.p3 = a.id`,
  ),
};

const removed = jsonObject({ id: jsonUnescaped('a.id'), deleted_at: isoTime('a.deleted_at') });

/** $1 company, $2 case, $3 id. Scheduled messages are cancelled, and the meeting is removed. */
export const remove: Statement = {
  name: 'baseline.delete_appointment',
  text: `WITH a AS (
           UPDATE appointments SET deleted_at = now(), updated_at = now(), version = version + 1
            WHERE company_id = $1 AND case_id = $2 AND id = $3 AND deleted_at IS NULL
           RETURNING *
         ), m AS (
           UPDATE messages m SET state = 'cancelled', updated_at = now() FROM a
            WHERE m.company_id = $1 AND m.case_id = $2 AND m.appointment_id = $3 AND m.state = 'scheduled'
         ), g AS (
           UPDATE meetings g
              SET wished = false, wanted = g.wanted + 1, state = 'pending', due_at = now(), updated_at = now()
             FROM a WHERE g.company_id = $1 AND g.case_id = $2 AND g.appointment_id = $3 AND g.wished
         )
         SELECT ${removed} FROM a`,
  batch: batchOf(
    ['uuid', 'uuid', 'uuid'],
    `, a AS (
       UPDATE appointments a SET deleted_at = now(), updated_at = now(), version = version + 1
         FROM input WHERE a.company_id = p1 AND a.case_id = p2 AND a.id = p3 AND a.deleted_at IS NULL
       RETURNING a.*, input.nth
     ), m AS (
       UPDATE messages m SET state = 'cancelled', updated_at = now() FROM a
        WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
          AND m.state = 'scheduled'
     ), g AS (
       UPDATE meetings g
          SET wished = false, wanted = g.wanted + 1, state = 'pending', due_at = now(), updated_at = now()
         FROM a
        WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.wished
     )
     SELECT a.nth, ${removed} FROM a`,
  ),
};
