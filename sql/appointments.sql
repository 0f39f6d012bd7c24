-- appointments.cancel+confirmations (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::uuid[] AS message_ids, $13::text[] AS message_channels, $14::text[] AS message_kinds, $15::text[] AS message_states, $16::timestamptz[] AS message_due_at, $17::boolean[] AS message_day_before, 1 AS nth), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.cancelled', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), confirmations AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
   WHERE n.kind = 'confirmation'
  ON CONFLICT (company_id, case_id, appointment_id, channel) WHERE kind = 'confirmation' AND state = 'scheduled'
  DO NOTHING
  RETURNING *
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth), LATERAL (
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                 (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
            FROM (SELECT id, channel, kind, start_at, state, day_before, true AS written FROM confirmations
            UNION ALL SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
           ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states;

-- appointments.cancel+meeting+states (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::text AS email_confirmation, $13::text AS email_notification, $14::int AS email_day_before, $15::text AS sms_confirmation, $16::text AS sms_notification, $17::int AS sms_day_before, 1 AS nth), a AS (
      UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, meeting_pending = a.video_meeting AND a.cancelled = 1 AND input.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.cancelled', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.cancel+meeting+states* (batch form)
  WITH input AS (SELECT company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::json[], $6::timestamptz[], $7::json[], $8::text[], $9::int[], $10::int[], $11::text[], $12::text[], $13::text[], $14::int[], $15::text[], $16::text[], $17::int[]) WITH ORDINALITY AS batch (company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth)), a AS (
      UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, meeting_pending = a.video_meeting AND a.cancelled = 1 AND input.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.cancelled', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.cancel+reminders+meeting+states (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::uuid[] AS message_ids, $13::text[] AS message_channels, $14::text[] AS message_kinds, $15::text[] AS message_states, $16::timestamptz[] AS message_due_at, $17::boolean[] AS message_day_before, $18::text[] AS reminder_channels, $19::text AS email_confirmation, $20::text AS email_notification, $21::int AS email_day_before, $22::text AS sms_confirmation, $23::text AS sms_notification, $24::int AS sms_day_before, 1 AS nth), a AS (
      UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, meeting_pending = a.video_meeting AND a.cancelled = 1 AND input.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.cancelled', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), superseded AS (
    UPDATE messages m SET state = 'cancelled', updated_at = a.now
      FROM a JOIN input USING (nth)
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
       AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
  ), reminders AS (
    INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
    SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
      FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                   input.message_due_at, input.message_day_before)
        AS n (id, channel, kind, state, due_at, day_before)
     WHERE n.kind = 'reminder'
    RETURNING *
  ), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.cancel+reminders+meeting+states* (batch form)
  WITH input AS (SELECT company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, message_ids::uuid[], message_channels::text[], message_kinds::text[], message_states::text[], message_due_at::timestamptz[], message_day_before::boolean[], reminder_channels::text[], email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::json[], $6::timestamptz[], $7::json[], $8::text[], $9::int[], $10::int[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::int[], $22::text[], $23::text[], $24::int[]) WITH ORDINALITY AS batch (company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, message_ids, message_channels, message_kinds, message_states, message_due_at, message_day_before, reminder_channels, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth)), a AS (
      UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, meeting_pending = a.video_meeting AND a.cancelled = 1 AND input.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.cancelled', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), superseded AS (
    UPDATE messages m SET state = 'cancelled', updated_at = a.now
      FROM a JOIN input USING (nth)
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
       AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
  ), reminders AS (
    INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
    SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
      FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                   input.message_due_at, input.message_day_before)
        AS n (id, channel, kind, state, due_at, day_before)
     WHERE n.kind = 'reminder'
    RETURNING *
  ), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.cancel+reminders+states (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::uuid[] AS message_ids, $13::text[] AS message_channels, $14::text[] AS message_kinds, $15::text[] AS message_states, $16::timestamptz[] AS message_due_at, $17::boolean[] AS message_day_before, $18::text[] AS reminder_channels, $19::text AS email_confirmation, $20::text AS email_notification, $21::int AS email_day_before, $22::text AS sms_confirmation, $23::text AS sms_notification, $24::int AS sms_day_before, 1 AS nth), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.cancelled', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), superseded AS (
  UPDATE messages m SET state = 'cancelled', updated_at = a.now
    FROM a JOIN input USING (nth)
   WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
     AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
), reminders AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
   WHERE n.kind = 'reminder'
  RETURNING *
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.cancel+reminders+states* (batch form)
WITH input AS (SELECT company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, message_ids::uuid[], message_channels::text[], message_kinds::text[], message_states::text[], message_due_at::timestamptz[], message_day_before::boolean[], reminder_channels::text[], email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::json[], $6::timestamptz[], $7::json[], $8::text[], $9::int[], $10::int[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::int[], $22::text[], $23::text[], $24::int[]) WITH ORDINALITY AS batch (company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, message_ids, message_channels, message_kinds, message_states, message_due_at, message_day_before, reminder_channels, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth)), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.cancelled', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), superseded AS (
  UPDATE messages m SET state = 'cancelled', updated_at = a.now
    FROM a JOIN input USING (nth)
   WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
     AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
), reminders AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
   WHERE n.kind = 'reminder'
  RETURNING *
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.cancel+renewed (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::uuid[] AS message_ids, $13::text[] AS message_channels, $14::text[] AS message_kinds, $15::text[] AS message_states, $16::timestamptz[] AS message_due_at, $17::boolean[] AS message_day_before, $18::text[] AS reminder_channels, 1 AS nth), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.cancelled', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), superseded AS (
  UPDATE messages m SET state = 'cancelled', updated_at = a.now
    FROM a JOIN input USING (nth)
   WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
     AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
), previous AS MATERIALIZED (
  SELECT m.id, m.channel, m.state, json_build_object('id', m.id, 'appointment_id', m.appointment_id, 'customer_case_id', m.case_id, 'channel', m.channel, 'kind', m.kind, 'resend_of', m.resend_of, 'state', CASE WHEN m.state IN ('sent', 'failed') THEN m.state END, 'due_at', CASE WHEN m.state IN ('sent', 'failed') THEN to_char(m.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END, 'sent_at', to_char(m.sent_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'sent_to', m.sent_to, 'attempts', CASE WHEN m.state IN ('sent', 'failed') THEN m.attempts END, 'last_error', CASE WHEN m.state IN ('sent', 'failed') THEN m.last_error END, 'created_at', to_char(m.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) AS before
    FROM a JOIN input USING (nth) JOIN messages m ON m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
   WHERE m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels) AND m.start_at = a.start_at
     AND m.resend_of IS NULL
     FOR NO KEY UPDATE OF m
), renewed AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth) CROSS JOIN unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before) LEFT JOIN previous p ON p.channel = n.channel
   WHERE n.kind = 'reminder' AND coalesce(p.state NOT IN ('sent', 'sending', 'scheduled'), true)
  ON CONFLICT (company_id, case_id, appointment_id, channel, start_at)
    WHERE kind = 'reminder' AND resend_of IS NULL
  DO UPDATE SET state = excluded.state, due_at = excluded.due_at, day_before = excluded.day_before,
                updated_at = excluded.updated_at, attempts = 0, doubts = 0, last_error = NULL, lease_by = NULL,
                lease_until = NULL
  RETURNING *
), rescheduled AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT m.company_id, m.case_id, m.id, 'message.rescheduled', a.now::timestamptz, a.origin::json, p.before
     FROM renewed m JOIN previous p ON p.id = m.id JOIN a ON m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id WHERE p.state = 'failed'
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth), LATERAL (
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                 (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
            FROM (SELECT id, channel, kind, start_at, state, day_before, true AS written FROM renewed
            UNION ALL SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
           ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states;

-- appointments.cancel+states (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::text AS email_confirmation, $13::text AS email_notification, $14::int AS email_day_before, $15::text AS sms_confirmation, $16::text AS sms_notification, $17::int AS sms_day_before, 1 AS nth), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.cancelled', a.now::timestamptz, a.origin::json, a.was
     FROM a
  )
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.cancel+states* (batch form)
WITH input AS (SELECT company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::json[], $6::timestamptz[], $7::json[], $8::text[], $9::int[], $10::int[], $11::text[], $12::text[], $13::text[], $14::int[], $15::text[], $16::text[], $17::int[]) WITH ORDINALITY AS batch (company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth)), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.cancelled', a.now::timestamptz, a.origin::json, a.was
     FROM a
  )
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.cancel+states keyed (writes; pool: short)
WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::text AS email_confirmation, $13::text AS email_notification, $14::int AS email_day_before, $15::text AS sms_confirmation, $16::text AS sms_notification, $17::int AS sms_day_before, $18::uuid AS credential_id, $19::bytea AS key_sha256, $20::bytea AS request_sha256, $21::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL),
input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::text AS email_confirmation, $13::text AS email_notification, $14::int AS email_day_before, $15::text AS sms_confirmation, $16::text AS sms_notification, $17::int AS sms_day_before, $18::uuid AS credential_id, $19::bytea AS key_sha256, $20::bytea AS request_sha256, $21::text AS etag_suffix, 1 AS nth FROM guard), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.cancelled', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), answer AS (
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth)
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- appointments.cancel+states keyed* (batch form)
WITH input AS MATERIALIZED (
  WITH input AS (SELECT company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, credential_id, key_sha256, request_sha256, etag_suffix, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::json[], $6::timestamptz[], $7::json[], $8::text[], $9::int[], $10::int[], $11::text[], $12::text[], $13::text[], $14::int[], $15::text[], $16::text[], $17::int[], $18::uuid[], $19::bytea[], $20::bytea[], $21::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, credential_id, key_sha256, request_sha256, etag_suffix, nth))
  SELECT * FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.cancelled', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), answer AS (
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth)
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- appointments.cancel+withdrawn (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::text[] AS withdrawn_channels, $13::text[] AS withdrawn_kinds, $14::text[] AS withdrawn_states, 1 AS nth), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.cancelled', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), withdrawn AS (
  UPDATE messages m
     SET state = CASE m.state WHEN 'sending' THEN m.state ELSE x.state END,
         withdrawn = m.state = 'sending' AND m.kind <> 'reminder', updated_at = a.now
    FROM a JOIN input USING (nth), unnest(input.withdrawn_channels, input.withdrawn_kinds, input.withdrawn_states)
      AS x (channel, kind, state)
   WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
     AND m.channel = x.channel AND m.kind = x.kind
     AND (m.state IN ('scheduled', 'sending') OR m.state = 'skipped' AND (m.kind = 'reminder' OR a.cancelled = 0))
  RETURNING m.*
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth), LATERAL (
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                 (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
            FROM (SELECT id, channel, kind, start_at, state, day_before, true AS written FROM withdrawn
            UNION ALL SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
           ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states;

-- appointments.cancel+withdrawn+cancellations+meeting (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::text[] AS withdrawn_channels, $13::text[] AS withdrawn_kinds, $14::text[] AS withdrawn_states, $15::uuid AS cancellation_id, 1 AS nth), a AS (
      UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, meeting_pending = a.video_meeting AND a.cancelled = 1 AND input.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.cancelled', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), withdrawn AS (
    UPDATE messages m
       SET state = CASE m.state WHEN 'sending' THEN m.state ELSE x.state END,
           withdrawn = m.state = 'sending' AND m.kind <> 'reminder', updated_at = a.now
      FROM a JOIN input USING (nth), unnest(input.withdrawn_channels, input.withdrawn_kinds, input.withdrawn_states)
        AS x (channel, kind, state)
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
       AND m.channel = x.channel AND m.kind = x.kind
       AND (m.state IN ('scheduled', 'sending') OR m.state = 'skipped' AND (m.kind = 'reminder' OR a.cancelled = 0))
    RETURNING m.*
  ), cancellations AS (INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at, recipient)
     SELECT a.company_id, a.case_id, a.id, a.start_at,
            (left(input.cancellation_id::text, 19) || substr(gen_random_uuid()::text, 20))::uuid,
            r.channel, 'cancellation', 'scheduled', a.now, false, a.now, a.now, r.recipient
       FROM a JOIN input USING (nth) CROSS JOIN LATERAL (
SELECT c.channel, c.recipient FROM messages c
 WHERE c.company_id = a.company_id AND c.case_id = a.case_id AND c.appointment_id = a.id AND c.state IN ('sending', 'sent') AND c.kind <> 'cancellation' AND c.recipient IS NOT NULL AND c.sequence > 0 AND NOT EXISTS (
   SELECT 1 FROM messages later
    WHERE later.company_id = a.company_id AND later.case_id = a.case_id AND later.appointment_id = a.id AND later.state IN ('sending', 'sent') AND later.channel = c.channel AND lower(coalesce(later.sent_to, later.recipient)) = lower(coalesce(c.sent_to, c.recipient))
      AND CASE later.kind WHEN 'cancellation' THEN later.sequence >= c.sequence
                          ELSE (later.sequence, later.id) > (c.sequence, c.id) END)) r
      WHERE a.end_at > a.now
     ON CONFLICT (company_id, case_id, appointment_id, channel, recipient)
       WHERE kind = 'cancellation' AND state = 'scheduled'
     DO NOTHING), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth), LATERAL (
    SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
           max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
           max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
           max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
           coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
           coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
      FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                   (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
              FROM (SELECT id, channel, kind, start_at, state, day_before, true AS written FROM withdrawn
              UNION ALL SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
             ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states;

-- appointments.cancel+withdrawn+reminders+meeting (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::text[] AS withdrawn_channels, $13::text[] AS withdrawn_kinds, $14::text[] AS withdrawn_states, $15::uuid[] AS message_ids, $16::text[] AS message_channels, $17::text[] AS message_kinds, $18::text[] AS message_states, $19::timestamptz[] AS message_due_at, $20::boolean[] AS message_day_before, $21::text[] AS reminder_channels, 1 AS nth), a AS (
      UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, meeting_pending = a.video_meeting AND a.cancelled = 1 AND input.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.cancelled', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), withdrawn AS (
    UPDATE messages m
       SET state = CASE m.state WHEN 'sending' THEN m.state ELSE x.state END,
           withdrawn = m.state = 'sending' AND m.kind <> 'reminder', updated_at = a.now
      FROM a JOIN input USING (nth), unnest(input.withdrawn_channels, input.withdrawn_kinds, input.withdrawn_states)
        AS x (channel, kind, state)
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
       AND m.channel = x.channel AND m.kind = x.kind
       AND (m.state IN ('scheduled', 'sending') OR m.state = 'skipped' AND (m.kind = 'reminder' OR a.cancelled = 0))
    RETURNING m.*
  ), superseded AS (
    UPDATE messages m SET state = 'cancelled', updated_at = a.now
      FROM a JOIN input USING (nth)
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
       AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
  ), reminders AS (
    INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
    SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
      FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                   input.message_due_at, input.message_day_before)
        AS n (id, channel, kind, state, due_at, day_before)
     WHERE n.kind = 'reminder'
    RETURNING *
  ), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth), LATERAL (
    SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
           max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
           max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
           max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
           coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
           coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
      FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                   (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
              FROM (SELECT id, channel, kind, start_at, state, day_before, true AS written FROM withdrawn
              UNION ALL SELECT id, channel, kind, start_at, state, day_before, true AS written FROM reminders
              UNION ALL SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
             ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states;

-- appointments.delete (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::uuid AS cancellation_id, $5::timestamptz AS now, $6::json AS origin, 1 AS nth), a AS (
      UPDATE appointments a SET deleted_at = input.now, updated_at = input.now, version = a.version + 1
        FROM input, appointments seen
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND a.version = seen.version AND a.deleted_at IS NULL
      RETURNING a.company_id, a.case_id, a.id, a.start_at, a.end_at, a.video_meeting, a.cancelled, a.deleted_at, input.nth, input.now, input.origin, json_build_object('appointments', seen) AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.deleted', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), withdrawn AS (
    UPDATE messages m SET state = 'cancelled', updated_at = a.now
      FROM a
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.state = 'scheduled' AND m.kind <> 'cancellation'
  ), cancellations AS (
    INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at, recipient)
     SELECT a.company_id, a.case_id, a.id, a.start_at,
            (left(input.cancellation_id::text, 19) || substr(gen_random_uuid()::text, 20))::uuid,
            r.channel, 'cancellation', 'scheduled', a.now, false, a.now, a.now, r.recipient
       FROM a JOIN input USING (nth) CROSS JOIN LATERAL (
SELECT c.channel, c.recipient FROM messages c
 WHERE c.company_id = a.company_id AND c.case_id = a.case_id AND c.appointment_id = a.id AND c.state IN ('sending', 'sent') AND c.kind <> 'cancellation' AND c.recipient IS NOT NULL AND c.sequence > 0 AND NOT EXISTS (
   SELECT 1 FROM messages later
    WHERE later.company_id = a.company_id AND later.case_id = a.case_id AND later.appointment_id = a.id AND later.state IN ('sending', 'sent') AND later.channel = c.channel AND lower(coalesce(later.sent_to, later.recipient)) = lower(coalesce(c.sent_to, c.recipient))
      AND CASE later.kind WHEN 'cancellation' THEN later.sequence >= c.sequence
                          ELSE (later.sequence, later.id) > (c.sequence, c.id) END)) r
      WHERE a.end_at > a.now
     ON CONFLICT (company_id, case_id, appointment_id, channel, recipient)
       WHERE kind = 'cancellation' AND state = 'scheduled'
     DO NOTHING
  ), meeting AS (
    UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0)
  )
  SELECT nth, NULL AS version, json_build_object('id', a.id, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text AS json FROM a;

-- appointments.delete* (batch form)
  WITH input AS (SELECT company_id, case_id, id, cancellation_id, now, origin, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::json[]) WITH ORDINALITY AS batch (company_id, case_id, id, cancellation_id, now, origin, nth)), a AS (
      UPDATE appointments a SET deleted_at = input.now, updated_at = input.now, version = a.version + 1
        FROM input, appointments seen
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND a.version = seen.version AND a.deleted_at IS NULL
      RETURNING a.company_id, a.case_id, a.id, a.start_at, a.end_at, a.video_meeting, a.cancelled, a.deleted_at, input.nth, input.now, input.origin, json_build_object('appointments', seen) AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.deleted', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), withdrawn AS (
    UPDATE messages m SET state = 'cancelled', updated_at = a.now
      FROM a
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.state = 'scheduled' AND m.kind <> 'cancellation'
  ), cancellations AS (
    INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at, recipient)
     SELECT a.company_id, a.case_id, a.id, a.start_at,
            (left(input.cancellation_id::text, 19) || substr(gen_random_uuid()::text, 20))::uuid,
            r.channel, 'cancellation', 'scheduled', a.now, false, a.now, a.now, r.recipient
       FROM a JOIN input USING (nth) CROSS JOIN LATERAL (
SELECT c.channel, c.recipient FROM messages c
 WHERE c.company_id = a.company_id AND c.case_id = a.case_id AND c.appointment_id = a.id AND c.state IN ('sending', 'sent') AND c.kind <> 'cancellation' AND c.recipient IS NOT NULL AND c.sequence > 0 AND NOT EXISTS (
   SELECT 1 FROM messages later
    WHERE later.company_id = a.company_id AND later.case_id = a.case_id AND later.appointment_id = a.id AND later.state IN ('sending', 'sent') AND later.channel = c.channel AND lower(coalesce(later.sent_to, later.recipient)) = lower(coalesce(c.sent_to, c.recipient))
      AND CASE later.kind WHEN 'cancellation' THEN later.sequence >= c.sequence
                          ELSE (later.sequence, later.id) > (c.sequence, c.id) END)) r
      WHERE a.end_at > a.now
     ON CONFLICT (company_id, case_id, appointment_id, channel, recipient)
       WHERE kind = 'cancellation' AND state = 'scheduled'
     DO NOTHING
  ), meeting AS (
    UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0)
  )
  SELECT nth, NULL AS version, json_build_object('id', a.id, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text AS json FROM a;

-- appointments.delete keyed (writes; pool: short)
  WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::uuid AS cancellation_id, $5::timestamptz AS now, $6::json AS origin, $7::uuid AS credential_id, $8::bytea AS key_sha256, $9::bytea AS request_sha256, $10::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
      SELECT k.created_at FROM idempotency_keys k
       WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
         AND k.key_sha256 = input.key_sha256) IS NULL),
  input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::uuid AS cancellation_id, $5::timestamptz AS now, $6::json AS origin, $7::uuid AS credential_id, $8::bytea AS key_sha256, $9::bytea AS request_sha256, $10::text AS etag_suffix, 1 AS nth FROM guard), a AS (
      UPDATE appointments a SET deleted_at = input.now, updated_at = input.now, version = a.version + 1
        FROM input, appointments seen
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND a.version = seen.version AND a.deleted_at IS NULL
      RETURNING a.company_id, a.case_id, a.id, a.start_at, a.end_at, a.video_meeting, a.cancelled, a.deleted_at, input.nth, input.now, input.origin, json_build_object('appointments', seen) AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.deleted', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), withdrawn AS (
    UPDATE messages m SET state = 'cancelled', updated_at = a.now
      FROM a
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.state = 'scheduled' AND m.kind <> 'cancellation'
  ), cancellations AS (
    INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at, recipient)
     SELECT a.company_id, a.case_id, a.id, a.start_at,
            (left(input.cancellation_id::text, 19) || substr(gen_random_uuid()::text, 20))::uuid,
            r.channel, 'cancellation', 'scheduled', a.now, false, a.now, a.now, r.recipient
       FROM a JOIN input USING (nth) CROSS JOIN LATERAL (
SELECT c.channel, c.recipient FROM messages c
 WHERE c.company_id = a.company_id AND c.case_id = a.case_id AND c.appointment_id = a.id AND c.state IN ('sending', 'sent') AND c.kind <> 'cancellation' AND c.recipient IS NOT NULL AND c.sequence > 0 AND NOT EXISTS (
   SELECT 1 FROM messages later
    WHERE later.company_id = a.company_id AND later.case_id = a.case_id AND later.appointment_id = a.id AND later.state IN ('sending', 'sent') AND later.channel = c.channel AND lower(coalesce(later.sent_to, later.recipient)) = lower(coalesce(c.sent_to, c.recipient))
      AND CASE later.kind WHEN 'cancellation' THEN later.sequence >= c.sequence
                          ELSE (later.sequence, later.id) > (c.sequence, c.id) END)) r
      WHERE a.end_at > a.now
     ON CONFLICT (company_id, case_id, appointment_id, channel, recipient)
       WHERE kind = 'cancellation' AND state = 'scheduled'
     DO NOTHING
  ), meeting AS (
    UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0)
  ), answer AS (
    SELECT nth, NULL AS version, json_build_object('id', a.id, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text AS json FROM a
  ), stored AS (
    INSERT INTO idempotency_keys
      (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
    SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
           '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
           answer.json, input.now
      FROM answer JOIN input USING (nth))
  SELECT nth, version, json FROM answer;

-- appointments.delete keyed* (batch form)
  WITH input AS MATERIALIZED (
    WITH input AS (SELECT company_id, case_id, id, cancellation_id, now, origin, credential_id, key_sha256, request_sha256, etag_suffix, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::json[], $7::uuid[], $8::bytea[], $9::bytea[], $10::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, cancellation_id, now, origin, credential_id, key_sha256, request_sha256, etag_suffix, nth))
    SELECT * FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
      SELECT k.created_at FROM idempotency_keys k
       WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
         AND k.key_sha256 = input.key_sha256) IS NULL), a AS (
      UPDATE appointments a SET deleted_at = input.now, updated_at = input.now, version = a.version + 1
        FROM input, appointments seen
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND a.version = seen.version AND a.deleted_at IS NULL
      RETURNING a.company_id, a.case_id, a.id, a.start_at, a.end_at, a.video_meeting, a.cancelled, a.deleted_at, input.nth, input.now, input.origin, json_build_object('appointments', seen) AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.deleted', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), withdrawn AS (
    UPDATE messages m SET state = 'cancelled', updated_at = a.now
      FROM a
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.state = 'scheduled' AND m.kind <> 'cancellation'
  ), cancellations AS (
    INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at, recipient)
     SELECT a.company_id, a.case_id, a.id, a.start_at,
            (left(input.cancellation_id::text, 19) || substr(gen_random_uuid()::text, 20))::uuid,
            r.channel, 'cancellation', 'scheduled', a.now, false, a.now, a.now, r.recipient
       FROM a JOIN input USING (nth) CROSS JOIN LATERAL (
SELECT c.channel, c.recipient FROM messages c
 WHERE c.company_id = a.company_id AND c.case_id = a.case_id AND c.appointment_id = a.id AND c.state IN ('sending', 'sent') AND c.kind <> 'cancellation' AND c.recipient IS NOT NULL AND c.sequence > 0 AND NOT EXISTS (
   SELECT 1 FROM messages later
    WHERE later.company_id = a.company_id AND later.case_id = a.case_id AND later.appointment_id = a.id AND later.state IN ('sending', 'sent') AND later.channel = c.channel AND lower(coalesce(later.sent_to, later.recipient)) = lower(coalesce(c.sent_to, c.recipient))
      AND CASE later.kind WHEN 'cancellation' THEN later.sequence >= c.sequence
                          ELSE (later.sequence, later.id) > (c.sequence, c.id) END)) r
      WHERE a.end_at > a.now
     ON CONFLICT (company_id, case_id, appointment_id, channel, recipient)
       WHERE kind = 'cancellation' AND state = 'scheduled'
     DO NOTHING
  ), meeting AS (
    UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0)
  ), answer AS (
    SELECT nth, NULL AS version, json_build_object('id', a.id, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text AS json FROM a
  ), stored AS (
    INSERT INTO idempotency_keys
      (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
    SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
           '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
           answer.json, input.now
      FROM answer JOIN input USING (nth))
  SELECT nth, version, json FROM answer;

-- appointments.diary (reads; pool: search)
SELECT (SELECT coalesce(json_agg(json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', ($3::text::text || (floor(extract(epoch FROM a.end_at)) + 140000000000)::text), 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'end_time_utc', to_char(a.end_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'outcome', (CASE WHEN a.cancelled = 1 THEN 'cancelled' WHEN a.attended = 1 THEN 'attended' ELSE 'none' END), 'external_id', a.external_id, 'case', json_build_object('id', a.case_id, 'reference', (SELECT c.reference FROM cases c
       WHERE $9::boolean AND c.company_id = a.company_id AND c.id = a.case_id))) ORDER BY a.start_at, a.id), '[]')::text
          FROM (SELECT a.* FROM appointments a
       WHERE a.company_id = $1::uuid AND a.adviser_id IN (SELECT d.id FROM advisers d
    WHERE d.company_id = $1::uuid AND lower(d.email) = lower($2::text) AND d.removed_at IS NULL) AND a.start_at >= coalesce($4::timestamptz, '-infinity') AND a.start_at < coalesce($5::timestamptz, 'infinity')
         AND ($6::boolean IS NULL OR (a.deleted_at IS NOT NULL) = $6::boolean)
                 ORDER BY a.start_at, a.id LIMIT $7::int OFFSET $8::int) a,
               LATERAL (
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                 (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
            FROM (SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
           ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states) AS json,
       (SELECT count(*)::int FROM appointments a
       WHERE a.company_id = $1::uuid AND a.adviser_id IN (SELECT d.id FROM advisers d
    WHERE d.company_id = $1::uuid AND lower(d.email) = lower($2::text) AND d.removed_at IS NULL) AND a.start_at >= coalesce($4::timestamptz, '-infinity') AND a.start_at < coalesce($5::timestamptz, 'infinity')
         AND ($6::boolean IS NULL OR (a.deleted_at IS NOT NULL) = $6::boolean)) AS total
 WHERE EXISTS (SELECT d.id FROM advisers d
    WHERE d.company_id = $1::uuid AND lower(d.email) = lower($2::text) AND d.removed_at IS NULL);

-- appointments.find_adviser_of_list (reads; pool: short)
SELECT d.id FROM advisers d
 WHERE d.company_id = $1::uuid AND lower(d.email) = lower($2::text) AND d.removed_at IS NULL;

-- appointments.find_by_external_id (reads; pool: short)
SELECT a.id, a.case_id AS case_id FROM appointments a WHERE a.company_id = $1::uuid AND a.external_id = $2::text
AND a.deleted_at IS NULL;

-- appointments.insert (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS adviser_email, $5::timestamptz AS start_at, $6::timestamptz AS end_at, $7::text AS email_recipient, $8::text AS sms_recipient, $9::boolean AS email_reminder, $10::boolean AS sms_reminder, $11::text AS notes, $12::text AS location, $13::boolean AS video_meeting, $14::uuid[] AS message_ids, $15::text[] AS message_channels, $16::text[] AS message_kinds, $17::text[] AS message_states, $18::timestamptz[] AS message_due_at, $19::boolean[] AS message_day_before, $20::text AS email_confirmation, $21::text AS email_notification, $22::int AS email_day_before, $23::text AS sms_confirmation, $24::text AS sms_notification, $25::int AS sms_day_before, $26::text AS end_time, $27::timestamptz AS now, $28::json AS origin, 1 AS nth), inserted AS (
  INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at, email_recipient,
    sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, meeting_pending, created_at,
    updated_at)
  SELECT c.company_id, c.id, input.id, d.id, input.adviser_email, input.start_at, input.end_at,
         input.email_recipient, input.sms_recipient, input.email_reminder, input.sms_reminder,
         input.notes, input.location, input.video_meeting,
         false,
         input.now, input.now
    FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
   CROSS JOIN LATERAL (
    SELECT d.id, d.video_provider FROM advisers d
     WHERE d.company_id = input.company_id AND lower(d.email) = lower(input.adviser_email) AND d.active AND d.removed_at IS NULL
    OFFSET 0) d
  RETURNING *
), a AS (
  SELECT inserted.*, input.nth, input.now, input.origin
    FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
), m AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT a.company_id, a.case_id, a.id, 'appointment.created', a.now::timestamptz, a.origin::json
     FROM a
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "adviser_email" : ' || to_json(a.adviser_email)::text || ', "email_recipient" : ' || coalesce(to_json(a.email_recipient)::text, 'null') || '}') AS json FROM a JOIN input USING (nth);

