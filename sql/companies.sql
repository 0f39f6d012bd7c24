-- companies.any (reads; pool: short)
SELECT 1 FROM companies LIMIT 1;

-- companies.explain_rejection (reads; pool: short)
SELECT ($1::uuid IS NULL
        OR EXISTS (SELECT 1 FROM companies WHERE id = $1::uuid)) AS found,
       ($2::text IS NULL
        OR EXISTS (SELECT 1 FROM pg_timezone_names WHERE name = $2::text)) AS zone_known;

-- companies.find (reads; pool: short)
SELECT c.id, c.time_zone, c.phone_region, c.terms, c.payment_terms, c.reminder_lead_days,
c.event_key, EXISTS (
SELECT 1 FROM webhook_endpoints w WHERE w.company_id = c.id AND w.state = 'active' AND w.removed_at IS NULL) AS webhooks FROM companies c WHERE c.id = $1::uuid;

-- companies.insert (writes; pool: short)
WITH c AS (
  INSERT INTO companies (id, name, time_zone, phone_region, terms, payment_terms, reminder_lead_days, sender_name, sender_address, contact_email, client_contact_email, client_contact_phone, contact_line, message_signature, session_idle_minutes, session_hours, legal_name, address, company_number, tax_number, currency, created_at, updated_at)
  SELECT $1::uuid, d.name, d.time_zone, d.phone_region, d.terms, d.payment_terms, d.reminder_lead_days, d.sender_name, d.sender_address, d.contact_email, d.client_contact_email, d.client_contact_phone, d.contact_line, d.message_signature, d.session_idle_minutes, d.session_hours, d.legal_name, d.address, d.company_number, d.tax_number, d.currency, $3::timestamptz, $3::timestamptz
    FROM json_populate_record(NULL::companies, $2::json) d WHERE now() AT TIME ZONE d.time_zone IS NOT NULL
  RETURNING *
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin)
   SELECT c.id, '00000000-0000-0000-0000-000000000000'::uuid, c.id, 'company.created', $3::timestamptz::timestamptz, $4::json::json
     FROM c
)
SELECT json_build_object('id', c.id, 'name', c.name, 'time_zone', c.time_zone, 'phone_region', c.phone_region, 'terms', c.terms, 'payment_terms', c.payment_terms, 'reminder_lead_days', c.reminder_lead_days, 'sender_name', c.sender_name, 'sender_address', c.sender_address, 'contact_email', c.contact_email, 'client_contact_email', c.client_contact_email, 'client_contact_phone', c.client_contact_phone, 'contact_line', c.contact_line, 'message_signature', c.message_signature, 'session_idle_minutes', c.session_idle_minutes, 'session_hours', c.session_hours, 'legal_name', c.legal_name, 'address', c.address, 'company_number', c.company_number, 'tax_number', c.tax_number, 'currency', c.currency, 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM c;

-- companies.list (reads; pool: search)
WITH listed AS NOT MATERIALIZED (SELECT c.* FROM companies c WHERE true)
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('id', c.id, 'name', c.name, 'time_zone', c.time_zone, 'phone_region', c.phone_region, 'terms', c.terms, 'payment_terms', c.payment_terms, 'reminder_lead_days', c.reminder_lead_days, 'sender_name', c.sender_name, 'sender_address', c.sender_address, 'contact_email', c.contact_email, 'client_contact_email', c.client_contact_email, 'client_contact_phone', c.client_contact_phone, 'contact_line', c.contact_line, 'message_signature', c.message_signature, 'session_idle_minutes', c.session_idle_minutes, 'session_hours', c.session_hours, 'legal_name', c.legal_name, 'address', c.address, 'company_number', c.company_number, 'tax_number', c.tax_number, 'currency', c.currency, 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY lower(c.name), c.id), '[]')::text
          FROM (SELECT * FROM listed c ORDER BY lower(c.name), c.id
                 LIMIT $1::int OFFSET $2::int) c) AS json;

-- companies.lock_row (writes; pool: short)
SELECT 1 FROM companies WHERE id = $1::uuid
   FOR NO KEY UPDATE;

