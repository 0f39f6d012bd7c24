-- message_templates.lock (writes; pool: short)
SELECT 1 FROM companies WHERE id = $1::uuid FOR NO KEY UPDATE;

-- message_templates.previewed (reads; pool: short)
  SELECT o.name AS company, o.time_zone, nullif(o.sender_address, '') AS sender_address, o.client_contact_email,
         o.client_contact_phone, o.contact_line, o.message_signature, (
           SELECT json_build_object('start', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end', to_char(a.end_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'location', a.location, 'join_url', a.join_url, 'adviser', v.name, 'customer', (
SELECT json_build_object('title', u.title, 'first_names', u.first_names, 'last_name', u.last_name)
  FROM customers u
 WHERE u.company_id = a.company_id AND u.case_id = a.case_id AND CASE m.channel
   WHEN 'email' THEN lower(d.recipient) = lower(u.email) OR lower(d.recipient) = ANY (u.former_emails)
   ELSE regexp_replace(d.recipient, '\D', '', 'g') IN (regexp_replace(u.phone, '\D', '', 'g'), regexp_replace(u.phone_e164, '\D', '', 'g')) END
 ORDER BY lower(d.recipient) IS DISTINCT FROM lower(u.email), u.removed_at IS NOT NULL, u.id LIMIT 1))
             FROM appointments a JOIN advisers v ON v.company_id = a.company_id AND v.id = a.adviser_id
            CROSS JOIN LATERAL (SELECT CASE WHEN a.email_recipient IS NULL THEN 'sms' ELSE 'email' END AS channel) m
            CROSS JOIN LATERAL (SELECT coalesce(a.email_recipient, a.sms_recipient) AS recipient) d
            WHERE a.company_id = o.id AND a.case_id = $2::uuid AND a.id = $3::uuid
              AND a.deleted_at IS NULL) AS appointment
    FROM companies o WHERE o.id = $1::uuid;

-- message_templates.read (reads; pool: short)
SELECT t.message, t.subject, t.email_text, t.sms_text, to_char(t.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS updated_at FROM message_templates t
 WHERE t.company_id = $1::uuid AND ($2::text IS NULL OR t.message = $2::text);

-- message_templates.reset (writes; pool: short)
WITH t AS (
  DELETE FROM message_templates t WHERE t.company_id = $1::uuid AND t.message = $2::text
  RETURNING *
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT t.company_id, '00000000-0000-0000-0000-000000000000'::uuid, md5(t.message)::uuid, 'message_template.reset', $3::timestamptz::timestamptz, $4::json::json, json_build_object('message', t.message, 'subject', t.subject, 'email_text', t.email_text, 'sms_text', t.sms_text, 'updated_at', to_char(t.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
     FROM t
)
SELECT 1 FROM t;

-- message_templates.store (writes; pool: short)
WITH old AS (
  SELECT * FROM message_templates WHERE company_id = $1::uuid AND message = $2::text
), d AS (
  SELECT d.* FROM (SELECT 1) one
    LEFT JOIN message_templates m ON m.company_id = $1::uuid AND m.message = $2::text
   CROSS JOIN LATERAL json_populate_record(m, $3::json) d
), t AS (
  INSERT INTO message_templates (company_id, message, subject, email_text, sms_text, updated_at)
  SELECT $1::uuid, $2::text, d.subject, d.email_text, d.sms_text, $4::timestamptz FROM d
  ON CONFLICT (company_id, message) DO UPDATE
     SET subject = excluded.subject, email_text = excluded.email_text, sms_text = excluded.sms_text,
         updated_at = excluded.updated_at
  RETURNING *
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT t.company_id, '00000000-0000-0000-0000-000000000000'::uuid, md5(t.message)::uuid, 'message_template.updated', $4::timestamptz::timestamptz, $5::json::json, (SELECT json_build_object('message', t.message, 'subject', t.subject, 'email_text', t.email_text, 'sms_text', t.sms_text, 'updated_at', to_char(t.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM old t)
     FROM t
)
SELECT t.message, t.subject, t.email_text, t.sms_text, to_char(t.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS updated_at FROM t;