-- appointments.insert* (batch form)
WITH input AS (SELECT company_id, case_id, id, adviser_email, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, message_ids::uuid[], message_channels::text[], message_kinds::text[], message_states::text[], message_due_at::timestamptz[], message_day_before::boolean[], email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, end_time, now, origin, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::text[], $9::boolean[], $10::boolean[], $11::text[], $12::text[], $13::boolean[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::int[], $23::text[], $24::text[], $25::int[], $26::text[], $27::timestamptz[], $28::json[]) WITH ORDINALITY AS batch (company_id, case_id, id, adviser_email, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, message_ids, message_channels, message_kinds, message_states, message_due_at, message_day_before, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, end_time, now, origin, nth)), inserted AS (
  INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at, email_recipient,
    sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, meeting_pending, created_at,
    updated_at)
  SELECT c.company_id, c.id, input.id, d.id, input.adviser_email, input.start_at, input.end_at,
         input.email_recipient, input.sms_recipient, input.email_reminder, input.sms_reminder,
         input.notes, input.location, input.video_meeting,
         false,
         input.now, input.now
    FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
   CROSS JOIN LATERAL (
    SELECT d.id, d.video_provider FROM advisers d
     WHERE d.company_id = input.company_id AND lower(d.email) = lower(input.adviser_email) AND d.active AND d.removed_at IS NULL
    OFFSET 0) d
  RETURNING *
), a AS (
  SELECT inserted.*, input.nth, input.now, input.origin
    FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
), m AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT a.company_id, a.case_id, a.id, 'appointment.created', a.now::timestamptz, a.origin::json
     FROM a
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "adviser_email" : ' || to_json(a.adviser_email)::text || ', "email_recipient" : ' || coalesce(to_json(a.email_recipient)::text, 'null') || '}') AS json FROM a JOIN input USING (nth);

-- appointments.insert keyed (writes; pool: short)
WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS adviser_email, $5::timestamptz AS start_at, $6::timestamptz AS end_at, $7::text AS email_recipient, $8::text AS sms_recipient, $9::boolean AS email_reminder, $10::boolean AS sms_reminder, $11::text AS notes, $12::text AS location, $13::boolean AS video_meeting, $14::uuid[] AS message_ids, $15::text[] AS message_channels, $16::text[] AS message_kinds, $17::text[] AS message_states, $18::timestamptz[] AS message_due_at, $19::boolean[] AS message_day_before, $20::text AS email_confirmation, $21::text AS email_notification, $22::int AS email_day_before, $23::text AS sms_confirmation, $24::text AS sms_notification, $25::int AS sms_day_before, $26::text AS end_time, $27::timestamptz AS now, $28::json AS origin, $29::uuid AS credential_id, $30::bytea AS key_sha256, $31::bytea AS request_sha256, $32::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL),
input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS adviser_email, $5::timestamptz AS start_at, $6::timestamptz AS end_at, $7::text AS email_recipient, $8::text AS sms_recipient, $9::boolean AS email_reminder, $10::boolean AS sms_reminder, $11::text AS notes, $12::text AS location, $13::boolean AS video_meeting, $14::uuid[] AS message_ids, $15::text[] AS message_channels, $16::text[] AS message_kinds, $17::text[] AS message_states, $18::timestamptz[] AS message_due_at, $19::boolean[] AS message_day_before, $20::text AS email_confirmation, $21::text AS email_notification, $22::int AS email_day_before, $23::text AS sms_confirmation, $24::text AS sms_notification, $25::int AS sms_day_before, $26::text AS end_time, $27::timestamptz AS now, $28::json AS origin, $29::uuid AS credential_id, $30::bytea AS key_sha256, $31::bytea AS request_sha256, $32::text AS etag_suffix, 1 AS nth FROM guard), inserted AS (
  INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at, email_recipient,
    sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, meeting_pending, created_at,
    updated_at)
  SELECT c.company_id, c.id, input.id, d.id, input.adviser_email, input.start_at, input.end_at,
         input.email_recipient, input.sms_recipient, input.email_reminder, input.sms_reminder,
         input.notes, input.location, input.video_meeting,
         false,
         input.now, input.now
    FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
   CROSS JOIN LATERAL (
    SELECT d.id, d.video_provider FROM advisers d
     WHERE d.company_id = input.company_id AND lower(d.email) = lower(input.adviser_email) AND d.active AND d.removed_at IS NULL
    OFFSET 0) d
  RETURNING *
), a AS (
  SELECT inserted.*, input.nth, input.now, input.origin
    FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
), m AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT a.company_id, a.case_id, a.id, 'appointment.created', a.now::timestamptz, a.origin::json
     FROM a
), answer AS (
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "adviser_email" : ' || to_json(a.adviser_email)::text || ', "email_recipient" : ' || coalesce(to_json(a.email_recipient)::text, 'null') || '}') AS json FROM a JOIN input USING (nth)
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- appointments.insert keyed* (batch form)
WITH input AS MATERIALIZED (
  WITH input AS (SELECT company_id, case_id, id, adviser_email, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, message_ids::uuid[], message_channels::text[], message_kinds::text[], message_states::text[], message_due_at::timestamptz[], message_day_before::boolean[], email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, end_time, now, origin, credential_id, key_sha256, request_sha256, etag_suffix, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::text[], $9::boolean[], $10::boolean[], $11::text[], $12::text[], $13::boolean[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::int[], $23::text[], $24::text[], $25::int[], $26::text[], $27::timestamptz[], $28::json[], $29::uuid[], $30::bytea[], $31::bytea[], $32::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, adviser_email, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, message_ids, message_channels, message_kinds, message_states, message_due_at, message_day_before, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, end_time, now, origin, credential_id, key_sha256, request_sha256, etag_suffix, nth))
  SELECT * FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL), inserted AS (
  INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at, email_recipient,
    sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, meeting_pending, created_at,
    updated_at)
  SELECT c.company_id, c.id, input.id, d.id, input.adviser_email, input.start_at, input.end_at,
         input.email_recipient, input.sms_recipient, input.email_reminder, input.sms_reminder,
         input.notes, input.location, input.video_meeting,
         false,
         input.now, input.now
    FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
   CROSS JOIN LATERAL (
    SELECT d.id, d.video_provider FROM advisers d
     WHERE d.company_id = input.company_id AND lower(d.email) = lower(input.adviser_email) AND d.active AND d.removed_at IS NULL
    OFFSET 0) d
  RETURNING *
), a AS (
  SELECT inserted.*, input.nth, input.now, input.origin
    FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
), m AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT a.company_id, a.case_id, a.id, 'appointment.created', a.now::timestamptz, a.origin::json
     FROM a
), answer AS (
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "adviser_email" : ' || to_json(a.adviser_email)::text || ', "email_recipient" : ' || coalesce(to_json(a.email_recipient)::text, 'null') || '}') AS json FROM a JOIN input USING (nth)
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- appointments.insert+external_id (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS adviser_email, $5::timestamptz AS start_at, $6::timestamptz AS end_at, $7::text AS email_recipient, $8::text AS sms_recipient, $9::boolean AS email_reminder, $10::boolean AS sms_reminder, $11::text AS notes, $12::text AS location, $13::boolean AS video_meeting, $14::uuid[] AS message_ids, $15::text[] AS message_channels, $16::text[] AS message_kinds, $17::text[] AS message_states, $18::timestamptz[] AS message_due_at, $19::boolean[] AS message_day_before, $20::text AS email_confirmation, $21::text AS email_notification, $22::int AS email_day_before, $23::text AS sms_confirmation, $24::text AS sms_notification, $25::int AS sms_day_before, $26::text AS end_time, $27::timestamptz AS now, $28::json AS origin, $29::text AS external_id, 1 AS nth), inserted AS (
  INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at, email_recipient,
    sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, meeting_pending, created_at,
    updated_at, external_id)
  SELECT c.company_id, c.id, input.id, d.id, input.adviser_email, input.start_at, input.end_at,
         input.email_recipient, input.sms_recipient, input.email_reminder, input.sms_reminder,
         input.notes, input.location, input.video_meeting,
         false,
         input.now, input.now, input.external_id
    FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
   CROSS JOIN LATERAL (
    SELECT d.id, d.video_provider FROM advisers d
     WHERE d.company_id = input.company_id AND lower(d.email) = lower(input.adviser_email) AND d.active AND d.removed_at IS NULL
    OFFSET 0) d
  ON CONFLICT DO NOTHING
  RETURNING *
), a AS (
  SELECT inserted.*, input.nth, input.now, input.origin
    FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
), m AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT a.company_id, a.case_id, a.id, 'appointment.created', a.now::timestamptz, a.origin::json
     FROM a
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "adviser_email" : ' || to_json(a.adviser_email)::text || ', "email_recipient" : ' || coalesce(to_json(a.email_recipient)::text, 'null') || '}') AS json FROM a JOIN input USING (nth);

-- appointments.insert+external_id* (batch form)
WITH input AS (SELECT company_id, case_id, id, adviser_email, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, message_ids::uuid[], message_channels::text[], message_kinds::text[], message_states::text[], message_due_at::timestamptz[], message_day_before::boolean[], email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, end_time, now, origin, external_id, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::text[], $9::boolean[], $10::boolean[], $11::text[], $12::text[], $13::boolean[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::int[], $23::text[], $24::text[], $25::int[], $26::text[], $27::timestamptz[], $28::json[], $29::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, adviser_email, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, message_ids, message_channels, message_kinds, message_states, message_due_at, message_day_before, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, end_time, now, origin, external_id, nth)), inserted AS (
  INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at, email_recipient,
    sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, meeting_pending, created_at,
    updated_at, external_id)
  SELECT c.company_id, c.id, input.id, d.id, input.adviser_email, input.start_at, input.end_at,
         input.email_recipient, input.sms_recipient, input.email_reminder, input.sms_reminder,
         input.notes, input.location, input.video_meeting,
         false,
         input.now, input.now, input.external_id
    FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
   CROSS JOIN LATERAL (
    SELECT d.id, d.video_provider FROM advisers d
     WHERE d.company_id = input.company_id AND lower(d.email) = lower(input.adviser_email) AND d.active AND d.removed_at IS NULL
    OFFSET 0) d
  ON CONFLICT DO NOTHING
  RETURNING *
), a AS (
  SELECT inserted.*, input.nth, input.now, input.origin
    FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
), m AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT a.company_id, a.case_id, a.id, 'appointment.created', a.now::timestamptz, a.origin::json
     FROM a
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "adviser_email" : ' || to_json(a.adviser_email)::text || ', "email_recipient" : ' || coalesce(to_json(a.email_recipient)::text, 'null') || '}') AS json FROM a JOIN input USING (nth);

-- appointments.insert+meeting (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS adviser_email, $5::timestamptz AS start_at, $6::timestamptz AS end_at, $7::text AS email_recipient, $8::text AS sms_recipient, $9::boolean AS email_reminder, $10::boolean AS sms_reminder, $11::text AS notes, $12::text AS location, $13::boolean AS video_meeting, $14::uuid[] AS message_ids, $15::text[] AS message_channels, $16::text[] AS message_kinds, $17::text[] AS message_states, $18::timestamptz[] AS message_due_at, $19::boolean[] AS message_day_before, $20::text AS email_confirmation, $21::text AS email_notification, $22::int AS email_day_before, $23::text AS sms_confirmation, $24::text AS sms_notification, $25::int AS sms_day_before, $26::text AS end_time, $27::timestamptz AS now, $28::json AS origin, 1 AS nth), inserted AS (
  INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at, email_recipient,
    sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, meeting_pending, created_at,
    updated_at)
  SELECT c.company_id, c.id, input.id, d.id, input.adviser_email, input.start_at, input.end_at,
         input.email_recipient, input.sms_recipient, input.email_reminder, input.sms_reminder,
         input.notes, input.location, input.video_meeting,
         d.video_provider IS NOT NULL AND input.end_at > input.now,
         input.now, input.now
    FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
   CROSS JOIN LATERAL (
    SELECT d.id, d.video_provider FROM advisers d
     WHERE d.company_id = input.company_id AND lower(d.email) = lower(input.adviser_email) AND d.active AND d.removed_at IS NULL
    OFFSET 0) d
  RETURNING *
), a AS (
  SELECT inserted.*, input.nth, input.now, input.origin
    FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
), m AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT a.company_id, a.case_id, a.id, 'appointment.created', a.now::timestamptz, a.origin::json
     FROM a
), meeting AS (
  INSERT INTO meetings
    (company_id, case_id, appointment_id, start_at, end_at, wished, state, due_at, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, a.end_at, true,
         CASE WHEN a.meeting_pending THEN 'pending' ELSE 'none' END, a.now, a.now, a.now
    FROM a)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "adviser_email" : ' || to_json(a.adviser_email)::text || ', "email_recipient" : ' || coalesce(to_json(a.email_recipient)::text, 'null') || '}') AS json FROM a JOIN input USING (nth);

-- appointments.insert+meeting* (batch form)
WITH input AS (SELECT company_id, case_id, id, adviser_email, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, message_ids::uuid[], message_channels::text[], message_kinds::text[], message_states::text[], message_due_at::timestamptz[], message_day_before::boolean[], email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, end_time, now, origin, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::text[], $9::boolean[], $10::boolean[], $11::text[], $12::text[], $13::boolean[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::int[], $23::text[], $24::text[], $25::int[], $26::text[], $27::timestamptz[], $28::json[]) WITH ORDINALITY AS batch (company_id, case_id, id, adviser_email, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, message_ids, message_channels, message_kinds, message_states, message_due_at, message_day_before, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, end_time, now, origin, nth)), inserted AS (
  INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at, email_recipient,
    sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, meeting_pending, created_at,
    updated_at)
  SELECT c.company_id, c.id, input.id, d.id, input.adviser_email, input.start_at, input.end_at,
         input.email_recipient, input.sms_recipient, input.email_reminder, input.sms_reminder,
         input.notes, input.location, input.video_meeting,
         d.video_provider IS NOT NULL AND input.end_at > input.now,
         input.now, input.now
    FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
   CROSS JOIN LATERAL (
    SELECT d.id, d.video_provider FROM advisers d
     WHERE d.company_id = input.company_id AND lower(d.email) = lower(input.adviser_email) AND d.active AND d.removed_at IS NULL
    OFFSET 0) d
  RETURNING *
), a AS (
  SELECT inserted.*, input.nth, input.now, input.origin
    FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
), m AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT a.company_id, a.case_id, a.id, 'appointment.created', a.now::timestamptz, a.origin::json
     FROM a
), meeting AS (
  INSERT INTO meetings
    (company_id, case_id, appointment_id, start_at, end_at, wished, state, due_at, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, a.end_at, true,
         CASE WHEN a.meeting_pending THEN 'pending' ELSE 'none' END, a.now, a.now, a.now
    FROM a)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "adviser_email" : ' || to_json(a.adviser_email)::text || ', "email_recipient" : ' || coalesce(to_json(a.email_recipient)::text, 'null') || '}') AS json FROM a JOIN input USING (nth);