-- companies.search (reads; pool: search)
WITH listed AS MATERIALIZED (SELECT c.* FROM companies c WHERE true AND (lower(c.name) LIKE lower($3::text)))
SELECT (SELECT count(*)::int FROM listed) AS total,
       (SELECT coalesce(json_agg(json_build_object('id', c.id, 'name', c.name, 'time_zone', c.time_zone, 'phone_region', c.phone_region, 'terms', c.terms, 'payment_terms', c.payment_terms, 'reminder_lead_days', c.reminder_lead_days, 'sender_name', c.sender_name, 'sender_address', c.sender_address, 'contact_email', c.contact_email, 'client_contact_email', c.client_contact_email, 'client_contact_phone', c.client_contact_phone, 'contact_line', c.contact_line, 'message_signature', c.message_signature, 'session_idle_minutes', c.session_idle_minutes, 'session_hours', c.session_hours, 'legal_name', c.legal_name, 'address', c.address, 'company_number', c.company_number, 'tax_number', c.tax_number, 'currency', c.currency, 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY lower(c.name), c.id), '[]')::text
          FROM (SELECT * FROM listed c ORDER BY lower(c.name), c.id
                 LIMIT $1::int OFFSET $2::int) c) AS json;

-- companies.show (reads; pool: short)
SELECT json_build_object('id', c.id, 'name', c.name, 'time_zone', c.time_zone, 'phone_region', c.phone_region, 'terms', c.terms, 'payment_terms', c.payment_terms, 'reminder_lead_days', c.reminder_lead_days, 'sender_name', c.sender_name, 'sender_address', c.sender_address, 'contact_email', c.contact_email, 'client_contact_email', c.client_contact_email, 'client_contact_phone', c.client_contact_phone, 'contact_line', c.contact_line, 'message_signature', c.message_signature, 'session_idle_minutes', c.session_idle_minutes, 'session_hours', c.session_hours, 'legal_name', c.legal_name, 'address', c.address, 'company_number', c.company_number, 'tax_number', c.tax_number, 'currency', c.currency, 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM companies c WHERE c.id = $1::uuid;

-- companies.update (writes; pool: short)
WITH old AS (
  SELECT c.* FROM companies c WHERE c.id = $1::uuid FOR NO KEY UPDATE
), c AS (
  UPDATE companies c
     SET (name, time_zone, phone_region, terms, payment_terms, reminder_lead_days, sender_name, sender_address, contact_email, client_contact_email, client_contact_phone, contact_line, message_signature, session_idle_minutes, session_hours, legal_name, address, company_number, tax_number, currency) = (
           SELECT name, time_zone, phone_region, terms, payment_terms, reminder_lead_days, sender_name, sender_address, contact_email, client_contact_email, client_contact_phone, contact_line, message_signature, session_idle_minutes, session_hours, legal_name, address, company_number, tax_number, currency FROM json_populate_record(c, $2::json) d WHERE now() AT TIME ZONE d.time_zone IS NOT NULL),
         updated_at = $3::timestamptz
    FROM old WHERE c.id = old.id
  RETURNING c.*
), dead AS (
  SELECT s.company_id, s.id
    FROM old c JOIN c changed ON changed.id = c.id
    JOIN sessions s ON s.company_id = c.id JOIN users u ON u.company_id = s.company_id AND u.id = s.user_id
   WHERE (changed.session_idle_minutes > c.session_idle_minutes OR changed.session_hours > c.session_hours)
     AND s.ended_at IS NULL AND NOT (s.ended_at IS NULL
   AND CASE s.purpose WHEN 'full' THEN u.state = 'active' ELSE u.state <> 'disabled' END
   AND s.last_seen_at > $3::timestamptz - c.session_idle_minutes * interval '1 minute' - interval '2 minutes'
   AND s.created_at > $3::timestamptz - c.session_hours * interval '1 hour'
   AND (s.purpose = 'full' OR s.created_at > $3::timestamptz - interval '1 hour')) FOR NO KEY UPDATE OF s SKIP LOCKED
), sessions_ended AS (
  UPDATE sessions s SET ended_at = $3::timestamptz FROM dead WHERE s.company_id = dead.company_id AND s.id = dead.id
), event AS (
  INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
   SELECT c.id, '00000000-0000-0000-0000-000000000000'::uuid, c.id, 'company.updated', $3::timestamptz::timestamptz, $4::json::json, (SELECT json_build_object('id', c.id, 'name', c.name, 'time_zone', c.time_zone, 'phone_region', c.phone_region, 'terms', c.terms, 'payment_terms', c.payment_terms, 'reminder_lead_days', c.reminder_lead_days, 'sender_name', c.sender_name, 'sender_address', c.sender_address, 'contact_email', c.contact_email, 'client_contact_email', c.client_contact_email, 'client_contact_phone', c.client_contact_phone, 'contact_line', c.contact_line, 'message_signature', c.message_signature, 'session_idle_minutes', c.session_idle_minutes, 'session_hours', c.session_hours, 'legal_name', c.legal_name, 'address', c.address, 'company_number', c.company_number, 'tax_number', c.tax_number, 'currency', c.currency, 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM old c)
     FROM c
)
SELECT json_build_object('id', c.id, 'name', c.name, 'time_zone', c.time_zone, 'phone_region', c.phone_region, 'terms', c.terms, 'payment_terms', c.payment_terms, 'reminder_lead_days', c.reminder_lead_days, 'sender_name', c.sender_name, 'sender_address', c.sender_address, 'contact_email', c.contact_email, 'client_contact_email', c.client_contact_email, 'client_contact_phone', c.client_contact_phone, 'contact_line', c.contact_line, 'message_signature', c.message_signature, 'session_idle_minutes', c.session_idle_minutes, 'session_hours', c.session_hours, 'legal_name', c.legal_name, 'address', c.address, 'company_number', c.company_number, 'tax_number', c.tax_number, 'currency', c.currency, 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM c;