-- appointments.insert+meeting+external_id (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS adviser_email, $5::timestamptz AS start_at, $6::timestamptz AS end_at, $7::text AS email_recipient, $8::text AS sms_recipient, $9::boolean AS email_reminder, $10::boolean AS sms_reminder, $11::text AS notes, $12::text AS location, $13::boolean AS video_meeting, $14::uuid[] AS message_ids, $15::text[] AS message_channels, $16::text[] AS message_kinds, $17::text[] AS message_states, $18::timestamptz[] AS message_due_at, $19::boolean[] AS message_day_before, $20::text AS email_confirmation, $21::text AS email_notification, $22::int AS email_day_before, $23::text AS sms_confirmation, $24::text AS sms_notification, $25::int AS sms_day_before, $26::text AS end_time, $27::timestamptz AS now, $28::json AS origin, $29::text AS external_id, 1 AS nth), inserted AS (
  INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at, email_recipient,
    sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, meeting_pending, created_at,
    updated_at, external_id)
  SELECT c.company_id, c.id, input.id, d.id, input.adviser_email, input.start_at, input.end_at,
         input.email_recipient, input.sms_recipient, input.email_reminder, input.sms_reminder,
         input.notes, input.location, input.video_meeting,
         d.video_provider IS NOT NULL AND input.end_at > input.now,
         input.now, input.now, input.external_id
    FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
   CROSS JOIN LATERAL (
    SELECT d.id, d.video_provider FROM advisers d
     WHERE d.company_id = input.company_id AND lower(d.email) = lower(input.adviser_email) AND d.active AND d.removed_at IS NULL
    OFFSET 0) d
  ON CONFLICT DO NOTHING
  RETURNING *
), a AS (
  SELECT inserted.*, input.nth, input.now, input.origin
    FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
), m AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT a.company_id, a.case_id, a.id, 'appointment.created', a.now::timestamptz, a.origin::json
     FROM a
), meeting AS (
  INSERT INTO meetings
    (company_id, case_id, appointment_id, start_at, end_at, wished, state, due_at, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, a.end_at, true,
         CASE WHEN a.meeting_pending THEN 'pending' ELSE 'none' END, a.now, a.now, a.now
    FROM a)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "adviser_email" : ' || to_json(a.adviser_email)::text || ', "email_recipient" : ' || coalesce(to_json(a.email_recipient)::text, 'null') || '}') AS json FROM a JOIN input USING (nth);

-- appointments.insert+meeting+external_id* (batch form)
WITH input AS (SELECT company_id, case_id, id, adviser_email, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, message_ids::uuid[], message_channels::text[], message_kinds::text[], message_states::text[], message_due_at::timestamptz[], message_day_before::boolean[], email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, end_time, now, origin, external_id, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::text[], $9::boolean[], $10::boolean[], $11::text[], $12::text[], $13::boolean[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::int[], $23::text[], $24::text[], $25::int[], $26::text[], $27::timestamptz[], $28::json[], $29::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, adviser_email, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, message_ids, message_channels, message_kinds, message_states, message_due_at, message_day_before, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, end_time, now, origin, external_id, nth)), inserted AS (
  INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at, email_recipient,
    sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, meeting_pending, created_at,
    updated_at, external_id)
  SELECT c.company_id, c.id, input.id, d.id, input.adviser_email, input.start_at, input.end_at,
         input.email_recipient, input.sms_recipient, input.email_reminder, input.sms_reminder,
         input.notes, input.location, input.video_meeting,
         d.video_provider IS NOT NULL AND input.end_at > input.now,
         input.now, input.now, input.external_id
    FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
   CROSS JOIN LATERAL (
    SELECT d.id, d.video_provider FROM advisers d
     WHERE d.company_id = input.company_id AND lower(d.email) = lower(input.adviser_email) AND d.active AND d.removed_at IS NULL
    OFFSET 0) d
  ON CONFLICT DO NOTHING
  RETURNING *
), a AS (
  SELECT inserted.*, input.nth, input.now, input.origin
    FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
), m AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT a.company_id, a.case_id, a.id, 'appointment.created', a.now::timestamptz, a.origin::json
     FROM a
), meeting AS (
  INSERT INTO meetings
    (company_id, case_id, appointment_id, start_at, end_at, wished, state, due_at, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, a.end_at, true,
         CASE WHEN a.meeting_pending THEN 'pending' ELSE 'none' END, a.now, a.now, a.now
    FROM a)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "adviser_email" : ' || to_json(a.adviser_email)::text || ', "email_recipient" : ' || coalesce(to_json(a.email_recipient)::text, 'null') || '}') AS json FROM a JOIN input USING (nth);

-- appointments.insert+recipient (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS adviser_email, $5::timestamptz AS start_at, $6::timestamptz AS end_at, $7::text AS email_recipient, $8::text AS sms_recipient, $9::boolean AS email_reminder, $10::boolean AS sms_reminder, $11::text AS notes, $12::text AS location, $13::boolean AS video_meeting, $14::uuid[] AS message_ids, $15::text[] AS message_channels, $16::text[] AS message_kinds, $17::text[] AS message_states, $18::timestamptz[] AS message_due_at, $19::boolean[] AS message_day_before, $20::text AS email_confirmation, $21::text AS email_notification, $22::int AS email_day_before, $23::text AS sms_confirmation, $24::text AS sms_notification, $25::int AS sms_day_before, $26::text AS end_time, $27::timestamptz AS now, $28::json AS origin, 1 AS nth), inserted AS (
  INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at, email_recipient,
    sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, meeting_pending, created_at,
    updated_at)
  SELECT c.company_id, c.id, input.id, d.id, input.adviser_email, input.start_at, input.end_at,
         input.email_recipient, input.sms_recipient, input.email_reminder, input.sms_reminder,
         input.notes, input.location, input.video_meeting,
         false,
         input.now, input.now
    FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
   CROSS JOIN LATERAL (
    SELECT d.id, d.video_provider FROM advisers d
     WHERE d.company_id = input.company_id AND lower(d.email) = lower(input.adviser_email) AND d.active AND d.removed_at IS NULL
    OFFSET 0) d
   WHERE EXISTS (
    SELECT 1 FROM customers u
     WHERE u.company_id = input.company_id AND u.case_id = input.case_id AND lower(u.email) = lower(input.email_recipient)
       AND u.removed_at IS NULL)
  RETURNING *
), a AS (
  SELECT inserted.*, input.nth, input.now, input.origin
    FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
), m AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT a.company_id, a.case_id, a.id, 'appointment.created', a.now::timestamptz, a.origin::json
     FROM a
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "adviser_email" : ' || to_json(a.adviser_email)::text || ', "email_recipient" : ' || coalesce(to_json(a.email_recipient)::text, 'null') || '}') AS json FROM a JOIN input USING (nth);

-- appointments.insert+recipient* (batch form)
WITH input AS (SELECT company_id, case_id, id, adviser_email, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, message_ids::uuid[], message_channels::text[], message_kinds::text[], message_states::text[], message_due_at::timestamptz[], message_day_before::boolean[], email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, end_time, now, origin, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::text[], $9::boolean[], $10::boolean[], $11::text[], $12::text[], $13::boolean[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::int[], $23::text[], $24::text[], $25::int[], $26::text[], $27::timestamptz[], $28::json[]) WITH ORDINALITY AS batch (company_id, case_id, id, adviser_email, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, message_ids, message_channels, message_kinds, message_states, message_due_at, message_day_before, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, end_time, now, origin, nth)), inserted AS (
  INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at, email_recipient,
    sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, meeting_pending, created_at,
    updated_at)
  SELECT c.company_id, c.id, input.id, d.id, input.adviser_email, input.start_at, input.end_at,
         input.email_recipient, input.sms_recipient, input.email_reminder, input.sms_reminder,
         input.notes, input.location, input.video_meeting,
         false,
         input.now, input.now
    FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
   CROSS JOIN LATERAL (
    SELECT d.id, d.video_provider FROM advisers d
     WHERE d.company_id = input.company_id AND lower(d.email) = lower(input.adviser_email) AND d.active AND d.removed_at IS NULL
    OFFSET 0) d
   WHERE EXISTS (
    SELECT 1 FROM customers u
     WHERE u.company_id = input.company_id AND u.case_id = input.case_id AND lower(u.email) = lower(input.email_recipient)
       AND u.removed_at IS NULL)
  RETURNING *
), a AS (
  SELECT inserted.*, input.nth, input.now, input.origin
    FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
), m AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT a.company_id, a.case_id, a.id, 'appointment.created', a.now::timestamptz, a.origin::json
     FROM a
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "adviser_email" : ' || to_json(a.adviser_email)::text || ', "email_recipient" : ' || coalesce(to_json(a.email_recipient)::text, 'null') || '}') AS json FROM a JOIN input USING (nth);

-- appointments.insert+recipient+external_id (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS adviser_email, $5::timestamptz AS start_at, $6::timestamptz AS end_at, $7::text AS email_recipient, $8::text AS sms_recipient, $9::boolean AS email_reminder, $10::boolean AS sms_reminder, $11::text AS notes, $12::text AS location, $13::boolean AS video_meeting, $14::uuid[] AS message_ids, $15::text[] AS message_channels, $16::text[] AS message_kinds, $17::text[] AS message_states, $18::timestamptz[] AS message_due_at, $19::boolean[] AS message_day_before, $20::text AS email_confirmation, $21::text AS email_notification, $22::int AS email_day_before, $23::text AS sms_confirmation, $24::text AS sms_notification, $25::int AS sms_day_before, $26::text AS end_time, $27::timestamptz AS now, $28::json AS origin, $29::text AS external_id, 1 AS nth), inserted AS (
  INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at, email_recipient,
    sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, meeting_pending, created_at,
    updated_at, external_id)
  SELECT c.company_id, c.id, input.id, d.id, input.adviser_email, input.start_at, input.end_at,
         input.email_recipient, input.sms_recipient, input.email_reminder, input.sms_reminder,
         input.notes, input.location, input.video_meeting,
         false,
         input.now, input.now, input.external_id
    FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
   CROSS JOIN LATERAL (
    SELECT d.id, d.video_provider FROM advisers d
     WHERE d.company_id = input.company_id AND lower(d.email) = lower(input.adviser_email) AND d.active AND d.removed_at IS NULL
    OFFSET 0) d
   WHERE EXISTS (
    SELECT 1 FROM customers u
     WHERE u.company_id = input.company_id AND u.case_id = input.case_id AND lower(u.email) = lower(input.email_recipient)
       AND u.removed_at IS NULL)
  ON CONFLICT DO NOTHING
  RETURNING *
), a AS (
  SELECT inserted.*, input.nth, input.now, input.origin
    FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
), m AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT a.company_id, a.case_id, a.id, 'appointment.created', a.now::timestamptz, a.origin::json
     FROM a
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "adviser_email" : ' || to_json(a.adviser_email)::text || ', "email_recipient" : ' || coalesce(to_json(a.email_recipient)::text, 'null') || '}') AS json FROM a JOIN input USING (nth);

-- appointments.insert+recipient+external_id* (batch form)
WITH input AS (SELECT company_id, case_id, id, adviser_email, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, message_ids::uuid[], message_channels::text[], message_kinds::text[], message_states::text[], message_due_at::timestamptz[], message_day_before::boolean[], email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, end_time, now, origin, external_id, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::text[], $9::boolean[], $10::boolean[], $11::text[], $12::text[], $13::boolean[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::int[], $23::text[], $24::text[], $25::int[], $26::text[], $27::timestamptz[], $28::json[], $29::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, adviser_email, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, message_ids, message_channels, message_kinds, message_states, message_due_at, message_day_before, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, end_time, now, origin, external_id, nth)), inserted AS (
  INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at, email_recipient,
    sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, meeting_pending, created_at,
    updated_at, external_id)
  SELECT c.company_id, c.id, input.id, d.id, input.adviser_email, input.start_at, input.end_at,
         input.email_recipient, input.sms_recipient, input.email_reminder, input.sms_reminder,
         input.notes, input.location, input.video_meeting,
         false,
         input.now, input.now, input.external_id
    FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
   CROSS JOIN LATERAL (
    SELECT d.id, d.video_provider FROM advisers d
     WHERE d.company_id = input.company_id AND lower(d.email) = lower(input.adviser_email) AND d.active AND d.removed_at IS NULL
    OFFSET 0) d
   WHERE EXISTS (
    SELECT 1 FROM customers u
     WHERE u.company_id = input.company_id AND u.case_id = input.case_id AND lower(u.email) = lower(input.email_recipient)
       AND u.removed_at IS NULL)
  ON CONFLICT DO NOTHING
  RETURNING *
), a AS (
  SELECT inserted.*, input.nth, input.now, input.origin
    FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
), m AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT a.company_id, a.case_id, a.id, 'appointment.created', a.now::timestamptz, a.origin::json
     FROM a
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "adviser_email" : ' || to_json(a.adviser_email)::text || ', "email_recipient" : ' || coalesce(to_json(a.email_recipient)::text, 'null') || '}') AS json FROM a JOIN input USING (nth);

-- appointments.insert+recipient+meeting (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS adviser_email, $5::timestamptz AS start_at, $6::timestamptz AS end_at, $7::text AS email_recipient, $8::text AS sms_recipient, $9::boolean AS email_reminder, $10::boolean AS sms_reminder, $11::text AS notes, $12::text AS location, $13::boolean AS video_meeting, $14::uuid[] AS message_ids, $15::text[] AS message_channels, $16::text[] AS message_kinds, $17::text[] AS message_states, $18::timestamptz[] AS message_due_at, $19::boolean[] AS message_day_before, $20::text AS email_confirmation, $21::text AS email_notification, $22::int AS email_day_before, $23::text AS sms_confirmation, $24::text AS sms_notification, $25::int AS sms_day_before, $26::text AS end_time, $27::timestamptz AS now, $28::json AS origin, 1 AS nth), inserted AS (
  INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at, email_recipient,
    sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, meeting_pending, created_at,
    updated_at)
  SELECT c.company_id, c.id, input.id, d.id, input.adviser_email, input.start_at, input.end_at,
         input.email_recipient, input.sms_recipient, input.email_reminder, input.sms_reminder,
         input.notes, input.location, input.video_meeting,
         d.video_provider IS NOT NULL AND input.end_at > input.now,
         input.now, input.now
    FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
   CROSS JOIN LATERAL (
    SELECT d.id, d.video_provider FROM advisers d
     WHERE d.company_id = input.company_id AND lower(d.email) = lower(input.adviser_email) AND d.active AND d.removed_at IS NULL
    OFFSET 0) d
   WHERE EXISTS (
    SELECT 1 FROM customers u
     WHERE u.company_id = input.company_id AND u.case_id = input.case_id AND lower(u.email) = lower(input.email_recipient)
       AND u.removed_at IS NULL)
  RETURNING *
), a AS (
  SELECT inserted.*, input.nth, input.now, input.origin
    FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
), m AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT a.company_id, a.case_id, a.id, 'appointment.created', a.now::timestamptz, a.origin::json
     FROM a
), meeting AS (
  INSERT INTO meetings
    (company_id, case_id, appointment_id, start_at, end_at, wished, state, due_at, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, a.end_at, true,
         CASE WHEN a.meeting_pending THEN 'pending' ELSE 'none' END, a.now, a.now, a.now
    FROM a)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "adviser_email" : ' || to_json(a.adviser_email)::text || ', "email_recipient" : ' || coalesce(to_json(a.email_recipient)::text, 'null') || '}') AS json FROM a JOIN input USING (nth);

-- appointments.insert+recipient+meeting* (batch form)
WITH input AS (SELECT company_id, case_id, id, adviser_email, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, message_ids::uuid[], message_channels::text[], message_kinds::text[], message_states::text[], message_due_at::timestamptz[], message_day_before::boolean[], email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, end_time, now, origin, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::text[], $9::boolean[], $10::boolean[], $11::text[], $12::text[], $13::boolean[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::int[], $23::text[], $24::text[], $25::int[], $26::text[], $27::timestamptz[], $28::json[]) WITH ORDINALITY AS batch (company_id, case_id, id, adviser_email, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, message_ids, message_channels, message_kinds, message_states, message_due_at, message_day_before, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, end_time, now, origin, nth)), inserted AS (
  INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at, email_recipient,
    sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, meeting_pending, created_at,
    updated_at)
  SELECT c.company_id, c.id, input.id, d.id, input.adviser_email, input.start_at, input.end_at,
         input.email_recipient, input.sms_recipient, input.email_reminder, input.sms_reminder,
         input.notes, input.location, input.video_meeting,
         d.video_provider IS NOT NULL AND input.end_at > input.now,
         input.now, input.now
    FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
   CROSS JOIN LATERAL (
    SELECT d.id, d.video_provider FROM advisers d
     WHERE d.company_id = input.company_id AND lower(d.email) = lower(input.adviser_email) AND d.active AND d.removed_at IS NULL
    OFFSET 0) d
   WHERE EXISTS (
    SELECT 1 FROM customers u
     WHERE u.company_id = input.company_id AND u.case_id = input.case_id AND lower(u.email) = lower(input.email_recipient)
       AND u.removed_at IS NULL)
  RETURNING *
), a AS (
  SELECT inserted.*, input.nth, input.now, input.origin
    FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
), m AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT a.company_id, a.case_id, a.id, 'appointment.created', a.now::timestamptz, a.origin::json
     FROM a
), meeting AS (
  INSERT INTO meetings
    (company_id, case_id, appointment_id, start_at, end_at, wished, state, due_at, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, a.end_at, true,
         CASE WHEN a.meeting_pending THEN 'pending' ELSE 'none' END, a.now, a.now, a.now
    FROM a)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "adviser_email" : ' || to_json(a.adviser_email)::text || ', "email_recipient" : ' || coalesce(to_json(a.email_recipient)::text, 'null') || '}') AS json FROM a JOIN input USING (nth);

-- appointments.insert+recipient+meeting+external_id (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS adviser_email, $5::timestamptz AS start_at, $6::timestamptz AS end_at, $7::text AS email_recipient, $8::text AS sms_recipient, $9::boolean AS email_reminder, $10::boolean AS sms_reminder, $11::text AS notes, $12::text AS location, $13::boolean AS video_meeting, $14::uuid[] AS message_ids, $15::text[] AS message_channels, $16::text[] AS message_kinds, $17::text[] AS message_states, $18::timestamptz[] AS message_due_at, $19::boolean[] AS message_day_before, $20::text AS email_confirmation, $21::text AS email_notification, $22::int AS email_day_before, $23::text AS sms_confirmation, $24::text AS sms_notification, $25::int AS sms_day_before, $26::text AS end_time, $27::timestamptz AS now, $28::json AS origin, $29::text AS external_id, 1 AS nth), inserted AS (
  INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at, email_recipient,
    sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, meeting_pending, created_at,
    updated_at, external_id)
  SELECT c.company_id, c.id, input.id, d.id, input.adviser_email, input.start_at, input.end_at,
         input.email_recipient, input.sms_recipient, input.email_reminder, input.sms_reminder,
         input.notes, input.location, input.video_meeting,
         d.video_provider IS NOT NULL AND input.end_at > input.now,
         input.now, input.now, input.external_id
    FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
   CROSS JOIN LATERAL (
    SELECT d.id, d.video_provider FROM advisers d
     WHERE d.company_id = input.company_id AND lower(d.email) = lower(input.adviser_email) AND d.active AND d.removed_at IS NULL
    OFFSET 0) d
   WHERE EXISTS (
    SELECT 1 FROM customers u
     WHERE u.company_id = input.company_id AND u.case_id = input.case_id AND lower(u.email) = lower(input.email_recipient)
       AND u.removed_at IS NULL)
  ON CONFLICT DO NOTHING
  RETURNING *
), a AS (
  SELECT inserted.*, input.nth, input.now, input.origin
    FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
), m AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT a.company_id, a.case_id, a.id, 'appointment.created', a.now::timestamptz, a.origin::json
     FROM a
), meeting AS (
  INSERT INTO meetings
    (company_id, case_id, appointment_id, start_at, end_at, wished, state, due_at, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, a.end_at, true,
         CASE WHEN a.meeting_pending THEN 'pending' ELSE 'none' END, a.now, a.now, a.now
    FROM a)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "adviser_email" : ' || to_json(a.adviser_email)::text || ', "email_recipient" : ' || coalesce(to_json(a.email_recipient)::text, 'null') || '}') AS json FROM a JOIN input USING (nth);

-- appointments.insert+recipient+meeting+external_id* (batch form)
WITH input AS (SELECT company_id, case_id, id, adviser_email, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, message_ids::uuid[], message_channels::text[], message_kinds::text[], message_states::text[], message_due_at::timestamptz[], message_day_before::boolean[], email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, end_time, now, origin, external_id, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::text[], $9::boolean[], $10::boolean[], $11::text[], $12::text[], $13::boolean[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::int[], $23::text[], $24::text[], $25::int[], $26::text[], $27::timestamptz[], $28::json[], $29::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, adviser_email, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, message_ids, message_channels, message_kinds, message_states, message_due_at, message_day_before, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, end_time, now, origin, external_id, nth)), inserted AS (
  INSERT INTO appointments (company_id, case_id, id, adviser_id, adviser_email, start_at, end_at, email_recipient,
    sms_recipient, email_reminder, sms_reminder, notes, location, video_meeting, meeting_pending, created_at,
    updated_at, external_id)
  SELECT c.company_id, c.id, input.id, d.id, input.adviser_email, input.start_at, input.end_at,
         input.email_recipient, input.sms_recipient, input.email_reminder, input.sms_reminder,
         input.notes, input.location, input.video_meeting,
         d.video_provider IS NOT NULL AND input.end_at > input.now,
         input.now, input.now, input.external_id
    FROM input JOIN cases c ON c.company_id = input.company_id AND c.id = input.case_id
   CROSS JOIN LATERAL (
    SELECT d.id, d.video_provider FROM advisers d
     WHERE d.company_id = input.company_id AND lower(d.email) = lower(input.adviser_email) AND d.active AND d.removed_at IS NULL
    OFFSET 0) d
   WHERE EXISTS (
    SELECT 1 FROM customers u
     WHERE u.company_id = input.company_id AND u.case_id = input.case_id AND lower(u.email) = lower(input.email_recipient)
       AND u.removed_at IS NULL)
  ON CONFLICT DO NOTHING
  RETURNING *
), a AS (
  SELECT inserted.*, input.nth, input.now, input.origin
    FROM inserted JOIN input ON inserted.company_id = input.company_id AND inserted.case_id = input.case_id AND inserted.id = input.id
), m AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT a.company_id, a.case_id, a.id, 'appointment.created', a.now::timestamptz, a.origin::json
     FROM a
), meeting AS (
  INSERT INTO meetings
    (company_id, case_id, appointment_id, start_at, end_at, wished, state, due_at, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, a.end_at, true,
         CASE WHEN a.meeting_pending THEN 'pending' ELSE 'none' END, a.now, a.now, a.now
    FROM a)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "adviser_email" : ' || to_json(a.adviser_email)::text || ', "email_recipient" : ' || coalesce(to_json(a.email_recipient)::text, 'null') || '}') AS json FROM a JOIN input USING (nth);

-- appointments.is_booked_with (reads; pool: short)
SELECT lower($4::text) IN (lower(a.adviser_email), lower(d.email)) AS same
  FROM appointments a JOIN advisers d ON d.company_id = a.company_id AND d.id = a.adviser_id
 WHERE a.company_id = $1::uuid AND a.case_id = $2::uuid AND a.id = $3::uuid;

-- appointments.is_present (reads; pool: short)
SELECT 1 FROM appointments a WHERE a.company_id = $1::uuid AND a.id = $3::uuid
   AND a.case_id = $2::uuid AND a.deleted_at IS NULL;

-- appointments.list (reads; pool: search)
SELECT (
  SELECT coalesce(json_agg(json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', ($3::text::text || (floor(extract(epoch FROM a.end_at)) + 140000000000)::text), 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id) ORDER BY a.start_at, a.id), '[]')::text
    FROM appointments a, LATERAL (
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                 (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
            FROM (SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
           ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states
   WHERE a.company_id = c.company_id AND a.case_id = c.id AND a.start_at >= coalesce($4::timestamptz, '-infinity') AND a.start_at < coalesce($5::timestamptz, 'infinity')
         AND ($6::boolean IS NULL OR (a.deleted_at IS NOT NULL) = $6::boolean)
     AND ($7::text IS NULL OR a.adviser_id IN (SELECT d.id FROM advisers d
    WHERE d.company_id = $1::uuid AND lower(d.email) = lower($7::text) AND d.removed_at IS NULL)))
  FROM cases c
 WHERE c.company_id = $1::uuid AND c.id = $2::uuid
   AND ($7::text IS NULL OR EXISTS (SELECT d.id FROM advisers d
    WHERE d.company_id = $1::uuid AND lower(d.email) = lower($7::text) AND d.removed_at IS NULL));

-- appointments.load (reads; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::timestamptz AS new_start, 1 AS nth)
SELECT input.nth, json_build_object('was', json_build_object('appointments', a), 'has_meeting', EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id), 'messages', ARRAY(
  SELECT json_build_object('channel', m.channel, 'kind', m.kind, 'state', CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END, 'day_before', (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before), 'for_new_start', m.start_at = coalesce(input.new_start, a.start_at), 'resent', m.resend_of IS NOT NULL)
    FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id ORDER BY (m.kind = 'reminder' AND m.start_at = coalesce(input.new_start, a.start_at)) DESC, m.id DESC))::text
  FROM input JOIN appointments a ON a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id
 WHERE a.deleted_at IS NULL;

-- appointments.load* (batch form)
WITH input AS (SELECT company_id, case_id, id, new_start, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::timestamptz[]) WITH ORDINALITY AS batch (company_id, case_id, id, new_start, nth))
SELECT input.nth, json_build_object('was', json_build_object('appointments', a), 'has_meeting', EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id), 'messages', ARRAY(
  SELECT json_build_object('channel', m.channel, 'kind', m.kind, 'state', CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END, 'day_before', (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before), 'for_new_start', m.start_at = coalesce(input.new_start, a.start_at), 'resent', m.resend_of IS NOT NULL)
    FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id ORDER BY (m.kind = 'reminder' AND m.start_at = coalesce(input.new_start, a.start_at)) DESC, m.id DESC))::text
  FROM input JOIN appointments a ON a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id
 WHERE a.deleted_at IS NULL;

-- appointments.load+recipient (reads; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::timestamptz AS new_start, $5::text AS new_recipient, 1 AS nth)
SELECT input.nth, json_build_object('was', json_build_object('appointments', a), 'has_meeting', EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id), 'messages', ARRAY(
  SELECT json_build_object('channel', m.channel, 'kind', m.kind, 'state', CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END, 'day_before', (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before), 'for_new_start', m.start_at = coalesce(input.new_start, a.start_at), 'resent', m.resend_of IS NOT NULL)
    FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id ORDER BY (m.kind = 'reminder' AND m.start_at = coalesce(input.new_start, a.start_at)) DESC, m.id DESC), 'recipient_known', EXISTS (
    SELECT 1 FROM customers u
     WHERE u.company_id = input.company_id AND u.case_id = input.case_id AND lower(u.email) = lower(input.new_recipient)
       AND u.removed_at IS NULL))::text
  FROM input JOIN appointments a ON a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id
 WHERE a.deleted_at IS NULL;

-- appointments.load+recipient* (batch form)
WITH input AS (SELECT company_id, case_id, id, new_start, new_recipient, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::timestamptz[], $5::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, new_start, new_recipient, nth))
SELECT input.nth, json_build_object('was', json_build_object('appointments', a), 'has_meeting', EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id), 'messages', ARRAY(
  SELECT json_build_object('channel', m.channel, 'kind', m.kind, 'state', CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END, 'day_before', (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before), 'for_new_start', m.start_at = coalesce(input.new_start, a.start_at), 'resent', m.resend_of IS NOT NULL)
    FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id ORDER BY (m.kind = 'reminder' AND m.start_at = coalesce(input.new_start, a.start_at)) DESC, m.id DESC), 'recipient_known', EXISTS (
    SELECT 1 FROM customers u
     WHERE u.company_id = input.company_id AND u.case_id = input.case_id AND lower(u.email) = lower(input.new_recipient)
       AND u.removed_at IS NULL))::text
  FROM input JOIN appointments a ON a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id
 WHERE a.deleted_at IS NULL;

-- appointments.load_in_any_state (reads; pool: short)
SELECT json_build_object('was', json_build_object('appointments', a), 'has_meeting', EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id), 'messages', ARRAY(
  SELECT json_build_object('channel', m.channel, 'kind', m.kind, 'state', CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END, 'day_before', (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before), 'for_new_start', m.start_at = a.start_at, 'resent', m.resend_of IS NOT NULL)
    FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id ORDER BY (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC))::text FROM appointments a WHERE a.company_id = $1::uuid AND a.case_id = $2::uuid AND a.id = $3::uuid;

-- appointments.lock_by_external_id (writes; pool: short)
SELECT 1 FROM appointments a WHERE a.company_id = $1::uuid AND a.external_id = $2::text
AND a.deleted_at IS NULL FOR NO KEY UPDATE;

-- appointments.lock_row (writes; pool: short)
SELECT 1 FROM appointments WHERE company_id = $1::uuid AND case_id = $2::uuid AND id = $3::uuid
   FOR NO KEY UPDATE;

-- appointments.of_company_by_adviser_asc (reads; pool: search)
WITH scanned AS MATERIALIZED (
  SELECT s.* FROM (
  (SELECT a.*, a.start_at AS sort_key FROM appointments a
     WHERE a.company_id = $1::uuid AND a.deleted_at IS NULL AND a.adviser_id = $10::uuid
       AND (a.start_at, a.id) > ($6::timestamptz, $4::uuid)
       AND a.start_at < $7::timestamptz
     ORDER BY a.start_at asc, a.id asc LIMIT $3::int)) s ORDER BY s.sort_key asc, s.id asc LIMIT $3::int
), found AS MATERIALIZED (
  SELECT a.*, row_number() OVER before AS n, sum(1200 + coalesce(octet_length(a.notes), 0) + coalesce(octet_length(a.location), 0)) OVER before AS bytes
    FROM (SELECT a.* FROM scanned a WHERE ($11::text IS NULL OR a.external_id = $11::text) AND (CASE WHEN a.cancelled = 1 THEN 'cancelled' WHEN a.attended = 1 THEN 'attended' ELSE 'none' END) = ANY ($9::text[]) AND ($10::uuid IS NULL OR a.adviser_id = $10::uuid) ORDER BY a.sort_key asc, a.id asc LIMIT $2::int + 1) a
  WINDOW before AS (ORDER BY a.sort_key asc, a.id asc ROWS UNBOUNDED PRECEDING)
), shown AS MATERIALIZED (
  SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
)
SELECT (SELECT ('[' || coalesce(string_agg(json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', ($8::text::text || (floor(extract(epoch FROM a.end_at)) + 140000000000)::text), 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'end_time_utc', to_char(a.end_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'outcome', (CASE WHEN a.cancelled = 1 THEN 'cancelled' WHEN a.attended = 1 THEN 'attended' ELSE 'none' END), 'external_id', a.external_id, 'case', json_build_object('id', a.case_id, 'reference', (SELECT c.reference FROM cases c
       WHERE $5::boolean AND c.company_id = a.company_id AND c.id = a.case_id)))::text, ',' ORDER BY a.n), '') || ']') FROM shown a CROSS JOIN LATERAL (
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                 (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
            FROM (SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
           ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states) AS json,
       to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
  FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
    (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key desc, e.id desc LIMIT 1)
    UNION ALL
    (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key desc, e.id desc LIMIT 1)
  ) next ON true;

-- appointments.of_company_by_adviser_desc (reads; pool: search)
WITH scanned AS MATERIALIZED (
  SELECT s.* FROM (
  (SELECT a.*, a.start_at AS sort_key FROM appointments a
     WHERE a.company_id = $1::uuid AND a.deleted_at IS NULL AND a.adviser_id = $10::uuid
       AND (a.start_at, a.id) < ($6::timestamptz, $4::uuid)
       AND a.start_at >= $7::timestamptz
     ORDER BY a.start_at desc, a.id desc LIMIT $3::int)) s ORDER BY s.sort_key desc, s.id desc LIMIT $3::int
), found AS MATERIALIZED (
  SELECT a.*, row_number() OVER before AS n, sum(1200 + coalesce(octet_length(a.notes), 0) + coalesce(octet_length(a.location), 0)) OVER before AS bytes
    FROM (SELECT a.* FROM scanned a WHERE ($11::text IS NULL OR a.external_id = $11::text) AND (CASE WHEN a.cancelled = 1 THEN 'cancelled' WHEN a.attended = 1 THEN 'attended' ELSE 'none' END) = ANY ($9::text[]) AND ($10::uuid IS NULL OR a.adviser_id = $10::uuid) ORDER BY a.sort_key desc, a.id desc LIMIT $2::int + 1) a
  WINDOW before AS (ORDER BY a.sort_key desc, a.id desc ROWS UNBOUNDED PRECEDING)
), shown AS MATERIALIZED (
  SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
)
SELECT (SELECT ('[' || coalesce(string_agg(json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', ($8::text::text || (floor(extract(epoch FROM a.end_at)) + 140000000000)::text), 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'end_time_utc', to_char(a.end_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'outcome', (CASE WHEN a.cancelled = 1 THEN 'cancelled' WHEN a.attended = 1 THEN 'attended' ELSE 'none' END), 'external_id', a.external_id, 'case', json_build_object('id', a.case_id, 'reference', (SELECT c.reference FROM cases c
       WHERE $5::boolean AND c.company_id = a.company_id AND c.id = a.case_id)))::text, ',' ORDER BY a.n), '') || ']') FROM shown a CROSS JOIN LATERAL (
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                 (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
            FROM (SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
           ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states) AS json,
       to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
  FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
    (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key asc, e.id asc LIMIT 1)
    UNION ALL
    (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key asc, e.id asc LIMIT 1)
  ) next ON true;

-- appointments.of_company_by_external_id_asc (reads; pool: search)
WITH scanned AS MATERIALIZED (
  SELECT s.* FROM (
  (SELECT a.*, a.start_at AS sort_key FROM appointments a
     WHERE a.company_id = $1::uuid AND a.deleted_at IS NULL AND a.external_id = $11::text
       AND (a.start_at, a.id) > ($6::timestamptz, $4::uuid)
       AND a.start_at < $7::timestamptz
     ORDER BY a.start_at asc, a.id asc LIMIT $3::int)) s ORDER BY s.sort_key asc, s.id asc LIMIT $3::int
), found AS MATERIALIZED (
  SELECT a.*, row_number() OVER before AS n, sum(1200 + coalesce(octet_length(a.notes), 0) + coalesce(octet_length(a.location), 0)) OVER before AS bytes
    FROM (SELECT a.* FROM scanned a WHERE ($11::text IS NULL OR a.external_id = $11::text) AND (CASE WHEN a.cancelled = 1 THEN 'cancelled' WHEN a.attended = 1 THEN 'attended' ELSE 'none' END) = ANY ($9::text[]) AND ($10::uuid IS NULL OR a.adviser_id = $10::uuid) ORDER BY a.sort_key asc, a.id asc LIMIT $2::int + 1) a
  WINDOW before AS (ORDER BY a.sort_key asc, a.id asc ROWS UNBOUNDED PRECEDING)
), shown AS MATERIALIZED (
  SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
)
SELECT (SELECT ('[' || coalesce(string_agg(json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', ($8::text::text || (floor(extract(epoch FROM a.end_at)) + 140000000000)::text), 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'end_time_utc', to_char(a.end_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'outcome', (CASE WHEN a.cancelled = 1 THEN 'cancelled' WHEN a.attended = 1 THEN 'attended' ELSE 'none' END), 'external_id', a.external_id, 'case', json_build_object('id', a.case_id, 'reference', (SELECT c.reference FROM cases c
       WHERE $5::boolean AND c.company_id = a.company_id AND c.id = a.case_id)))::text, ',' ORDER BY a.n), '') || ']') FROM shown a CROSS JOIN LATERAL (
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                 (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
            FROM (SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
           ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states) AS json,
       to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
  FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
    (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key desc, e.id desc LIMIT 1)
    UNION ALL
    (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key desc, e.id desc LIMIT 1)
  ) next ON true;

-- appointments.of_company_by_external_id_desc (reads; pool: search)
WITH scanned AS MATERIALIZED (
  SELECT s.* FROM (
  (SELECT a.*, a.start_at AS sort_key FROM appointments a
     WHERE a.company_id = $1::uuid AND a.deleted_at IS NULL AND a.external_id = $11::text
       AND (a.start_at, a.id) < ($6::timestamptz, $4::uuid)
       AND a.start_at >= $7::timestamptz
     ORDER BY a.start_at desc, a.id desc LIMIT $3::int)) s ORDER BY s.sort_key desc, s.id desc LIMIT $3::int
), found AS MATERIALIZED (
  SELECT a.*, row_number() OVER before AS n, sum(1200 + coalesce(octet_length(a.notes), 0) + coalesce(octet_length(a.location), 0)) OVER before AS bytes
    FROM (SELECT a.* FROM scanned a WHERE ($11::text IS NULL OR a.external_id = $11::text) AND (CASE WHEN a.cancelled = 1 THEN 'cancelled' WHEN a.attended = 1 THEN 'attended' ELSE 'none' END) = ANY ($9::text[]) AND ($10::uuid IS NULL OR a.adviser_id = $10::uuid) ORDER BY a.sort_key desc, a.id desc LIMIT $2::int + 1) a
  WINDOW before AS (ORDER BY a.sort_key desc, a.id desc ROWS UNBOUNDED PRECEDING)
), shown AS MATERIALIZED (
  SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
)
SELECT (SELECT ('[' || coalesce(string_agg(json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', ($8::text::text || (floor(extract(epoch FROM a.end_at)) + 140000000000)::text), 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'end_time_utc', to_char(a.end_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'outcome', (CASE WHEN a.cancelled = 1 THEN 'cancelled' WHEN a.attended = 1 THEN 'attended' ELSE 'none' END), 'external_id', a.external_id, 'case', json_build_object('id', a.case_id, 'reference', (SELECT c.reference FROM cases c
       WHERE $5::boolean AND c.company_id = a.company_id AND c.id = a.case_id)))::text, ',' ORDER BY a.n), '') || ']') FROM shown a CROSS JOIN LATERAL (
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                 (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
            FROM (SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
           ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states) AS json,
       to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
  FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
    (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key asc, e.id asc LIMIT 1)
    UNION ALL
    (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key asc, e.id asc LIMIT 1)
  ) next ON true;

-- appointments.of_company_by_start_time_asc (reads; pool: search)
WITH scanned AS MATERIALIZED (
  SELECT s.* FROM (
  (SELECT a.*, a.start_at AS sort_key FROM appointments a
     WHERE a.company_id = $1::uuid AND a.deleted_at IS NULL AND (CASE WHEN a.cancelled = 1 THEN 'cancelled' WHEN a.attended = 1 THEN 'attended' ELSE 'none' END) = ($9::text[])[1]
       AND (a.start_at, a.id) > ($6::timestamptz, $4::uuid)
       AND a.start_at < $7::timestamptz
     ORDER BY a.start_at asc, a.id asc LIMIT $3::int) UNION ALL
  (SELECT a.*, a.start_at AS sort_key FROM appointments a
     WHERE a.company_id = $1::uuid AND a.deleted_at IS NULL AND (CASE WHEN a.cancelled = 1 THEN 'cancelled' WHEN a.attended = 1 THEN 'attended' ELSE 'none' END) = ($9::text[])[2]
       AND (a.start_at, a.id) > ($6::timestamptz, $4::uuid)
       AND a.start_at < $7::timestamptz
     ORDER BY a.start_at asc, a.id asc LIMIT $3::int) UNION ALL
  (SELECT a.*, a.start_at AS sort_key FROM appointments a
     WHERE a.company_id = $1::uuid AND a.deleted_at IS NULL AND (CASE WHEN a.cancelled = 1 THEN 'cancelled' WHEN a.attended = 1 THEN 'attended' ELSE 'none' END) = ($9::text[])[3]
       AND (a.start_at, a.id) > ($6::timestamptz, $4::uuid)
       AND a.start_at < $7::timestamptz
     ORDER BY a.start_at asc, a.id asc LIMIT $3::int)) s ORDER BY s.sort_key asc, s.id asc LIMIT $3::int
), found AS MATERIALIZED (
  SELECT a.*, row_number() OVER before AS n, sum(1200 + coalesce(octet_length(a.notes), 0) + coalesce(octet_length(a.location), 0)) OVER before AS bytes
    FROM (SELECT DISTINCT ON (a.sort_key, a.id) a.* FROM scanned a WHERE ($11::text IS NULL OR a.external_id = $11::text) AND (CASE WHEN a.cancelled = 1 THEN 'cancelled' WHEN a.attended = 1 THEN 'attended' ELSE 'none' END) = ANY ($9::text[]) AND ($10::uuid IS NULL OR a.adviser_id = $10::uuid) ORDER BY a.sort_key asc, a.id asc LIMIT $2::int + 1) a
  WINDOW before AS (ORDER BY a.sort_key asc, a.id asc ROWS UNBOUNDED PRECEDING)
), shown AS MATERIALIZED (
  SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
)
SELECT (SELECT ('[' || coalesce(string_agg(json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', ($8::text::text || (floor(extract(epoch FROM a.end_at)) + 140000000000)::text), 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'end_time_utc', to_char(a.end_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'outcome', (CASE WHEN a.cancelled = 1 THEN 'cancelled' WHEN a.attended = 1 THEN 'attended' ELSE 'none' END), 'external_id', a.external_id, 'case', json_build_object('id', a.case_id, 'reference', (SELECT c.reference FROM cases c
       WHERE $5::boolean AND c.company_id = a.company_id AND c.id = a.case_id)))::text, ',' ORDER BY a.n), '') || ']') FROM shown a CROSS JOIN LATERAL (
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                 (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
            FROM (SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
           ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states) AS json,
       to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
  FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
    (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key desc, e.id desc LIMIT 1)
    UNION ALL
    (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key desc, e.id desc LIMIT 1)
  ) next ON true;

-- appointments.of_company_by_start_time_desc (reads; pool: search)
WITH scanned AS MATERIALIZED (
  SELECT s.* FROM (
  (SELECT a.*, a.start_at AS sort_key FROM appointments a
     WHERE a.company_id = $1::uuid AND a.deleted_at IS NULL AND (CASE WHEN a.cancelled = 1 THEN 'cancelled' WHEN a.attended = 1 THEN 'attended' ELSE 'none' END) = ($9::text[])[1]
       AND (a.start_at, a.id) < ($6::timestamptz, $4::uuid)
       AND a.start_at >= $7::timestamptz
     ORDER BY a.start_at desc, a.id desc LIMIT $3::int) UNION ALL
  (SELECT a.*, a.start_at AS sort_key FROM appointments a
     WHERE a.company_id = $1::uuid AND a.deleted_at IS NULL AND (CASE WHEN a.cancelled = 1 THEN 'cancelled' WHEN a.attended = 1 THEN 'attended' ELSE 'none' END) = ($9::text[])[2]
       AND (a.start_at, a.id) < ($6::timestamptz, $4::uuid)
       AND a.start_at >= $7::timestamptz
     ORDER BY a.start_at desc, a.id desc LIMIT $3::int) UNION ALL
  (SELECT a.*, a.start_at AS sort_key FROM appointments a
     WHERE a.company_id = $1::uuid AND a.deleted_at IS NULL AND (CASE WHEN a.cancelled = 1 THEN 'cancelled' WHEN a.attended = 1 THEN 'attended' ELSE 'none' END) = ($9::text[])[3]
       AND (a.start_at, a.id) < ($6::timestamptz, $4::uuid)
       AND a.start_at >= $7::timestamptz
     ORDER BY a.start_at desc, a.id desc LIMIT $3::int)) s ORDER BY s.sort_key desc, s.id desc LIMIT $3::int
), found AS MATERIALIZED (
  SELECT a.*, row_number() OVER before AS n, sum(1200 + coalesce(octet_length(a.notes), 0) + coalesce(octet_length(a.location), 0)) OVER before AS bytes
    FROM (SELECT DISTINCT ON (a.sort_key, a.id) a.* FROM scanned a WHERE ($11::text IS NULL OR a.external_id = $11::text) AND (CASE WHEN a.cancelled = 1 THEN 'cancelled' WHEN a.attended = 1 THEN 'attended' ELSE 'none' END) = ANY ($9::text[]) AND ($10::uuid IS NULL OR a.adviser_id = $10::uuid) ORDER BY a.sort_key desc, a.id desc LIMIT $2::int + 1) a
  WINDOW before AS (ORDER BY a.sort_key desc, a.id desc ROWS UNBOUNDED PRECEDING)
), shown AS MATERIALIZED (
  SELECT * FROM found f WHERE f.n <= $2::int AND (f.n = 1 OR f.bytes <= 2000000)
)
SELECT (SELECT ('[' || coalesce(string_agg(json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', ($8::text::text || (floor(extract(epoch FROM a.end_at)) + 140000000000)::text), 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'end_time_utc', to_char(a.end_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'outcome', (CASE WHEN a.cancelled = 1 THEN 'cancelled' WHEN a.attended = 1 THEN 'attended' ELSE 'none' END), 'external_id', a.external_id, 'case', json_build_object('id', a.case_id, 'reference', (SELECT c.reference FROM cases c
       WHERE $5::boolean AND c.company_id = a.company_id AND c.id = a.case_id)))::text, ',' ORDER BY a.n), '') || ']') FROM shown a CROSS JOIN LATERAL (
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                 (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
            FROM (SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
           ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states) AS json,
       to_char(next.sort_key AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS key, next.id
  FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
    (SELECT e.sort_key, e.id FROM shown e WHERE (SELECT count(*) FROM found) > (SELECT count(*) FROM shown) ORDER BY e.sort_key asc, e.id asc LIMIT 1)
    UNION ALL
    (SELECT e.sort_key, e.id FROM scanned e WHERE NOT ((SELECT count(*) FROM found) > (SELECT count(*) FROM shown)) AND (SELECT count(*) FROM scanned) = $3::int ORDER BY e.sort_key asc, e.id asc LIMIT 1)
  ) next ON true;

-- appointments.outcome+confirmations (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::uuid[] AS message_ids, $13::text[] AS message_channels, $14::text[] AS message_kinds, $15::text[] AS message_states, $16::timestamptz[] AS message_due_at, $17::boolean[] AS message_day_before, 1 AS nth), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.outcome_set', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), confirmations AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
   WHERE n.kind = 'confirmation'
  ON CONFLICT (company_id, case_id, appointment_id, channel) WHERE kind = 'confirmation' AND state = 'scheduled'
  DO NOTHING
  RETURNING *
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth), LATERAL (
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                 (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
            FROM (SELECT id, channel, kind, start_at, state, day_before, true AS written FROM confirmations
            UNION ALL SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
           ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states;

-- appointments.outcome+meeting+states (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::text AS email_confirmation, $13::text AS email_notification, $14::int AS email_day_before, $15::text AS sms_confirmation, $16::text AS sms_notification, $17::int AS sms_day_before, 1 AS nth), a AS (
      UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, meeting_pending = a.video_meeting AND a.cancelled = 1 AND input.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.outcome_set', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.outcome+meeting+states* (batch form)
  WITH input AS (SELECT company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::json[], $6::timestamptz[], $7::json[], $8::text[], $9::int[], $10::int[], $11::text[], $12::text[], $13::text[], $14::int[], $15::text[], $16::text[], $17::int[]) WITH ORDINALITY AS batch (company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth)), a AS (
      UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, meeting_pending = a.video_meeting AND a.cancelled = 1 AND input.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.outcome_set', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.outcome+reminders+meeting+states (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::uuid[] AS message_ids, $13::text[] AS message_channels, $14::text[] AS message_kinds, $15::text[] AS message_states, $16::timestamptz[] AS message_due_at, $17::boolean[] AS message_day_before, $18::text[] AS reminder_channels, $19::text AS email_confirmation, $20::text AS email_notification, $21::int AS email_day_before, $22::text AS sms_confirmation, $23::text AS sms_notification, $24::int AS sms_day_before, 1 AS nth), a AS (
      UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, meeting_pending = a.video_meeting AND a.cancelled = 1 AND input.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.outcome_set', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), superseded AS (
    UPDATE messages m SET state = 'cancelled', updated_at = a.now
      FROM a JOIN input USING (nth)
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
       AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
  ), reminders AS (
    INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
    SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
      FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                   input.message_due_at, input.message_day_before)
        AS n (id, channel, kind, state, due_at, day_before)
     WHERE n.kind = 'reminder'
    RETURNING *
  ), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.outcome+reminders+meeting+states* (batch form)
  WITH input AS (SELECT company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, message_ids::uuid[], message_channels::text[], message_kinds::text[], message_states::text[], message_due_at::timestamptz[], message_day_before::boolean[], reminder_channels::text[], email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::json[], $6::timestamptz[], $7::json[], $8::text[], $9::int[], $10::int[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::int[], $22::text[], $23::text[], $24::int[]) WITH ORDINALITY AS batch (company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, message_ids, message_channels, message_kinds, message_states, message_due_at, message_day_before, reminder_channels, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth)), a AS (
      UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, meeting_pending = a.video_meeting AND a.cancelled = 1 AND input.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.outcome_set', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), superseded AS (
    UPDATE messages m SET state = 'cancelled', updated_at = a.now
      FROM a JOIN input USING (nth)
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
       AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
  ), reminders AS (
    INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
    SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
      FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                   input.message_due_at, input.message_day_before)
        AS n (id, channel, kind, state, due_at, day_before)
     WHERE n.kind = 'reminder'
    RETURNING *
  ), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.outcome+reminders+states (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::uuid[] AS message_ids, $13::text[] AS message_channels, $14::text[] AS message_kinds, $15::text[] AS message_states, $16::timestamptz[] AS message_due_at, $17::boolean[] AS message_day_before, $18::text[] AS reminder_channels, $19::text AS email_confirmation, $20::text AS email_notification, $21::int AS email_day_before, $22::text AS sms_confirmation, $23::text AS sms_notification, $24::int AS sms_day_before, 1 AS nth), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.outcome_set', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), superseded AS (
  UPDATE messages m SET state = 'cancelled', updated_at = a.now
    FROM a JOIN input USING (nth)
   WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
     AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
), reminders AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
   WHERE n.kind = 'reminder'
  RETURNING *
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.outcome+reminders+states* (batch form)
WITH input AS (SELECT company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, message_ids::uuid[], message_channels::text[], message_kinds::text[], message_states::text[], message_due_at::timestamptz[], message_day_before::boolean[], reminder_channels::text[], email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::json[], $6::timestamptz[], $7::json[], $8::text[], $9::int[], $10::int[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::int[], $22::text[], $23::text[], $24::int[]) WITH ORDINALITY AS batch (company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, message_ids, message_channels, message_kinds, message_states, message_due_at, message_day_before, reminder_channels, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth)), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.outcome_set', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), superseded AS (
  UPDATE messages m SET state = 'cancelled', updated_at = a.now
    FROM a JOIN input USING (nth)
   WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
     AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
), reminders AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
   WHERE n.kind = 'reminder'
  RETURNING *
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.outcome+renewed (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::uuid[] AS message_ids, $13::text[] AS message_channels, $14::text[] AS message_kinds, $15::text[] AS message_states, $16::timestamptz[] AS message_due_at, $17::boolean[] AS message_day_before, $18::text[] AS reminder_channels, 1 AS nth), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.outcome_set', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), superseded AS (
  UPDATE messages m SET state = 'cancelled', updated_at = a.now
    FROM a JOIN input USING (nth)
   WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
     AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
), previous AS MATERIALIZED (
  SELECT m.id, m.channel, m.state, json_build_object('id', m.id, 'appointment_id', m.appointment_id, 'customer_case_id', m.case_id, 'channel', m.channel, 'kind', m.kind, 'resend_of', m.resend_of, 'state', CASE WHEN m.state IN ('sent', 'failed') THEN m.state END, 'due_at', CASE WHEN m.state IN ('sent', 'failed') THEN to_char(m.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END, 'sent_at', to_char(m.sent_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'sent_to', m.sent_to, 'attempts', CASE WHEN m.state IN ('sent', 'failed') THEN m.attempts END, 'last_error', CASE WHEN m.state IN ('sent', 'failed') THEN m.last_error END, 'created_at', to_char(m.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) AS before
    FROM a JOIN input USING (nth) JOIN messages m ON m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
   WHERE m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels) AND m.start_at = a.start_at
     AND m.resend_of IS NULL
     FOR NO KEY UPDATE OF m
), renewed AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth) CROSS JOIN unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before) LEFT JOIN previous p ON p.channel = n.channel
   WHERE n.kind = 'reminder' AND coalesce(p.state NOT IN ('sent', 'sending', 'scheduled'), true)
  ON CONFLICT (company_id, case_id, appointment_id, channel, start_at)
    WHERE kind = 'reminder' AND resend_of IS NULL
  DO UPDATE SET state = excluded.state, due_at = excluded.due_at, day_before = excluded.day_before,
                updated_at = excluded.updated_at, attempts = 0, doubts = 0, last_error = NULL, lease_by = NULL,
                lease_until = NULL
  RETURNING *
), rescheduled AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT m.company_id, m.case_id, m.id, 'message.rescheduled', a.now::timestamptz, a.origin::json, p.before
     FROM renewed m JOIN previous p ON p.id = m.id JOIN a ON m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id WHERE p.state = 'failed'
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth), LATERAL (
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                 (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
            FROM (SELECT id, channel, kind, start_at, state, day_before, true AS written FROM renewed
            UNION ALL SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
           ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states;

-- appointments.outcome+states (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::text AS email_confirmation, $13::text AS email_notification, $14::int AS email_day_before, $15::text AS sms_confirmation, $16::text AS sms_notification, $17::int AS sms_day_before, 1 AS nth), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.outcome_set', a.now::timestamptz, a.origin::json, a.was
     FROM a
  )
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.outcome+states* (batch form)
WITH input AS (SELECT company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::json[], $6::timestamptz[], $7::json[], $8::text[], $9::int[], $10::int[], $11::text[], $12::text[], $13::text[], $14::int[], $15::text[], $16::text[], $17::int[]) WITH ORDINALITY AS batch (company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth)), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.outcome_set', a.now::timestamptz, a.origin::json, a.was
     FROM a
  )
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.outcome+states keyed (writes; pool: short)
WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::text AS email_confirmation, $13::text AS email_notification, $14::int AS email_day_before, $15::text AS sms_confirmation, $16::text AS sms_notification, $17::int AS sms_day_before, $18::uuid AS credential_id, $19::bytea AS key_sha256, $20::bytea AS request_sha256, $21::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL),
input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::text AS email_confirmation, $13::text AS email_notification, $14::int AS email_day_before, $15::text AS sms_confirmation, $16::text AS sms_notification, $17::int AS sms_day_before, $18::uuid AS credential_id, $19::bytea AS key_sha256, $20::bytea AS request_sha256, $21::text AS etag_suffix, 1 AS nth FROM guard), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.outcome_set', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), answer AS (
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth)
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- appointments.outcome+states keyed* (batch form)
WITH input AS MATERIALIZED (
  WITH input AS (SELECT company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, credential_id, key_sha256, request_sha256, etag_suffix, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::json[], $6::timestamptz[], $7::json[], $8::text[], $9::int[], $10::int[], $11::text[], $12::text[], $13::text[], $14::int[], $15::text[], $16::text[], $17::int[], $18::uuid[], $19::bytea[], $20::bytea[], $21::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, credential_id, key_sha256, request_sha256, etag_suffix, nth))
  SELECT * FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.outcome_set', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), answer AS (
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth)
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- appointments.outcome+withdrawn (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::text[] AS withdrawn_channels, $13::text[] AS withdrawn_kinds, $14::text[] AS withdrawn_states, 1 AS nth), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.outcome_set', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), withdrawn AS (
  UPDATE messages m
     SET state = CASE m.state WHEN 'sending' THEN m.state ELSE x.state END,
         withdrawn = m.state = 'sending' AND m.kind <> 'reminder', updated_at = a.now
    FROM a JOIN input USING (nth), unnest(input.withdrawn_channels, input.withdrawn_kinds, input.withdrawn_states)
      AS x (channel, kind, state)
   WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
     AND m.channel = x.channel AND m.kind = x.kind
     AND (m.state IN ('scheduled', 'sending') OR m.state = 'skipped' AND (m.kind = 'reminder' OR a.cancelled = 0))
  RETURNING m.*
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth), LATERAL (
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                 (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
            FROM (SELECT id, channel, kind, start_at, state, day_before, true AS written FROM withdrawn
            UNION ALL SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
           ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states;

-- appointments.outcome+withdrawn+cancellations+meeting (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::text[] AS withdrawn_channels, $13::text[] AS withdrawn_kinds, $14::text[] AS withdrawn_states, $15::uuid AS cancellation_id, 1 AS nth), a AS (
      UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, meeting_pending = a.video_meeting AND a.cancelled = 1 AND input.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.outcome_set', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), withdrawn AS (
    UPDATE messages m
       SET state = CASE m.state WHEN 'sending' THEN m.state ELSE x.state END,
           withdrawn = m.state = 'sending' AND m.kind <> 'reminder', updated_at = a.now
      FROM a JOIN input USING (nth), unnest(input.withdrawn_channels, input.withdrawn_kinds, input.withdrawn_states)
        AS x (channel, kind, state)
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
       AND m.channel = x.channel AND m.kind = x.kind
       AND (m.state IN ('scheduled', 'sending') OR m.state = 'skipped' AND (m.kind = 'reminder' OR a.cancelled = 0))
    RETURNING m.*
  ), cancellations AS (INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at, recipient)
     SELECT a.company_id, a.case_id, a.id, a.start_at,
            (left(input.cancellation_id::text, 19) || substr(gen_random_uuid()::text, 20))::uuid,
            r.channel, 'cancellation', 'scheduled', a.now, false, a.now, a.now, r.recipient
       FROM a JOIN input USING (nth) CROSS JOIN LATERAL (
SELECT c.channel, c.recipient FROM messages c
 WHERE c.company_id = a.company_id AND c.case_id = a.case_id AND c.appointment_id = a.id AND c.state IN ('sending', 'sent') AND c.kind <> 'cancellation' AND c.recipient IS NOT NULL AND c.sequence > 0 AND NOT EXISTS (
   SELECT 1 FROM messages later
    WHERE later.company_id = a.company_id AND later.case_id = a.case_id AND later.appointment_id = a.id AND later.state IN ('sending', 'sent') AND later.channel = c.channel AND lower(coalesce(later.sent_to, later.recipient)) = lower(coalesce(c.sent_to, c.recipient))
      AND CASE later.kind WHEN 'cancellation' THEN later.sequence >= c.sequence
                          ELSE (later.sequence, later.id) > (c.sequence, c.id) END)) r
      WHERE a.end_at > a.now
     ON CONFLICT (company_id, case_id, appointment_id, channel, recipient)
       WHERE kind = 'cancellation' AND state = 'scheduled'
     DO NOTHING), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth), LATERAL (
    SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
           max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
           max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
           max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
           coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
           coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
      FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                   (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
              FROM (SELECT id, channel, kind, start_at, state, day_before, true AS written FROM withdrawn
              UNION ALL SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
             ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states;

-- appointments.outcome+withdrawn+reminders+meeting (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::text[] AS withdrawn_channels, $13::text[] AS withdrawn_kinds, $14::text[] AS withdrawn_states, $15::uuid[] AS message_ids, $16::text[] AS message_channels, $17::text[] AS message_kinds, $18::text[] AS message_states, $19::timestamptz[] AS message_due_at, $20::boolean[] AS message_day_before, $21::text[] AS reminder_channels, 1 AS nth), a AS (
      UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, meeting_pending = a.video_meeting AND a.cancelled = 1 AND input.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.outcome_set', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), withdrawn AS (
    UPDATE messages m
       SET state = CASE m.state WHEN 'sending' THEN m.state ELSE x.state END,
           withdrawn = m.state = 'sending' AND m.kind <> 'reminder', updated_at = a.now
      FROM a JOIN input USING (nth), unnest(input.withdrawn_channels, input.withdrawn_kinds, input.withdrawn_states)
        AS x (channel, kind, state)
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
       AND m.channel = x.channel AND m.kind = x.kind
       AND (m.state IN ('scheduled', 'sending') OR m.state = 'skipped' AND (m.kind = 'reminder' OR a.cancelled = 0))
    RETURNING m.*
  ), superseded AS (
    UPDATE messages m SET state = 'cancelled', updated_at = a.now
      FROM a JOIN input USING (nth)
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
       AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
  ), reminders AS (
    INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
    SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
      FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                   input.message_due_at, input.message_day_before)
        AS n (id, channel, kind, state, due_at, day_before)
     WHERE n.kind = 'reminder'
    RETURNING *
  ), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth), LATERAL (
    SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
           max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
           max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
           max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
           coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
           coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
      FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                   (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
              FROM (SELECT id, channel, kind, start_at, state, day_before, true AS written FROM withdrawn
              UNION ALL SELECT id, channel, kind, start_at, state, day_before, true AS written FROM reminders
              UNION ALL SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
             ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states;

-- appointments.read (reads; pool: short)
SELECT a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)), json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', ($4::text::text || (floor(extract(epoch FROM a.end_at)) + 140000000000)::text), 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text
  FROM appointments a, LATERAL (
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                 (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
            FROM (SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
           ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states
 WHERE a.company_id = $1::uuid AND a.case_id = $2::uuid AND a.id = $3::uuid AND a.deleted_at IS NULL;

-- appointments.reinstate+confirmations (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::uuid[] AS message_ids, $13::text[] AS message_channels, $14::text[] AS message_kinds, $15::text[] AS message_states, $16::timestamptz[] AS message_due_at, $17::boolean[] AS message_day_before, 1 AS nth), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.reinstated', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), confirmations AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
   WHERE n.kind = 'confirmation'
  ON CONFLICT (company_id, case_id, appointment_id, channel) WHERE kind = 'confirmation' AND state = 'scheduled'
  DO NOTHING
  RETURNING *
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth), LATERAL (
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                 (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
            FROM (SELECT id, channel, kind, start_at, state, day_before, true AS written FROM confirmations
            UNION ALL SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
           ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states;

-- appointments.reinstate+meeting+states (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::text AS email_confirmation, $13::text AS email_notification, $14::int AS email_day_before, $15::text AS sms_confirmation, $16::text AS sms_notification, $17::int AS sms_day_before, 1 AS nth), a AS (
      UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, meeting_pending = a.video_meeting AND a.cancelled = 1 AND input.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.reinstated', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.reinstate+meeting+states* (batch form)
  WITH input AS (SELECT company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::json[], $6::timestamptz[], $7::json[], $8::text[], $9::int[], $10::int[], $11::text[], $12::text[], $13::text[], $14::int[], $15::text[], $16::text[], $17::int[]) WITH ORDINALITY AS batch (company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth)), a AS (
      UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, meeting_pending = a.video_meeting AND a.cancelled = 1 AND input.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.reinstated', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.reinstate+reminders+meeting+states (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::uuid[] AS message_ids, $13::text[] AS message_channels, $14::text[] AS message_kinds, $15::text[] AS message_states, $16::timestamptz[] AS message_due_at, $17::boolean[] AS message_day_before, $18::text[] AS reminder_channels, $19::text AS email_confirmation, $20::text AS email_notification, $21::int AS email_day_before, $22::text AS sms_confirmation, $23::text AS sms_notification, $24::int AS sms_day_before, 1 AS nth), a AS (
      UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, meeting_pending = a.video_meeting AND a.cancelled = 1 AND input.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.reinstated', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), superseded AS (
    UPDATE messages m SET state = 'cancelled', updated_at = a.now
      FROM a JOIN input USING (nth)
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
       AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
  ), reminders AS (
    INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
    SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
      FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                   input.message_due_at, input.message_day_before)
        AS n (id, channel, kind, state, due_at, day_before)
     WHERE n.kind = 'reminder'
    RETURNING *
  ), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.reinstate+reminders+meeting+states* (batch form)
  WITH input AS (SELECT company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, message_ids::uuid[], message_channels::text[], message_kinds::text[], message_states::text[], message_due_at::timestamptz[], message_day_before::boolean[], reminder_channels::text[], email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::json[], $6::timestamptz[], $7::json[], $8::text[], $9::int[], $10::int[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::int[], $22::text[], $23::text[], $24::int[]) WITH ORDINALITY AS batch (company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, message_ids, message_channels, message_kinds, message_states, message_due_at, message_day_before, reminder_channels, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth)), a AS (
      UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, meeting_pending = a.video_meeting AND a.cancelled = 1 AND input.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.reinstated', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), superseded AS (
    UPDATE messages m SET state = 'cancelled', updated_at = a.now
      FROM a JOIN input USING (nth)
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
       AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
  ), reminders AS (
    INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
    SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
      FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                   input.message_due_at, input.message_day_before)
        AS n (id, channel, kind, state, due_at, day_before)
     WHERE n.kind = 'reminder'
    RETURNING *
  ), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.reinstate+reminders+states (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::uuid[] AS message_ids, $13::text[] AS message_channels, $14::text[] AS message_kinds, $15::text[] AS message_states, $16::timestamptz[] AS message_due_at, $17::boolean[] AS message_day_before, $18::text[] AS reminder_channels, $19::text AS email_confirmation, $20::text AS email_notification, $21::int AS email_day_before, $22::text AS sms_confirmation, $23::text AS sms_notification, $24::int AS sms_day_before, 1 AS nth), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.reinstated', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), superseded AS (
  UPDATE messages m SET state = 'cancelled', updated_at = a.now
    FROM a JOIN input USING (nth)
   WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
     AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
), reminders AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
   WHERE n.kind = 'reminder'
  RETURNING *
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.reinstate+reminders+states* (batch form)
WITH input AS (SELECT company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, message_ids::uuid[], message_channels::text[], message_kinds::text[], message_states::text[], message_due_at::timestamptz[], message_day_before::boolean[], reminder_channels::text[], email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::json[], $6::timestamptz[], $7::json[], $8::text[], $9::int[], $10::int[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::int[], $22::text[], $23::text[], $24::int[]) WITH ORDINALITY AS batch (company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, message_ids, message_channels, message_kinds, message_states, message_due_at, message_day_before, reminder_channels, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth)), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.reinstated', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), superseded AS (
  UPDATE messages m SET state = 'cancelled', updated_at = a.now
    FROM a JOIN input USING (nth)
   WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
     AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
), reminders AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
   WHERE n.kind = 'reminder'
  RETURNING *
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.reinstate+renewed (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::uuid[] AS message_ids, $13::text[] AS message_channels, $14::text[] AS message_kinds, $15::text[] AS message_states, $16::timestamptz[] AS message_due_at, $17::boolean[] AS message_day_before, $18::text[] AS reminder_channels, 1 AS nth), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.reinstated', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), superseded AS (
  UPDATE messages m SET state = 'cancelled', updated_at = a.now
    FROM a JOIN input USING (nth)
   WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
     AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
), previous AS MATERIALIZED (
  SELECT m.id, m.channel, m.state, json_build_object('id', m.id, 'appointment_id', m.appointment_id, 'customer_case_id', m.case_id, 'channel', m.channel, 'kind', m.kind, 'resend_of', m.resend_of, 'state', CASE WHEN m.state IN ('sent', 'failed') THEN m.state END, 'due_at', CASE WHEN m.state IN ('sent', 'failed') THEN to_char(m.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END, 'sent_at', to_char(m.sent_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'sent_to', m.sent_to, 'attempts', CASE WHEN m.state IN ('sent', 'failed') THEN m.attempts END, 'last_error', CASE WHEN m.state IN ('sent', 'failed') THEN m.last_error END, 'created_at', to_char(m.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) AS before
    FROM a JOIN input USING (nth) JOIN messages m ON m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
   WHERE m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels) AND m.start_at = a.start_at
     AND m.resend_of IS NULL
     FOR NO KEY UPDATE OF m
), renewed AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth) CROSS JOIN unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before) LEFT JOIN previous p ON p.channel = n.channel
   WHERE n.kind = 'reminder' AND coalesce(p.state NOT IN ('sent', 'sending', 'scheduled'), true)
  ON CONFLICT (company_id, case_id, appointment_id, channel, start_at)
    WHERE kind = 'reminder' AND resend_of IS NULL
  DO UPDATE SET state = excluded.state, due_at = excluded.due_at, day_before = excluded.day_before,
                updated_at = excluded.updated_at, attempts = 0, doubts = 0, last_error = NULL, lease_by = NULL,
                lease_until = NULL
  RETURNING *
), rescheduled AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT m.company_id, m.case_id, m.id, 'message.rescheduled', a.now::timestamptz, a.origin::json, p.before
     FROM renewed m JOIN previous p ON p.id = m.id JOIN a ON m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id WHERE p.state = 'failed'
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth), LATERAL (
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                 (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
            FROM (SELECT id, channel, kind, start_at, state, day_before, true AS written FROM renewed
            UNION ALL SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
           ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states;

-- appointments.reinstate+states (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::text AS email_confirmation, $13::text AS email_notification, $14::int AS email_day_before, $15::text AS sms_confirmation, $16::text AS sms_notification, $17::int AS sms_day_before, 1 AS nth), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.reinstated', a.now::timestamptz, a.origin::json, a.was
     FROM a
  )
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.reinstate+states* (batch form)
WITH input AS (SELECT company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::json[], $6::timestamptz[], $7::json[], $8::text[], $9::int[], $10::int[], $11::text[], $12::text[], $13::text[], $14::int[], $15::text[], $16::text[], $17::int[]) WITH ORDINALITY AS batch (company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth)), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.reinstated', a.now::timestamptz, a.origin::json, a.was
     FROM a
  )
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.reinstate+states keyed (writes; pool: short)
WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::text AS email_confirmation, $13::text AS email_notification, $14::int AS email_day_before, $15::text AS sms_confirmation, $16::text AS sms_notification, $17::int AS sms_day_before, $18::uuid AS credential_id, $19::bytea AS key_sha256, $20::bytea AS request_sha256, $21::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL),
input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::text AS email_confirmation, $13::text AS email_notification, $14::int AS email_day_before, $15::text AS sms_confirmation, $16::text AS sms_notification, $17::int AS sms_day_before, $18::uuid AS credential_id, $19::bytea AS key_sha256, $20::bytea AS request_sha256, $21::text AS etag_suffix, 1 AS nth FROM guard), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.reinstated', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), answer AS (
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth)
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- appointments.reinstate+states keyed* (batch form)
WITH input AS MATERIALIZED (
  WITH input AS (SELECT company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, credential_id, key_sha256, request_sha256, etag_suffix, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::json[], $6::timestamptz[], $7::json[], $8::text[], $9::int[], $10::int[], $11::text[], $12::text[], $13::text[], $14::int[], $15::text[], $16::text[], $17::int[], $18::uuid[], $19::bytea[], $20::bytea[], $21::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, version, was, now, origin, end_time, attended, cancelled, type, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, credential_id, key_sha256, request_sha256, etag_suffix, nth))
  SELECT * FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.reinstated', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), answer AS (
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth)
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- appointments.reinstate+withdrawn (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::text[] AS withdrawn_channels, $13::text[] AS withdrawn_kinds, $14::text[] AS withdrawn_states, 1 AS nth), a AS (
    UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.reinstated', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), withdrawn AS (
  UPDATE messages m
     SET state = CASE m.state WHEN 'sending' THEN m.state ELSE x.state END,
         withdrawn = m.state = 'sending' AND m.kind <> 'reminder', updated_at = a.now
    FROM a JOIN input USING (nth), unnest(input.withdrawn_channels, input.withdrawn_kinds, input.withdrawn_states)
      AS x (channel, kind, state)
   WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
     AND m.channel = x.channel AND m.kind = x.kind
     AND (m.state IN ('scheduled', 'sending') OR m.state = 'skipped' AND (m.kind = 'reminder' OR a.cancelled = 0))
  RETURNING m.*
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth), LATERAL (
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                 (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
            FROM (SELECT id, channel, kind, start_at, state, day_before, true AS written FROM withdrawn
            UNION ALL SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
           ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states;

-- appointments.reinstate+withdrawn+cancellations+meeting (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::text[] AS withdrawn_channels, $13::text[] AS withdrawn_kinds, $14::text[] AS withdrawn_states, $15::uuid AS cancellation_id, 1 AS nth), a AS (
      UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, meeting_pending = a.video_meeting AND a.cancelled = 1 AND input.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.reinstated', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), withdrawn AS (
    UPDATE messages m
       SET state = CASE m.state WHEN 'sending' THEN m.state ELSE x.state END,
           withdrawn = m.state = 'sending' AND m.kind <> 'reminder', updated_at = a.now
      FROM a JOIN input USING (nth), unnest(input.withdrawn_channels, input.withdrawn_kinds, input.withdrawn_states)
        AS x (channel, kind, state)
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
       AND m.channel = x.channel AND m.kind = x.kind
       AND (m.state IN ('scheduled', 'sending') OR m.state = 'skipped' AND (m.kind = 'reminder' OR a.cancelled = 0))
    RETURNING m.*
  ), cancellations AS (INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at, recipient)
     SELECT a.company_id, a.case_id, a.id, a.start_at,
            (left(input.cancellation_id::text, 19) || substr(gen_random_uuid()::text, 20))::uuid,
            r.channel, 'cancellation', 'scheduled', a.now, false, a.now, a.now, r.recipient
       FROM a JOIN input USING (nth) CROSS JOIN LATERAL (
SELECT c.channel, c.recipient FROM messages c
 WHERE c.company_id = a.company_id AND c.case_id = a.case_id AND c.appointment_id = a.id AND c.state IN ('sending', 'sent') AND c.kind <> 'cancellation' AND c.recipient IS NOT NULL AND c.sequence > 0 AND NOT EXISTS (
   SELECT 1 FROM messages later
    WHERE later.company_id = a.company_id AND later.case_id = a.case_id AND later.appointment_id = a.id AND later.state IN ('sending', 'sent') AND later.channel = c.channel AND lower(coalesce(later.sent_to, later.recipient)) = lower(coalesce(c.sent_to, c.recipient))
      AND CASE later.kind WHEN 'cancellation' THEN later.sequence >= c.sequence
                          ELSE (later.sequence, later.id) > (c.sequence, c.id) END)) r
      WHERE a.end_at > a.now
     ON CONFLICT (company_id, case_id, appointment_id, channel, recipient)
       WHERE kind = 'cancellation' AND state = 'scheduled'
     DO NOTHING), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth), LATERAL (
    SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
           max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
           max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
           max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
           coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
           coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
      FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                   (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
              FROM (SELECT id, channel, kind, start_at, state, day_before, true AS written FROM withdrawn
              UNION ALL SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
             ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states;

-- appointments.reinstate+withdrawn+reminders+meeting (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::int AS attended, $10::int AS cancelled, $11::text AS type, $12::text[] AS withdrawn_channels, $13::text[] AS withdrawn_kinds, $14::text[] AS withdrawn_states, $15::uuid[] AS message_ids, $16::text[] AS message_channels, $17::text[] AS message_kinds, $18::text[] AS message_states, $19::timestamptz[] AS message_due_at, $20::boolean[] AS message_day_before, $21::text[] AS reminder_channels, 1 AS nth), a AS (
      UPDATE appointments a SET attended = input.attended, cancelled = input.cancelled, type = input.type, meeting_pending = a.video_meeting AND a.cancelled = 1 AND input.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.reinstated', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), withdrawn AS (
    UPDATE messages m
       SET state = CASE m.state WHEN 'sending' THEN m.state ELSE x.state END,
           withdrawn = m.state = 'sending' AND m.kind <> 'reminder', updated_at = a.now
      FROM a JOIN input USING (nth), unnest(input.withdrawn_channels, input.withdrawn_kinds, input.withdrawn_states)
        AS x (channel, kind, state)
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
       AND m.channel = x.channel AND m.kind = x.kind
       AND (m.state IN ('scheduled', 'sending') OR m.state = 'skipped' AND (m.kind = 'reminder' OR a.cancelled = 0))
    RETURNING m.*
  ), superseded AS (
    UPDATE messages m SET state = 'cancelled', updated_at = a.now
      FROM a JOIN input USING (nth)
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
       AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
  ), reminders AS (
    INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
    SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
      FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                   input.message_due_at, input.message_day_before)
        AS n (id, channel, kind, state, due_at, day_before)
     WHERE n.kind = 'reminder'
    RETURNING *
  ), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth), LATERAL (
    SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
           max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
           max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
           max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
           coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
           coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
      FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                   (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
              FROM (SELECT id, channel, kind, start_at, state, day_before, true AS written FROM withdrawn
              UNION ALL SELECT id, channel, kind, start_at, state, day_before, true AS written FROM reminders
              UNION ALL SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
             ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states;

-- appointments.rejection_reasons (reads; pool: short)
SELECT $3::text IS NOT NULL
         AND NOT EXISTS (
    SELECT d.id, d.video_provider FROM advisers d
     WHERE d.company_id = $1::uuid AND lower(d.email) = lower($3::text) AND d.active AND d.removed_at IS NULL
    OFFSET 0) AS unknown_adviser,
       $4::text IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM customers u
     WHERE u.company_id = $1::uuid AND u.case_id = $2::uuid AND lower(u.email) = lower($4::text)
       AND u.removed_at IS NULL) AS unknown_recipient
  FROM cases c WHERE c.company_id = $1::uuid AND c.id = $2::uuid;

-- appointments.restore+confirmations (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::uuid[] AS message_ids, $10::text[] AS message_channels, $11::text[] AS message_kinds, $12::text[] AS message_states, $13::timestamptz[] AS message_due_at, $14::boolean[] AS message_day_before, 1 AS nth), a AS (
    UPDATE appointments a SET deleted_at = NULL, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NOT NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.restored', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), confirmations AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
   WHERE n.kind = 'confirmation'
  ON CONFLICT (company_id, case_id, appointment_id, channel) WHERE kind = 'confirmation' AND state = 'scheduled'
  DO NOTHING
  RETURNING *
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth), LATERAL (
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                 (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
            FROM (SELECT id, channel, kind, start_at, state, day_before, true AS written FROM confirmations
            UNION ALL SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
           ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states;

-- appointments.restore+meeting+states (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::text AS email_confirmation, $10::text AS email_notification, $11::int AS email_day_before, $12::text AS sms_confirmation, $13::text AS sms_notification, $14::int AS sms_day_before, 1 AS nth), a AS (
      UPDATE appointments a SET deleted_at = NULL, meeting_pending = a.video_meeting AND a.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NOT NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.restored', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.restore+meeting+states* (batch form)
  WITH input AS (SELECT company_id, case_id, id, version, was, now, origin, end_time, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::json[], $6::timestamptz[], $7::json[], $8::text[], $9::text[], $10::text[], $11::int[], $12::text[], $13::text[], $14::int[]) WITH ORDINALITY AS batch (company_id, case_id, id, version, was, now, origin, end_time, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth)), a AS (
      UPDATE appointments a SET deleted_at = NULL, meeting_pending = a.video_meeting AND a.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NOT NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.restored', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.restore+reminders+meeting+states (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::uuid[] AS message_ids, $10::text[] AS message_channels, $11::text[] AS message_kinds, $12::text[] AS message_states, $13::timestamptz[] AS message_due_at, $14::boolean[] AS message_day_before, $15::text[] AS reminder_channels, $16::text AS email_confirmation, $17::text AS email_notification, $18::int AS email_day_before, $19::text AS sms_confirmation, $20::text AS sms_notification, $21::int AS sms_day_before, 1 AS nth), a AS (
      UPDATE appointments a SET deleted_at = NULL, meeting_pending = a.video_meeting AND a.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NOT NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.restored', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), superseded AS (
    UPDATE messages m SET state = 'cancelled', updated_at = a.now
      FROM a JOIN input USING (nth)
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
       AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
  ), reminders AS (
    INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
    SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
      FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                   input.message_due_at, input.message_day_before)
        AS n (id, channel, kind, state, due_at, day_before)
     WHERE n.kind = 'reminder'
    RETURNING *
  ), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.restore+reminders+meeting+states* (batch form)
  WITH input AS (SELECT company_id, case_id, id, version, was, now, origin, end_time, message_ids::uuid[], message_channels::text[], message_kinds::text[], message_states::text[], message_due_at::timestamptz[], message_day_before::boolean[], reminder_channels::text[], email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::json[], $6::timestamptz[], $7::json[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::int[], $19::text[], $20::text[], $21::int[]) WITH ORDINALITY AS batch (company_id, case_id, id, version, was, now, origin, end_time, message_ids, message_channels, message_kinds, message_states, message_due_at, message_day_before, reminder_channels, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth)), a AS (
      UPDATE appointments a SET deleted_at = NULL, meeting_pending = a.video_meeting AND a.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NOT NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.restored', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), superseded AS (
    UPDATE messages m SET state = 'cancelled', updated_at = a.now
      FROM a JOIN input USING (nth)
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
       AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
  ), reminders AS (
    INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
    SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
      FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                   input.message_due_at, input.message_day_before)
        AS n (id, channel, kind, state, due_at, day_before)
     WHERE n.kind = 'reminder'
    RETURNING *
  ), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.restore+reminders+states (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::uuid[] AS message_ids, $10::text[] AS message_channels, $11::text[] AS message_kinds, $12::text[] AS message_states, $13::timestamptz[] AS message_due_at, $14::boolean[] AS message_day_before, $15::text[] AS reminder_channels, $16::text AS email_confirmation, $17::text AS email_notification, $18::int AS email_day_before, $19::text AS sms_confirmation, $20::text AS sms_notification, $21::int AS sms_day_before, 1 AS nth), a AS (
    UPDATE appointments a SET deleted_at = NULL, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NOT NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.restored', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), superseded AS (
  UPDATE messages m SET state = 'cancelled', updated_at = a.now
    FROM a JOIN input USING (nth)
   WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
     AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
), reminders AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
   WHERE n.kind = 'reminder'
  RETURNING *
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.restore+reminders+states* (batch form)
WITH input AS (SELECT company_id, case_id, id, version, was, now, origin, end_time, message_ids::uuid[], message_channels::text[], message_kinds::text[], message_states::text[], message_due_at::timestamptz[], message_day_before::boolean[], reminder_channels::text[], email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::json[], $6::timestamptz[], $7::json[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::int[], $19::text[], $20::text[], $21::int[]) WITH ORDINALITY AS batch (company_id, case_id, id, version, was, now, origin, end_time, message_ids, message_channels, message_kinds, message_states, message_due_at, message_day_before, reminder_channels, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth)), a AS (
    UPDATE appointments a SET deleted_at = NULL, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NOT NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.restored', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), superseded AS (
  UPDATE messages m SET state = 'cancelled', updated_at = a.now
    FROM a JOIN input USING (nth)
   WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
     AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
), reminders AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
   WHERE n.kind = 'reminder'
  RETURNING *
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.restore+renewed (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::uuid[] AS message_ids, $10::text[] AS message_channels, $11::text[] AS message_kinds, $12::text[] AS message_states, $13::timestamptz[] AS message_due_at, $14::boolean[] AS message_day_before, $15::text[] AS reminder_channels, 1 AS nth), a AS (
    UPDATE appointments a SET deleted_at = NULL, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NOT NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.restored', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), superseded AS (
  UPDATE messages m SET state = 'cancelled', updated_at = a.now
    FROM a JOIN input USING (nth)
   WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
     AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
), previous AS MATERIALIZED (
  SELECT m.id, m.channel, m.state, json_build_object('id', m.id, 'appointment_id', m.appointment_id, 'customer_case_id', m.case_id, 'channel', m.channel, 'kind', m.kind, 'resend_of', m.resend_of, 'state', CASE WHEN m.state IN ('sent', 'failed') THEN m.state END, 'due_at', CASE WHEN m.state IN ('sent', 'failed') THEN to_char(m.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END, 'sent_at', to_char(m.sent_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'sent_to', m.sent_to, 'attempts', CASE WHEN m.state IN ('sent', 'failed') THEN m.attempts END, 'last_error', CASE WHEN m.state IN ('sent', 'failed') THEN m.last_error END, 'created_at', to_char(m.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) AS before
    FROM a JOIN input USING (nth) JOIN messages m ON m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
   WHERE m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels) AND m.start_at = a.start_at
     AND m.resend_of IS NULL
     FOR NO KEY UPDATE OF m
), renewed AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth) CROSS JOIN unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before) LEFT JOIN previous p ON p.channel = n.channel
   WHERE n.kind = 'reminder' AND coalesce(p.state NOT IN ('sent', 'sending', 'scheduled'), true)
  ON CONFLICT (company_id, case_id, appointment_id, channel, start_at)
    WHERE kind = 'reminder' AND resend_of IS NULL
  DO UPDATE SET state = excluded.state, due_at = excluded.due_at, day_before = excluded.day_before,
                updated_at = excluded.updated_at, attempts = 0, doubts = 0, last_error = NULL, lease_by = NULL,
                lease_until = NULL
  RETURNING *
), rescheduled AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT m.company_id, m.case_id, m.id, 'message.rescheduled', a.now::timestamptz, a.origin::json, p.before
     FROM renewed m JOIN previous p ON p.id = m.id JOIN a ON m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id WHERE p.state = 'failed'
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth), LATERAL (
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                 (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
            FROM (SELECT id, channel, kind, start_at, state, day_before, true AS written FROM renewed
            UNION ALL SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
           ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states;

-- appointments.restore+states (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::text AS email_confirmation, $10::text AS email_notification, $11::int AS email_day_before, $12::text AS sms_confirmation, $13::text AS sms_notification, $14::int AS sms_day_before, 1 AS nth), a AS (
    UPDATE appointments a SET deleted_at = NULL, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NOT NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.restored', a.now::timestamptz, a.origin::json, a.was
     FROM a
  )
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.restore+states* (batch form)
WITH input AS (SELECT company_id, case_id, id, version, was, now, origin, end_time, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::json[], $6::timestamptz[], $7::json[], $8::text[], $9::text[], $10::text[], $11::int[], $12::text[], $13::text[], $14::int[]) WITH ORDINALITY AS batch (company_id, case_id, id, version, was, now, origin, end_time, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth)), a AS (
    UPDATE appointments a SET deleted_at = NULL, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NOT NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.restored', a.now::timestamptz, a.origin::json, a.was
     FROM a
  )
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth);

-- appointments.restore+states keyed (writes; pool: short)
WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::text AS email_confirmation, $10::text AS email_notification, $11::int AS email_day_before, $12::text AS sms_confirmation, $13::text AS sms_notification, $14::int AS sms_day_before, $15::uuid AS credential_id, $16::bytea AS key_sha256, $17::bytea AS request_sha256, $18::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL),
input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::text AS email_confirmation, $10::text AS email_notification, $11::int AS email_day_before, $12::text AS sms_confirmation, $13::text AS sms_notification, $14::int AS sms_day_before, $15::uuid AS credential_id, $16::bytea AS key_sha256, $17::bytea AS request_sha256, $18::text AS etag_suffix, 1 AS nth FROM guard), a AS (
    UPDATE appointments a SET deleted_at = NULL, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NOT NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.restored', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), answer AS (
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth)
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- appointments.restore+states keyed* (batch form)
WITH input AS MATERIALIZED (
  WITH input AS (SELECT company_id, case_id, id, version, was, now, origin, end_time, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, credential_id, key_sha256, request_sha256, etag_suffix, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::json[], $6::timestamptz[], $7::json[], $8::text[], $9::text[], $10::text[], $11::int[], $12::text[], $13::text[], $14::int[], $15::uuid[], $16::bytea[], $17::bytea[], $18::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, version, was, now, origin, end_time, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, credential_id, key_sha256, request_sha256, etag_suffix, nth))
  SELECT * FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL), a AS (
    UPDATE appointments a SET deleted_at = NULL, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NOT NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.restored', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), answer AS (
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', input.email_confirmation, 'email_notification', input.email_notification, 'email_day_before', input.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', input.sms_confirmation, 'sms_notification', input.sms_notification, 'sms_day_before', input.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth)
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- appointments.restore+withdrawn (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::text[] AS withdrawn_channels, $10::text[] AS withdrawn_kinds, $11::text[] AS withdrawn_states, 1 AS nth), a AS (
    UPDATE appointments a SET deleted_at = NULL, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NOT NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.restored', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), withdrawn AS (
  UPDATE messages m
     SET state = CASE m.state WHEN 'sending' THEN m.state ELSE x.state END,
         withdrawn = m.state = 'sending' AND m.kind <> 'reminder', updated_at = a.now
    FROM a JOIN input USING (nth), unnest(input.withdrawn_channels, input.withdrawn_kinds, input.withdrawn_states)
      AS x (channel, kind, state)
   WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
     AND m.channel = x.channel AND m.kind = x.kind
     AND (m.state IN ('scheduled', 'sending') OR m.state = 'skipped' AND (m.kind = 'reminder' OR a.cancelled = 0))
  RETURNING m.*
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth), LATERAL (
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                 (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
            FROM (SELECT id, channel, kind, start_at, state, day_before, true AS written FROM withdrawn
            UNION ALL SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
           ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states;

-- appointments.restore+withdrawn+cancellations+meeting (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::text[] AS withdrawn_channels, $10::text[] AS withdrawn_kinds, $11::text[] AS withdrawn_states, $12::uuid AS cancellation_id, 1 AS nth), a AS (
      UPDATE appointments a SET deleted_at = NULL, meeting_pending = a.video_meeting AND a.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NOT NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.restored', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), withdrawn AS (
    UPDATE messages m
       SET state = CASE m.state WHEN 'sending' THEN m.state ELSE x.state END,
           withdrawn = m.state = 'sending' AND m.kind <> 'reminder', updated_at = a.now
      FROM a JOIN input USING (nth), unnest(input.withdrawn_channels, input.withdrawn_kinds, input.withdrawn_states)
        AS x (channel, kind, state)
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
       AND m.channel = x.channel AND m.kind = x.kind
       AND (m.state IN ('scheduled', 'sending') OR m.state = 'skipped' AND (m.kind = 'reminder' OR a.cancelled = 0))
    RETURNING m.*
  ), cancellations AS (INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at, recipient)
     SELECT a.company_id, a.case_id, a.id, a.start_at,
            (left(input.cancellation_id::text, 19) || substr(gen_random_uuid()::text, 20))::uuid,
            r.channel, 'cancellation', 'scheduled', a.now, false, a.now, a.now, r.recipient
       FROM a JOIN input USING (nth) CROSS JOIN LATERAL (
SELECT c.channel, c.recipient FROM messages c
 WHERE c.company_id = a.company_id AND c.case_id = a.case_id AND c.appointment_id = a.id AND c.state IN ('sending', 'sent') AND c.kind <> 'cancellation' AND c.recipient IS NOT NULL AND c.sequence > 0 AND NOT EXISTS (
   SELECT 1 FROM messages later
    WHERE later.company_id = a.company_id AND later.case_id = a.case_id AND later.appointment_id = a.id AND later.state IN ('sending', 'sent') AND later.channel = c.channel AND lower(coalesce(later.sent_to, later.recipient)) = lower(coalesce(c.sent_to, c.recipient))
      AND CASE later.kind WHEN 'cancellation' THEN later.sequence >= c.sequence
                          ELSE (later.sequence, later.id) > (c.sequence, c.id) END)) r
      WHERE a.end_at > a.now
     ON CONFLICT (company_id, case_id, appointment_id, channel, recipient)
       WHERE kind = 'cancellation' AND state = 'scheduled'
     DO NOTHING), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth), LATERAL (
    SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
           max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
           max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
           max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
           coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
           coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
      FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                   (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
              FROM (SELECT id, channel, kind, start_at, state, day_before, true AS written FROM withdrawn
              UNION ALL SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
             ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states;

-- appointments.restore+withdrawn+reminders+meeting (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::text[] AS withdrawn_channels, $10::text[] AS withdrawn_kinds, $11::text[] AS withdrawn_states, $12::uuid[] AS message_ids, $13::text[] AS message_channels, $14::text[] AS message_kinds, $15::text[] AS message_states, $16::timestamptz[] AS message_due_at, $17::boolean[] AS message_day_before, $18::text[] AS reminder_channels, 1 AS nth), a AS (
      UPDATE appointments a SET deleted_at = NULL, meeting_pending = a.video_meeting AND a.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NOT NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.restored', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), withdrawn AS (
    UPDATE messages m
       SET state = CASE m.state WHEN 'sending' THEN m.state ELSE x.state END,
           withdrawn = m.state = 'sending' AND m.kind <> 'reminder', updated_at = a.now
      FROM a JOIN input USING (nth), unnest(input.withdrawn_channels, input.withdrawn_kinds, input.withdrawn_states)
        AS x (channel, kind, state)
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
       AND m.channel = x.channel AND m.kind = x.kind
       AND (m.state IN ('scheduled', 'sending') OR m.state = 'skipped' AND (m.kind = 'reminder' OR a.cancelled = 0))
    RETURNING m.*
  ), superseded AS (
    UPDATE messages m SET state = 'cancelled', updated_at = a.now
      FROM a JOIN input USING (nth)
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
       AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
  ), reminders AS (
    INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
    SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
      FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                   input.message_due_at, input.message_day_before)
        AS n (id, channel, kind, state, due_at, day_before)
     WHERE n.kind = 'reminder'
    RETURNING *
  ), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)) AS version, json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', input.end_time, 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text AS json FROM a JOIN input USING (nth), LATERAL (
    SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
           max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
           max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
           max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
           coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
           coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
      FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                   (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
              FROM (SELECT id, channel, kind, start_at, state, day_before, true AS written FROM withdrawn
              UNION ALL SELECT id, channel, kind, start_at, state, day_before, true AS written FROM reminders
              UNION ALL SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
             ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states;

-- appointments.set_external_id (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS external_id, $5::timestamptz AS now, $6::json AS origin, 1 AS nth), a AS (
    UPDATE appointments a SET external_id = input.external_id, updated_at = input.now, version = a.version + 1
      FROM input, appointments seen
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND a.version = seen.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, json_build_object('appointments', seen) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.updated', a.now::timestamptz, a.origin::json, a.was
     FROM a
  )
SELECT nth, NULL AS version, json_build_object('id', a.id, 'external_id', a.external_id)::text AS json FROM a;

-- appointments.set_external_id keyed (writes; pool: short)
WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS external_id, $5::timestamptz AS now, $6::json AS origin, $7::uuid AS credential_id, $8::bytea AS key_sha256, $9::bytea AS request_sha256, $10::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL),
input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::text AS external_id, $5::timestamptz AS now, $6::json AS origin, $7::uuid AS credential_id, $8::bytea AS key_sha256, $9::bytea AS request_sha256, $10::text AS etag_suffix, 1 AS nth FROM guard), a AS (
    UPDATE appointments a SET external_id = input.external_id, updated_at = input.now, version = a.version + 1
      FROM input, appointments seen
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id AND seen.company_id = input.company_id AND seen.case_id = input.case_id AND seen.id = input.id AND a.version = seen.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, json_build_object('appointments', seen) AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.updated', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), answer AS (
  SELECT nth, NULL AS version, json_build_object('id', a.id, 'external_id', a.external_id)::text AS json FROM a
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- appointments.update+confirmations (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::timestamptz AS start_at, $10::timestamptz AS end_at, $11::text AS email_recipient, $12::text AS sms_recipient, $13::boolean AS email_reminder, $14::boolean AS sms_reminder, $15::text AS notes, $16::text AS location, $17::uuid[] AS message_ids, $18::text[] AS message_channels, $19::text[] AS message_kinds, $20::text[] AS message_states, $21::timestamptz[] AS message_due_at, $22::boolean[] AS message_day_before, 1 AS nth), a AS (
    UPDATE appointments a SET start_at = input.start_at, end_at = input.end_at, email_recipient = input.email_recipient,
      sms_recipient = input.sms_recipient, email_reminder = input.email_reminder,
      sms_reminder = input.sms_reminder, notes = input.notes, location = input.location, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.updated', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), confirmations AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
   WHERE n.kind = 'confirmation'
  ON CONFLICT (company_id, case_id, appointment_id, channel) WHERE kind = 'confirmation' AND state = 'scheduled'
  DO NOTHING
  RETURNING *
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (states.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (states.email_notification) || '"', 'null') || ', "email_day_before" : ' || (states.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (states.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (states.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (states.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "type" : ' || coalesce(to_json(a.type)::text, 'null') || ', "attended" : ' || (a.attended)::text || ', "cancelled" : ' || (a.cancelled)::text || ', "deleted_at" : ' || coalesce('"' || (to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "email_recipient" : ' || to_json(coalesce(a.email_recipient, ''))::text || ', "video_id" : ' || coalesce(to_json(a.video_id)::text, 'null') || ', "join_url" : ' || coalesce(to_json(a.join_url)::text, 'null') || '}') AS json FROM a JOIN input USING (nth), LATERAL (
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                 (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
            FROM (SELECT id, channel, kind, start_at, state, day_before, true AS written FROM confirmations
            UNION ALL SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
           ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states;

-- appointments.update+meeting+states (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::timestamptz AS start_at, $10::timestamptz AS end_at, $11::text AS email_recipient, $12::text AS sms_recipient, $13::boolean AS email_reminder, $14::boolean AS sms_reminder, $15::text AS notes, $16::text AS location, $17::text AS email_confirmation, $18::text AS email_notification, $19::int AS email_day_before, $20::text AS sms_confirmation, $21::text AS sms_notification, $22::int AS sms_day_before, 1 AS nth), a AS (
      UPDATE appointments a SET start_at = input.start_at, end_at = input.end_at, email_recipient = input.email_recipient,
        sms_recipient = input.sms_recipient, email_reminder = input.email_reminder,
        sms_reminder = input.sms_reminder, notes = input.notes, location = input.location, meeting_pending = a.video_meeting AND (a.start_at, a.end_at) IS DISTINCT FROM (input.start_at, input.end_at) AND a.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.updated', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "type" : ' || coalesce(to_json(a.type)::text, 'null') || ', "attended" : ' || (a.attended)::text || ', "cancelled" : ' || (a.cancelled)::text || ', "deleted_at" : ' || coalesce('"' || (to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "email_recipient" : ' || to_json(coalesce(a.email_recipient, ''))::text || ', "video_id" : ' || coalesce(to_json(a.video_id)::text, 'null') || ', "join_url" : ' || coalesce(to_json(a.join_url)::text, 'null') || '}') AS json FROM a JOIN input USING (nth);

-- appointments.update+meeting+states* (batch form)
  WITH input AS (SELECT company_id, case_id, id, version, was, now, origin, end_time, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::json[], $6::timestamptz[], $7::json[], $8::text[], $9::timestamptz[], $10::timestamptz[], $11::text[], $12::text[], $13::boolean[], $14::boolean[], $15::text[], $16::text[], $17::text[], $18::text[], $19::int[], $20::text[], $21::text[], $22::int[]) WITH ORDINALITY AS batch (company_id, case_id, id, version, was, now, origin, end_time, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth)), a AS (
      UPDATE appointments a SET start_at = input.start_at, end_at = input.end_at, email_recipient = input.email_recipient,
        sms_recipient = input.sms_recipient, email_reminder = input.email_reminder,
        sms_reminder = input.sms_reminder, notes = input.notes, location = input.location, meeting_pending = a.video_meeting AND (a.start_at, a.end_at) IS DISTINCT FROM (input.start_at, input.end_at) AND a.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.updated', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "type" : ' || coalesce(to_json(a.type)::text, 'null') || ', "attended" : ' || (a.attended)::text || ', "cancelled" : ' || (a.cancelled)::text || ', "deleted_at" : ' || coalesce('"' || (to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "email_recipient" : ' || to_json(coalesce(a.email_recipient, ''))::text || ', "video_id" : ' || coalesce(to_json(a.video_id)::text, 'null') || ', "join_url" : ' || coalesce(to_json(a.join_url)::text, 'null') || '}') AS json FROM a JOIN input USING (nth);

-- appointments.update+reminders+meeting+states (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::timestamptz AS start_at, $10::timestamptz AS end_at, $11::text AS email_recipient, $12::text AS sms_recipient, $13::boolean AS email_reminder, $14::boolean AS sms_reminder, $15::text AS notes, $16::text AS location, $17::uuid[] AS message_ids, $18::text[] AS message_channels, $19::text[] AS message_kinds, $20::text[] AS message_states, $21::timestamptz[] AS message_due_at, $22::boolean[] AS message_day_before, $23::text[] AS reminder_channels, $24::text AS email_confirmation, $25::text AS email_notification, $26::int AS email_day_before, $27::text AS sms_confirmation, $28::text AS sms_notification, $29::int AS sms_day_before, 1 AS nth), a AS (
      UPDATE appointments a SET start_at = input.start_at, end_at = input.end_at, email_recipient = input.email_recipient,
        sms_recipient = input.sms_recipient, email_reminder = input.email_reminder,
        sms_reminder = input.sms_reminder, notes = input.notes, location = input.location, meeting_pending = a.video_meeting AND (a.start_at, a.end_at) IS DISTINCT FROM (input.start_at, input.end_at) AND a.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.updated', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), superseded AS (
    UPDATE messages m SET state = 'cancelled', updated_at = a.now
      FROM a JOIN input USING (nth)
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
       AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
  ), reminders AS (
    INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
    SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
      FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                   input.message_due_at, input.message_day_before)
        AS n (id, channel, kind, state, due_at, day_before)
     WHERE n.kind = 'reminder'
    RETURNING *
  ), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "type" : ' || coalesce(to_json(a.type)::text, 'null') || ', "attended" : ' || (a.attended)::text || ', "cancelled" : ' || (a.cancelled)::text || ', "deleted_at" : ' || coalesce('"' || (to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "email_recipient" : ' || to_json(coalesce(a.email_recipient, ''))::text || ', "video_id" : ' || coalesce(to_json(a.video_id)::text, 'null') || ', "join_url" : ' || coalesce(to_json(a.join_url)::text, 'null') || '}') AS json FROM a JOIN input USING (nth);

-- appointments.update+reminders+meeting+states* (batch form)
  WITH input AS (SELECT company_id, case_id, id, version, was, now, origin, end_time, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, message_ids::uuid[], message_channels::text[], message_kinds::text[], message_states::text[], message_due_at::timestamptz[], message_day_before::boolean[], reminder_channels::text[], email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::json[], $6::timestamptz[], $7::json[], $8::text[], $9::timestamptz[], $10::timestamptz[], $11::text[], $12::text[], $13::boolean[], $14::boolean[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::text[], $24::text[], $25::text[], $26::int[], $27::text[], $28::text[], $29::int[]) WITH ORDINALITY AS batch (company_id, case_id, id, version, was, now, origin, end_time, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, message_ids, message_channels, message_kinds, message_states, message_due_at, message_day_before, reminder_channels, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth)), a AS (
      UPDATE appointments a SET start_at = input.start_at, end_at = input.end_at, email_recipient = input.email_recipient,
        sms_recipient = input.sms_recipient, email_reminder = input.email_reminder,
        sms_reminder = input.sms_reminder, notes = input.notes, location = input.location, meeting_pending = a.video_meeting AND (a.start_at, a.end_at) IS DISTINCT FROM (input.start_at, input.end_at) AND a.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.updated', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), superseded AS (
    UPDATE messages m SET state = 'cancelled', updated_at = a.now
      FROM a JOIN input USING (nth)
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
       AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
  ), reminders AS (
    INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
    SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
      FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                   input.message_due_at, input.message_day_before)
        AS n (id, channel, kind, state, due_at, day_before)
     WHERE n.kind = 'reminder'
    RETURNING *
  ), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "type" : ' || coalesce(to_json(a.type)::text, 'null') || ', "attended" : ' || (a.attended)::text || ', "cancelled" : ' || (a.cancelled)::text || ', "deleted_at" : ' || coalesce('"' || (to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "email_recipient" : ' || to_json(coalesce(a.email_recipient, ''))::text || ', "video_id" : ' || coalesce(to_json(a.video_id)::text, 'null') || ', "join_url" : ' || coalesce(to_json(a.join_url)::text, 'null') || '}') AS json FROM a JOIN input USING (nth);

-- appointments.update+reminders+states (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::timestamptz AS start_at, $10::timestamptz AS end_at, $11::text AS email_recipient, $12::text AS sms_recipient, $13::boolean AS email_reminder, $14::boolean AS sms_reminder, $15::text AS notes, $16::text AS location, $17::uuid[] AS message_ids, $18::text[] AS message_channels, $19::text[] AS message_kinds, $20::text[] AS message_states, $21::timestamptz[] AS message_due_at, $22::boolean[] AS message_day_before, $23::text[] AS reminder_channels, $24::text AS email_confirmation, $25::text AS email_notification, $26::int AS email_day_before, $27::text AS sms_confirmation, $28::text AS sms_notification, $29::int AS sms_day_before, 1 AS nth), a AS (
    UPDATE appointments a SET start_at = input.start_at, end_at = input.end_at, email_recipient = input.email_recipient,
      sms_recipient = input.sms_recipient, email_reminder = input.email_reminder,
      sms_reminder = input.sms_reminder, notes = input.notes, location = input.location, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.updated', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), superseded AS (
  UPDATE messages m SET state = 'cancelled', updated_at = a.now
    FROM a JOIN input USING (nth)
   WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
     AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
), reminders AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
   WHERE n.kind = 'reminder'
  RETURNING *
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "type" : ' || coalesce(to_json(a.type)::text, 'null') || ', "attended" : ' || (a.attended)::text || ', "cancelled" : ' || (a.cancelled)::text || ', "deleted_at" : ' || coalesce('"' || (to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "email_recipient" : ' || to_json(coalesce(a.email_recipient, ''))::text || ', "video_id" : ' || coalesce(to_json(a.video_id)::text, 'null') || ', "join_url" : ' || coalesce(to_json(a.join_url)::text, 'null') || '}') AS json FROM a JOIN input USING (nth);

-- appointments.update+reminders+states* (batch form)
WITH input AS (SELECT company_id, case_id, id, version, was, now, origin, end_time, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, message_ids::uuid[], message_channels::text[], message_kinds::text[], message_states::text[], message_due_at::timestamptz[], message_day_before::boolean[], reminder_channels::text[], email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::json[], $6::timestamptz[], $7::json[], $8::text[], $9::timestamptz[], $10::timestamptz[], $11::text[], $12::text[], $13::boolean[], $14::boolean[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[], $22::text[], $23::text[], $24::text[], $25::text[], $26::int[], $27::text[], $28::text[], $29::int[]) WITH ORDINALITY AS batch (company_id, case_id, id, version, was, now, origin, end_time, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, message_ids, message_channels, message_kinds, message_states, message_due_at, message_day_before, reminder_channels, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth)), a AS (
    UPDATE appointments a SET start_at = input.start_at, end_at = input.end_at, email_recipient = input.email_recipient,
      sms_recipient = input.sms_recipient, email_reminder = input.email_reminder,
      sms_reminder = input.sms_reminder, notes = input.notes, location = input.location, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.updated', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), superseded AS (
  UPDATE messages m SET state = 'cancelled', updated_at = a.now
    FROM a JOIN input USING (nth)
   WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
     AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
), reminders AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before)
   WHERE n.kind = 'reminder'
  RETURNING *
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "type" : ' || coalesce(to_json(a.type)::text, 'null') || ', "attended" : ' || (a.attended)::text || ', "cancelled" : ' || (a.cancelled)::text || ', "deleted_at" : ' || coalesce('"' || (to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "email_recipient" : ' || to_json(coalesce(a.email_recipient, ''))::text || ', "video_id" : ' || coalesce(to_json(a.video_id)::text, 'null') || ', "join_url" : ' || coalesce(to_json(a.join_url)::text, 'null') || '}') AS json FROM a JOIN input USING (nth);

-- appointments.update+renewed (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::timestamptz AS start_at, $10::timestamptz AS end_at, $11::text AS email_recipient, $12::text AS sms_recipient, $13::boolean AS email_reminder, $14::boolean AS sms_reminder, $15::text AS notes, $16::text AS location, $17::uuid[] AS message_ids, $18::text[] AS message_channels, $19::text[] AS message_kinds, $20::text[] AS message_states, $21::timestamptz[] AS message_due_at, $22::boolean[] AS message_day_before, $23::text[] AS reminder_channels, 1 AS nth), a AS (
    UPDATE appointments a SET start_at = input.start_at, end_at = input.end_at, email_recipient = input.email_recipient,
      sms_recipient = input.sms_recipient, email_reminder = input.email_reminder,
      sms_reminder = input.sms_reminder, notes = input.notes, location = input.location, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.updated', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), superseded AS (
  UPDATE messages m SET state = 'cancelled', updated_at = a.now
    FROM a JOIN input USING (nth)
   WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
     AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
), previous AS MATERIALIZED (
  SELECT m.id, m.channel, m.state, json_build_object('id', m.id, 'appointment_id', m.appointment_id, 'customer_case_id', m.case_id, 'channel', m.channel, 'kind', m.kind, 'resend_of', m.resend_of, 'state', CASE WHEN m.state IN ('sent', 'failed') THEN m.state END, 'due_at', CASE WHEN m.state IN ('sent', 'failed') THEN to_char(m.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END, 'sent_at', to_char(m.sent_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'sent_to', m.sent_to, 'attempts', CASE WHEN m.state IN ('sent', 'failed') THEN m.attempts END, 'last_error', CASE WHEN m.state IN ('sent', 'failed') THEN m.last_error END, 'created_at', to_char(m.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) AS before
    FROM a JOIN input USING (nth) JOIN messages m ON m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
   WHERE m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels) AND m.start_at = a.start_at
     AND m.resend_of IS NULL
     FOR NO KEY UPDATE OF m
), renewed AS (
  INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
  SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
    FROM a JOIN input USING (nth) CROSS JOIN unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                 input.message_due_at, input.message_day_before)
      AS n (id, channel, kind, state, due_at, day_before) LEFT JOIN previous p ON p.channel = n.channel
   WHERE n.kind = 'reminder' AND coalesce(p.state NOT IN ('sent', 'sending', 'scheduled'), true)
  ON CONFLICT (company_id, case_id, appointment_id, channel, start_at)
    WHERE kind = 'reminder' AND resend_of IS NULL
  DO UPDATE SET state = excluded.state, due_at = excluded.due_at, day_before = excluded.day_before,
                updated_at = excluded.updated_at, attempts = 0, doubts = 0, last_error = NULL, lease_by = NULL,
                lease_until = NULL
  RETURNING *
), rescheduled AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT m.company_id, m.case_id, m.id, 'message.rescheduled', a.now::timestamptz, a.origin::json, p.before
     FROM renewed m JOIN previous p ON p.id = m.id JOIN a ON m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id WHERE p.state = 'failed'
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (states.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (states.email_notification) || '"', 'null') || ', "email_day_before" : ' || (states.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (states.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (states.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (states.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "type" : ' || coalesce(to_json(a.type)::text, 'null') || ', "attended" : ' || (a.attended)::text || ', "cancelled" : ' || (a.cancelled)::text || ', "deleted_at" : ' || coalesce('"' || (to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "email_recipient" : ' || to_json(coalesce(a.email_recipient, ''))::text || ', "video_id" : ' || coalesce(to_json(a.video_id)::text, 'null') || ', "join_url" : ' || coalesce(to_json(a.join_url)::text, 'null') || '}') AS json FROM a JOIN input USING (nth), LATERAL (
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                 (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
            FROM (SELECT id, channel, kind, start_at, state, day_before, true AS written FROM renewed
            UNION ALL SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
           ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states;

-- appointments.update+states (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::timestamptz AS start_at, $10::timestamptz AS end_at, $11::text AS email_recipient, $12::text AS sms_recipient, $13::boolean AS email_reminder, $14::boolean AS sms_reminder, $15::text AS notes, $16::text AS location, $17::text AS email_confirmation, $18::text AS email_notification, $19::int AS email_day_before, $20::text AS sms_confirmation, $21::text AS sms_notification, $22::int AS sms_day_before, 1 AS nth), a AS (
    UPDATE appointments a SET start_at = input.start_at, end_at = input.end_at, email_recipient = input.email_recipient,
      sms_recipient = input.sms_recipient, email_reminder = input.email_reminder,
      sms_reminder = input.sms_reminder, notes = input.notes, location = input.location, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.updated', a.now::timestamptz, a.origin::json, a.was
     FROM a
  )
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "type" : ' || coalesce(to_json(a.type)::text, 'null') || ', "attended" : ' || (a.attended)::text || ', "cancelled" : ' || (a.cancelled)::text || ', "deleted_at" : ' || coalesce('"' || (to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "email_recipient" : ' || to_json(coalesce(a.email_recipient, ''))::text || ', "video_id" : ' || coalesce(to_json(a.video_id)::text, 'null') || ', "join_url" : ' || coalesce(to_json(a.join_url)::text, 'null') || '}') AS json FROM a JOIN input USING (nth);

-- appointments.update+states* (batch form)
WITH input AS (SELECT company_id, case_id, id, version, was, now, origin, end_time, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::json[], $6::timestamptz[], $7::json[], $8::text[], $9::timestamptz[], $10::timestamptz[], $11::text[], $12::text[], $13::boolean[], $14::boolean[], $15::text[], $16::text[], $17::text[], $18::text[], $19::int[], $20::text[], $21::text[], $22::int[]) WITH ORDINALITY AS batch (company_id, case_id, id, version, was, now, origin, end_time, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, nth)), a AS (
    UPDATE appointments a SET start_at = input.start_at, end_at = input.end_at, email_recipient = input.email_recipient,
      sms_recipient = input.sms_recipient, email_reminder = input.email_reminder,
      sms_reminder = input.sms_reminder, notes = input.notes, location = input.location, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.updated', a.now::timestamptz, a.origin::json, a.was
     FROM a
  )
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "type" : ' || coalesce(to_json(a.type)::text, 'null') || ', "attended" : ' || (a.attended)::text || ', "cancelled" : ' || (a.cancelled)::text || ', "deleted_at" : ' || coalesce('"' || (to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "email_recipient" : ' || to_json(coalesce(a.email_recipient, ''))::text || ', "video_id" : ' || coalesce(to_json(a.video_id)::text, 'null') || ', "join_url" : ' || coalesce(to_json(a.join_url)::text, 'null') || '}') AS json FROM a JOIN input USING (nth);

-- appointments.update+states keyed (writes; pool: short)
WITH guard AS MATERIALIZED (WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::timestamptz AS start_at, $10::timestamptz AS end_at, $11::text AS email_recipient, $12::text AS sms_recipient, $13::boolean AS email_reminder, $14::boolean AS sms_reminder, $15::text AS notes, $16::text AS location, $17::text AS email_confirmation, $18::text AS email_notification, $19::int AS email_day_before, $20::text AS sms_confirmation, $21::text AS sms_notification, $22::int AS sms_day_before, $23::uuid AS credential_id, $24::bytea AS key_sha256, $25::bytea AS request_sha256, $26::text AS etag_suffix, 1 AS nth) SELECT FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL),
input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::timestamptz AS start_at, $10::timestamptz AS end_at, $11::text AS email_recipient, $12::text AS sms_recipient, $13::boolean AS email_reminder, $14::boolean AS sms_reminder, $15::text AS notes, $16::text AS location, $17::text AS email_confirmation, $18::text AS email_notification, $19::int AS email_day_before, $20::text AS sms_confirmation, $21::text AS sms_notification, $22::int AS sms_day_before, $23::uuid AS credential_id, $24::bytea AS key_sha256, $25::bytea AS request_sha256, $26::text AS etag_suffix, 1 AS nth FROM guard), a AS (
    UPDATE appointments a SET start_at = input.start_at, end_at = input.end_at, email_recipient = input.email_recipient,
      sms_recipient = input.sms_recipient, email_reminder = input.email_reminder,
      sms_reminder = input.sms_reminder, notes = input.notes, location = input.location, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.updated', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), answer AS (
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "type" : ' || coalesce(to_json(a.type)::text, 'null') || ', "attended" : ' || (a.attended)::text || ', "cancelled" : ' || (a.cancelled)::text || ', "deleted_at" : ' || coalesce('"' || (to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "email_recipient" : ' || to_json(coalesce(a.email_recipient, ''))::text || ', "video_id" : ' || coalesce(to_json(a.video_id)::text, 'null') || ', "join_url" : ' || coalesce(to_json(a.join_url)::text, 'null') || '}') AS json FROM a JOIN input USING (nth)
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- appointments.update+states keyed* (batch form)
WITH input AS MATERIALIZED (
  WITH input AS (SELECT company_id, case_id, id, version, was, now, origin, end_time, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, credential_id, key_sha256, request_sha256, etag_suffix, nth FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::json[], $6::timestamptz[], $7::json[], $8::text[], $9::timestamptz[], $10::timestamptz[], $11::text[], $12::text[], $13::boolean[], $14::boolean[], $15::text[], $16::text[], $17::text[], $18::text[], $19::int[], $20::text[], $21::text[], $22::int[], $23::uuid[], $24::bytea[], $25::bytea[], $26::text[]) WITH ORDINALITY AS batch (company_id, case_id, id, version, was, now, origin, end_time, start_at, end_at, email_recipient, sms_recipient, email_reminder, sms_reminder, notes, location, email_confirmation, email_notification, email_day_before, sms_confirmation, sms_notification, sms_day_before, credential_id, key_sha256, request_sha256, etag_suffix, nth))
  SELECT * FROM input WHERE pg_try_advisory_xact_lock(hash_record_extended((input.credential_id, input.key_sha256), 0)) AND (
    SELECT k.created_at FROM idempotency_keys k
     WHERE k.company_id = input.company_id AND k.credential_id = input.credential_id
       AND k.key_sha256 = input.key_sha256) IS NULL), a AS (
    UPDATE appointments a SET start_at = input.start_at, end_at = input.end_at, email_recipient = input.email_recipient,
      sms_recipient = input.sms_recipient, email_reminder = input.email_reminder,
      sms_reminder = input.sms_reminder, notes = input.notes, location = input.location, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.updated', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), answer AS (
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(input.email_confirmation::text, ''), coalesce(input.email_notification::text, ''), coalesce(input.email_day_before::text, ''), coalesce(input.sms_confirmation::text, ''), coalesce(input.sms_notification::text, ''), coalesce(input.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (input.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (input.email_notification) || '"', 'null') || ', "email_day_before" : ' || (input.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (input.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (input.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (input.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "type" : ' || coalesce(to_json(a.type)::text, 'null') || ', "attended" : ' || (a.attended)::text || ', "cancelled" : ' || (a.cancelled)::text || ', "deleted_at" : ' || coalesce('"' || (to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "email_recipient" : ' || to_json(coalesce(a.email_recipient, ''))::text || ', "video_id" : ' || coalesce(to_json(a.video_id)::text, 'null') || ', "join_url" : ' || coalesce(to_json(a.join_url)::text, 'null') || '}') AS json FROM a JOIN input USING (nth)
), stored AS (
  INSERT INTO idempotency_keys
    (company_id, credential_id, key_sha256, request_sha256, status, headers, etag, body, created_at)
  SELECT input.company_id, input.credential_id, input.key_sha256, input.request_sha256, 200,
         '{"content-type":"application/json; charset=utf-8"}', '"' || answer.version || input.etag_suffix,
         answer.json, input.now
    FROM answer JOIN input USING (nth))
SELECT nth, version, json FROM answer;

-- appointments.update+withdrawn (writes; pool: short)
WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::timestamptz AS start_at, $10::timestamptz AS end_at, $11::text AS email_recipient, $12::text AS sms_recipient, $13::boolean AS email_reminder, $14::boolean AS sms_reminder, $15::text AS notes, $16::text AS location, $17::text[] AS withdrawn_channels, $18::text[] AS withdrawn_kinds, $19::text[] AS withdrawn_states, 1 AS nth), a AS (
    UPDATE appointments a SET start_at = input.start_at, end_at = input.end_at, email_recipient = input.email_recipient,
      sms_recipient = input.sms_recipient, email_reminder = input.email_reminder,
      sms_reminder = input.sms_reminder, notes = input.notes, location = input.location, updated_at = input.now, version = a.version + 1
      FROM input
     WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
    RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
  ), event AS (
    INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
   SELECT a.company_id, a.case_id, a.id, 'appointment.updated', a.now::timestamptz, a.origin::json, a.was
     FROM a
  ), withdrawn AS (
  UPDATE messages m
     SET state = CASE m.state WHEN 'sending' THEN m.state ELSE x.state END,
         withdrawn = m.state = 'sending' AND m.kind <> 'reminder', updated_at = a.now
    FROM a JOIN input USING (nth), unnest(input.withdrawn_channels, input.withdrawn_kinds, input.withdrawn_states)
      AS x (channel, kind, state)
   WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
     AND m.channel = x.channel AND m.kind = x.kind
     AND (m.state IN ('scheduled', 'sending') OR m.state = 'skipped' AND (m.kind = 'reminder' OR a.cancelled = 0))
  RETURNING m.*
)
SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (states.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (states.email_notification) || '"', 'null') || ', "email_day_before" : ' || (states.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (states.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (states.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (states.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "type" : ' || coalesce(to_json(a.type)::text, 'null') || ', "attended" : ' || (a.attended)::text || ', "cancelled" : ' || (a.cancelled)::text || ', "deleted_at" : ' || coalesce('"' || (to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "email_recipient" : ' || to_json(coalesce(a.email_recipient, ''))::text || ', "video_id" : ' || coalesce(to_json(a.video_id)::text, 'null') || ', "join_url" : ' || coalesce(to_json(a.join_url)::text, 'null') || '}') AS json FROM a JOIN input USING (nth), LATERAL (
  SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
         max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
         max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
         coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
         coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
    FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                 (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
            FROM (SELECT id, channel, kind, start_at, state, day_before, true AS written FROM withdrawn
            UNION ALL SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
           ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states;

-- appointments.update+withdrawn+cancellations+meeting (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::timestamptz AS start_at, $10::timestamptz AS end_at, $11::text AS email_recipient, $12::text AS sms_recipient, $13::boolean AS email_reminder, $14::boolean AS sms_reminder, $15::text AS notes, $16::text AS location, $17::text[] AS withdrawn_channels, $18::text[] AS withdrawn_kinds, $19::text[] AS withdrawn_states, $20::uuid AS cancellation_id, 1 AS nth), a AS (
      UPDATE appointments a SET start_at = input.start_at, end_at = input.end_at, email_recipient = input.email_recipient,
        sms_recipient = input.sms_recipient, email_reminder = input.email_reminder,
        sms_reminder = input.sms_reminder, notes = input.notes, location = input.location, meeting_pending = a.video_meeting AND (a.start_at, a.end_at) IS DISTINCT FROM (input.start_at, input.end_at) AND a.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.updated', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), withdrawn AS (
    UPDATE messages m
       SET state = CASE m.state WHEN 'sending' THEN m.state ELSE x.state END,
           withdrawn = m.state = 'sending' AND m.kind <> 'reminder', updated_at = a.now
      FROM a JOIN input USING (nth), unnest(input.withdrawn_channels, input.withdrawn_kinds, input.withdrawn_states)
        AS x (channel, kind, state)
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
       AND m.channel = x.channel AND m.kind = x.kind
       AND (m.state IN ('scheduled', 'sending') OR m.state = 'skipped' AND (m.kind = 'reminder' OR a.cancelled = 0))
    RETURNING m.*
  ), cancellations AS (INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at, recipient)
     SELECT a.company_id, a.case_id, a.id, a.start_at,
            (left(input.cancellation_id::text, 19) || substr(gen_random_uuid()::text, 20))::uuid,
            r.channel, 'cancellation', 'scheduled', a.now, false, a.now, a.now, r.recipient
       FROM a JOIN input USING (nth) CROSS JOIN LATERAL (
SELECT c.channel, c.recipient FROM messages c
 WHERE c.company_id = a.company_id AND c.case_id = a.case_id AND c.appointment_id = a.id AND c.state IN ('sending', 'sent') AND c.kind <> 'cancellation' AND c.recipient IS NOT NULL AND c.sequence > 0 AND NOT EXISTS (
   SELECT 1 FROM messages later
    WHERE later.company_id = a.company_id AND later.case_id = a.case_id AND later.appointment_id = a.id AND later.state IN ('sending', 'sent') AND later.channel = c.channel AND lower(coalesce(later.sent_to, later.recipient)) = lower(coalesce(c.sent_to, c.recipient))
      AND CASE later.kind WHEN 'cancellation' THEN later.sequence >= c.sequence
                          ELSE (later.sequence, later.id) > (c.sequence, c.id) END)) r
      WHERE a.end_at > a.now
     ON CONFLICT (company_id, case_id, appointment_id, channel, recipient)
       WHERE kind = 'cancellation' AND state = 'scheduled'
     DO NOTHING), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (states.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (states.email_notification) || '"', 'null') || ', "email_day_before" : ' || (states.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (states.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (states.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (states.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "type" : ' || coalesce(to_json(a.type)::text, 'null') || ', "attended" : ' || (a.attended)::text || ', "cancelled" : ' || (a.cancelled)::text || ', "deleted_at" : ' || coalesce('"' || (to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "email_recipient" : ' || to_json(coalesce(a.email_recipient, ''))::text || ', "video_id" : ' || coalesce(to_json(a.video_id)::text, 'null') || ', "join_url" : ' || coalesce(to_json(a.join_url)::text, 'null') || '}') AS json FROM a JOIN input USING (nth), LATERAL (
    SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
           max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
           max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
           max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
           coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
           coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
      FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                   (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
              FROM (SELECT id, channel, kind, start_at, state, day_before, true AS written FROM withdrawn
              UNION ALL SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
             ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states;

-- appointments.update+withdrawn+reminders+meeting (writes; pool: short)
  WITH input AS NOT MATERIALIZED (SELECT $1::uuid AS company_id, $2::uuid AS case_id, $3::uuid AS id, $4::int AS version, $5::json AS was, $6::timestamptz AS now, $7::json AS origin, $8::text AS end_time, $9::timestamptz AS start_at, $10::timestamptz AS end_at, $11::text AS email_recipient, $12::text AS sms_recipient, $13::boolean AS email_reminder, $14::boolean AS sms_reminder, $15::text AS notes, $16::text AS location, $17::text[] AS withdrawn_channels, $18::text[] AS withdrawn_kinds, $19::text[] AS withdrawn_states, $20::uuid[] AS message_ids, $21::text[] AS message_channels, $22::text[] AS message_kinds, $23::text[] AS message_states, $24::timestamptz[] AS message_due_at, $25::boolean[] AS message_day_before, $26::text[] AS reminder_channels, 1 AS nth), a AS (
      UPDATE appointments a SET start_at = input.start_at, end_at = input.end_at, email_recipient = input.email_recipient,
        sms_recipient = input.sms_recipient, email_reminder = input.email_reminder,
        sms_reminder = input.sms_reminder, notes = input.notes, location = input.location, meeting_pending = a.video_meeting AND (a.start_at, a.end_at) IS DISTINCT FROM (input.start_at, input.end_at) AND a.cancelled = 0
                                       OR a.meeting_pending AND NOT EXISTS (SELECT 1 FROM meetings g WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id AND g.state = 'failed'), updated_at = input.now, version = a.version + 1
        FROM input
       WHERE a.company_id = input.company_id AND a.case_id = input.case_id AND a.id = input.id  AND a.version = input.version AND a.deleted_at IS NULL
      RETURNING a.*, input.nth, input.now, input.origin, input.was AS was
    ), event AS (
      INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
     SELECT a.company_id, a.case_id, a.id, 'appointment.updated', a.now::timestamptz, a.origin::json, a.was
       FROM a
    ), withdrawn AS (
    UPDATE messages m
       SET state = CASE m.state WHEN 'sending' THEN m.state ELSE x.state END,
           withdrawn = m.state = 'sending' AND m.kind <> 'reminder', updated_at = a.now
      FROM a JOIN input USING (nth), unnest(input.withdrawn_channels, input.withdrawn_kinds, input.withdrawn_states)
        AS x (channel, kind, state)
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id
       AND m.channel = x.channel AND m.kind = x.kind
       AND (m.state IN ('scheduled', 'sending') OR m.state = 'skipped' AND (m.kind = 'reminder' OR a.cancelled = 0))
    RETURNING m.*
  ), superseded AS (
    UPDATE messages m SET state = 'cancelled', updated_at = a.now
      FROM a JOIN input USING (nth)
     WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id AND m.kind = 'reminder' AND m.channel = ANY (input.reminder_channels)
       AND m.start_at <> a.start_at AND m.state IN ('scheduled', 'skipped')
  ), reminders AS (
    INSERT INTO messages (company_id, case_id, appointment_id, start_at, id, channel, kind, state, due_at, day_before, created_at, updated_at)
    SELECT a.company_id, a.case_id, a.id, a.start_at, n.*, a.now, a.now
      FROM a JOIN input USING (nth), unnest(input.message_ids, input.message_channels, input.message_kinds, input.message_states,
                   input.message_due_at, input.message_day_before)
        AS n (id, channel, kind, state, due_at, day_before)
     WHERE n.kind = 'reminder'
    RETURNING *
  ), meeting AS (UPDATE meetings g SET start_at = a.start_at, end_at = a.end_at, wished = a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0, wanted = g.wanted + 1, state = 'pending', due_at = a.now,
attempts = 0, last_error = NULL, updated_at = a.now,
lease_until = CASE WHEN g.lease_by IS NOT NULL OR g.lease_until >= '9999-01-01 00:00:00+00'::timestamptz THEN g.lease_until END
   FROM a WHERE g.company_id = a.company_id AND g.case_id = a.case_id AND g.appointment_id = a.id
    AND (g.start_at, g.end_at, g.wished) IS DISTINCT FROM (a.start_at, a.end_at, a.video_meeting AND a.deleted_at IS NULL AND a.cancelled = 0))
  SELECT nth, a.version || '.' || to_hex(hashtextextended(concat_ws(',', coalesce(states.email_confirmation::text, ''), coalesce(states.email_notification::text, ''), coalesce(states.email_day_before::text, ''), coalesce(states.sms_confirmation::text, ''), coalesce(states.sms_notification::text, ''), coalesce(states.sms_day_before::text, '')), 0)) AS version, ('{"id" : "' || (a.id) || '", "customer_case_id" : "' || (a.case_id) || '", "start_time" : "' || (to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "end_time" : "' || (input.end_time) || '", "email_confirmation" : ' || coalesce('"' || (states.email_confirmation) || '"', 'null') || ', "email_notification" : ' || coalesce('"' || (states.email_notification) || '"', 'null') || ', "email_day_before" : ' || (states.email_day_before)::text || ', "sms_recipient" : ' || coalesce(to_json(a.sms_recipient)::text, 'null') || ', "sms_confirmation" : ' || coalesce('"' || (states.sms_confirmation) || '"', 'null') || ', "sms_notification" : ' || coalesce('"' || (states.sms_notification) || '"', 'null') || ', "sms_day_before" : ' || (states.sms_day_before)::text || ', "notes" : ' || coalesce(to_json(a.notes)::text, 'null') || ', "location" : ' || coalesce(to_json(a.location)::text, 'null') || ', "created_at" : "' || (to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "updated_at" : "' || (to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '", "type" : ' || coalesce(to_json(a.type)::text, 'null') || ', "attended" : ' || (a.attended)::text || ', "cancelled" : ' || (a.cancelled)::text || ', "deleted_at" : ' || coalesce('"' || (to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) || '"', 'null') || ', "email_recipient" : ' || to_json(coalesce(a.email_recipient, ''))::text || ', "video_id" : ' || coalesce(to_json(a.video_id)::text, 'null') || ', "join_url" : ' || coalesce(to_json(a.join_url)::text, 'null') || '}') AS json FROM a JOIN input USING (nth), LATERAL (
    SELECT max(state) FILTER (WHERE channel = 'email' AND kind = 'confirmation') AS email_confirmation,
           max(state) FILTER (WHERE channel = 'email' AND kind = 'reminder') AS email_notification,
           max(state) FILTER (WHERE channel = 'sms' AND kind = 'confirmation') AS sms_confirmation,
           max(state) FILTER (WHERE channel = 'sms' AND kind = 'reminder') AS sms_notification,
           coalesce(max(day_before) FILTER (WHERE channel = 'email'), 0) AS email_day_before,
           coalesce(max(day_before) FILTER (WHERE channel = 'sms'), 0) AS sms_day_before
      FROM (SELECT DISTINCT ON (channel, kind) channel, kind, CASE m.state WHEN 'sending' THEN 'scheduled' ELSE m.state END AS state,
                   (m.kind = 'reminder' AND m.state IN ('scheduled', 'sending', 'sent', 'failed') AND m.day_before)::int AS day_before
              FROM (SELECT id, channel, kind, start_at, state, day_before, true AS written FROM withdrawn
              UNION ALL SELECT id, channel, kind, start_at, state, day_before, true AS written FROM reminders
              UNION ALL SELECT id, channel, kind, start_at, state, day_before, false AS written FROM messages m WHERE m.company_id = a.company_id AND m.case_id = a.case_id AND m.appointment_id = a.id) m
             ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states;

