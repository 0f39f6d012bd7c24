-- events.find (reads; pool: short)
SELECT true AS found FROM events WHERE company_id = $1::uuid AND position = $2::bigint;

-- events.find_case (reads; pool: short)
SELECT 1 FROM cases WHERE company_id = $1::uuid AND id = $2::uuid;

-- events.find_last_position (reads; pool: short)
SELECT coalesce(max(position), 0)::text AS position FROM events
 WHERE company_id = $1::uuid AND position <= $2::bigint;

-- events.of_case (reads; pool: search)
  WITH scanned AS MATERIALIZED (
    SELECT e.position, e.type FROM events e
     WHERE e.company_id = $1::uuid AND e.position > $2::bigint AND e.position <= $3::bigint
       AND e.case_id = $6::uuid
     ORDER BY e.position LIMIT CASE WHEN $5::text[] IS NULL THEN $4::int ELSE 10000 END
  ), matching AS (
    SELECT s.position FROM scanned s WHERE $5::text[] IS NULL OR s.type = ANY ($5::text[])
     ORDER BY s.position LIMIT $4::int
  ), sized AS MATERIALIZED (
    SELECT m.position, sum(w.bytes) OVER (ORDER BY m.position) - w.bytes AS bytes_before
      FROM matching m JOIN events e ON e.company_id = $1::uuid AND e.position = m.position
     CROSS JOIN LATERAL (
       SELECT coalesce(e.image_rows * 500, 0) + coalesce(pg_column_size(e.was), 0)
              + coalesce(pg_column_size(e.before), 0) AS bytes) w
  )
  SELECT s.*, e.position::text, json_build_object('type', e.type, 'at', to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'actor', e.origin -> 'actor', 'request_id', e.origin ->> 'request_id', 'case_id', nullif(e.case_id, '00000000-0000-0000-0000-000000000000'), 'record', json_build_object('type', split_part(e.type, '.', 1), 'id', e.record_id), 'changed', CASE WHEN a.before IS NOT NULL AND a.after IS NOT NULL THEN ARRAY(
    SELECT coalesce(x.key, y.key)
      FROM json_each_text(a.before) x FULL JOIN json_each_text(a.after) y ON y.key = x.key
     WHERE x.value IS DISTINCT FROM y.value ORDER BY 1) END, 'before', a.before, 'after', a.after)::text AS json
    FROM (SELECT max(s.position)::text AS last_scanned, (SELECT count(*)::int FROM sized) AS matching
            FROM scanned s) s
    LEFT JOIN (sized m JOIN events e ON e.company_id = $1::uuid AND e.position = m.position
  LEFT JOIN LATERAL (
    SELECT n.before, n.was, n.position, n.touched FROM events n
     WHERE n.company_id = e.company_id AND n.case_id = e.case_id AND n.record_id = e.record_id
       AND n.position > e.position
     ORDER BY n.position LIMIT 1) n ON true
  CROSS JOIN LATERAL (
    SELECT CASE WHEN n.position IS NOT NULL THEN n.before ELSE CASE split_part(e.type, '.', 1) WHEN 'adviser' THEN (SELECT json_build_object('id', a.id, 'email', a.email, 'name', a.name, 'active', a.active, 'video_provider', a.video_provider, 'video_account', (SELECT json_build_object('account_id', v.account_id, 'user', v.host) FROM video_accounts v WHERE v.company_id = a.company_id AND v.id = a.video_account_id), 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'removed_at', to_char(a.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM advisers a
    WHERE a.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND a.id = e.record_id)
      WHEN 'case' THEN (SELECT json_build_object('id', c.id, 'reference', c.reference, 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM cases c
    WHERE c.company_id = e.company_id AND c.id = e.case_id AND c.id = e.record_id)
      WHEN 'api_client' THEN (SELECT json_build_object('id', k.id, 'name', k.name, 'scopes', k.scopes, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'rotated_at', to_char(k.rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'disabled_at', to_char(k.disabled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN k.created_by_id IS NOT NULL THEN json_build_object('type', k.created_by_type, 'id', k.created_by_id, 'name', k.created_by_name) END, 'rotated_by', CASE WHEN k.rotated_by_id IS NOT NULL THEN json_build_object('type', k.rotated_by_type, 'id', k.rotated_by_id, 'name', k.rotated_by_name) END) FROM clients k
    WHERE k.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND k.id = e.record_id)
      WHEN 'company' THEN (SELECT json_build_object('id', c.id, 'name', c.name, 'time_zone', c.time_zone, 'phone_region', c.phone_region, 'terms', c.terms, 'payment_terms', c.payment_terms, 'reminder_lead_days', c.reminder_lead_days, 'sender_name', c.sender_name, 'sender_address', c.sender_address, 'contact_email', c.contact_email, 'client_contact_email', c.client_contact_email, 'client_contact_phone', c.client_contact_phone, 'contact_line', c.contact_line, 'message_signature', c.message_signature, 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM companies c
    WHERE c.id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND c.id = e.record_id)
      WHEN 'customer' THEN (SELECT json_build_object('id', u.id, 'case_id', u.case_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'removed_at', to_char(u.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM customers u
    WHERE u.company_id = e.company_id AND u.case_id = e.case_id AND u.id = e.record_id)
      WHEN 'webhook_endpoint' THEN (SELECT json_build_object('id', w.id, 'url', w.url, 'description', w.description, 'types', w.types, 'state', w.state, 'state_reason', w.state_reason, 'failing_since', to_char(w.failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'secret_rotated_at', to_char(w.secret_rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'previous_secret_until', to_char(w.previous_secret_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_at', to_char(w.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(w.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN w.created_by_id IS NOT NULL THEN json_build_object('type', w.created_by_type, 'id', w.created_by_id, 'name', w.created_by_name) END, 'url_set_by', CASE WHEN w.url_set_by_id IS NOT NULL THEN json_build_object('type', w.url_set_by_type, 'id', w.url_set_by_id, 'name', w.url_set_by_name) END, 'removed_at', to_char(w.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM webhook_endpoints w
    WHERE w.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND w.id = e.record_id)
      WHEN 'api_key' THEN (SELECT json_build_object('id', t.id, 'name', t.name, 'scopes', t.scopes, 'created_at', to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'expires_at', to_char(t.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'revoked_at', to_char(t.revoked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN t.created_by_id IS NOT NULL THEN json_build_object('type', t.created_by_type, 'id', t.created_by_id, 'name', t.created_by_name) END) FROM (SELECT * FROM tokens WHERE client_id IS NULL) t
    WHERE t.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND t.id = e.record_id)
      WHEN 'message' THEN (SELECT json_build_object('id', m.id, 'appointment_id', m.appointment_id, 'customer_case_id', m.case_id, 'channel', m.channel, 'kind', m.kind, 'resend_of', m.resend_of, 'state', CASE WHEN m.state IN ('sent', 'failed') THEN m.state END, 'due_at', CASE WHEN m.state IN ('sent', 'failed') THEN to_char(m.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END, 'sent_at', to_char(m.sent_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'sent_to', m.sent_to, 'attempts', CASE WHEN m.state IN ('sent', 'failed') THEN m.attempts END, 'last_error', CASE WHEN m.state IN ('sent', 'failed') THEN m.last_error END, 'created_at', to_char(m.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM messages m
    WHERE m.company_id = e.company_id AND m.case_id = e.case_id AND m.id = e.record_id)
      WHEN 'message_template' THEN (SELECT json_build_object('message', t.message, 'subject', t.subject, 'email_text', t.email_text, 'sms_text', t.sms_text, 'updated_at', to_char(t.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM message_templates t
    WHERE t.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND md5(t.message)::uuid = e.record_id)
      WHEN 'tag' THEN (SELECT json_build_object('tag', t.tag, 'created_at', to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM custom_tags t
    WHERE t.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND md5(t.tag)::uuid = e.record_id)
      WHEN 'user' THEN (SELECT json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END) FROM users u
    WHERE u.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND u.id = e.record_id) END END AS before,
           CASE WHEN n.position IS NOT NULL THEN n.was ELSE CASE split_part(e.type, '.', 1) WHEN 'appointment' THEN (SELECT json_build_object('appointments', a) FROM appointments a
    WHERE a.company_id = e.company_id AND a.case_id = e.case_id AND a.id = e.record_id)
      WHEN 'address_book_entry' THEN (SELECT json_build_object('people', p, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) FROM people p
    WHERE p.company_id = e.company_id AND p.case_id = e.case_id AND p.id = e.record_id)
      WHEN 'interaction' THEN (SELECT json_build_object('interactions', i) FROM interactions i
    WHERE i.company_id = e.company_id AND i.case_id = e.case_id AND i.id = e.record_id)
      WHEN 'invoice' THEN (SELECT json_build_object('invoices', v, 'invoice_items', ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id), 'payments', ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id)) FROM invoices v
    WHERE v.company_id = e.company_id AND v.case_id = e.case_id AND v.id = e.record_id) END END AS was OFFSET 0) t
  CROSS JOIN LATERAL (
    SELECT s.images[1] AS before, s.images[2] AS after
      FROM (SELECT ARRAY(
        SELECT CASE WHEN w.was IS NULL THEN w.before ELSE CASE split_part(e.type, '.', 1) WHEN 'appointment' THEN (
    SELECT json_build_object('id', a.id, 'customer_case_id', a.case_id, 'adviser_email', a.adviser_email, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', to_char(a.end_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'email_reminder', a.email_reminder, 'sms_recipient', a.sms_recipient, 'sms_reminder', a.sms_reminder, 'notes', a.notes, 'location', a.location, 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'video_meeting', a.video_meeting, 'video_id', a.video_id, 'join_url', a.join_url, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
      FROM json_to_record(w.was) AS snapshot (appointments json),
           json_populate_record(NULL::appointments, snapshot.appointments) a)
      WHEN 'address_book_entry' THEN (
    SELECT json_build_object('id', p.id, 'entity_id', 'person', 'data', json_build_object('title', p.title, 'last_name', p.last_name, 'first_names', p.first_names, 'gender', coalesce(p.gender, ''), 'marital_status', coalesce(p.marital_status, ''), 'middle_names', p.middle_names, 'known_as', p.known_as, 'tel_1', p.tel_1, 'tel_2', p.tel_2, 'email', p.email, 'occupation', p.occupation, 'preferred_name', p.preferred_name, 'alias', p.alias, 'dob', to_char(p.dob, 'DD/MM/YYYY'), 'their_pronoun', p.their_pronoun, 'them_pronoun', p.them_pronoun, 'they_pronoun', p.they_pronoun, 'relationship', (SELECT coalesce(json_object_agg(r.customer_id, r.word ORDER BY r.position), '{}') FROM json_populate_recordset(NULL::relationships, snapshot.relationships) r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id), 'address', p.address_id, 'tags', p.tags, 'custom_tags', p.custom_tags), 'address', (SELECT json_build_object('id', a.id, 'entity_id', 'address', 'data', json_build_object('postcode', a.postcode, 'address_1', a.address_1, 'address_2', a.address_2, 'address_3', a.address_3)) FROM json_populate_recordset(NULL::addresses, snapshot.addresses) a WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id), 'customer_case_id', p.case_id, 'created_at', to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'deleted_at', to_char(p.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
      FROM json_to_record(w.was) AS snapshot (people json, addresses json, relationships json),
           json_populate_record(NULL::people, snapshot.people) p)
      WHEN 'interaction' THEN (
    SELECT json_build_object('id', i.id, 'type', i.type, 'notes', i.notes, 'sender', i.sender, 'recipient', i.recipient, 'customer_case_id', i.case_id, 'when', to_char(i.happened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_at', to_char(i.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(i.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'deleted_at', to_char(i.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
      FROM json_to_record(w.was) AS snapshot (interactions json),
           json_populate_record(NULL::interactions, snapshot.interactions) i)
      WHEN 'invoice' THEN (
    SELECT (SELECT json_build_object('id', v.id, 'ref', null, 'notes', null, 'terms', v.terms, 'date_due', to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'date_sent', to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'date_paid', s.date_paid, 'payment_terms', v.payment_terms, 'subtotal', v.sub_total, 'total', v.total, 'invoice_number', v.invoice_number, 'recipients_name', v.recipients_name, 'vat_amount', v.vat_amount, 'customer_case_id', v.case_id, 'date_created', to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'status', s.status, 'mail_sent', v.date_sent IS NOT NULL, 'payable_online', false, 'formatted_recurring_interval', null, 'items', (SELECT coalesce(json_agg(json_build_object('id', t.id, 'description', t.description, 'amount', t.amount, 'quantity', t.quantity, 'rate', t.rate, 'subtotal', t.subtotal, 'vat_amount', t.vat_amount, 'status', CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END, 'paid_at', CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END, 'case_invoice_id', t.invoice_id, 'customer_case_id', t.case_id, 'has_vat', t.vat_amount <> 0) ORDER BY t.position), '[]')
             FROM json_populate_recordset(NULL::invoice_items, snapshot.invoice_items) t WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id), 'sender_id', v.sender_id, 'vat', v.vat, 'paid', v.paid, 'outstanding', CASE WHEN v.cancelled_at IS NULL THEN greatest(v.total - v.paid, 0.00) ELSE 0.00 END, 'payments', (SELECT coalesce(json_agg(json_build_object('id', y.id, 'case_invoice_id', y.invoice_id, 'customer_case_id', y.case_id, 'amount', y.amount, 'paid_at', to_char(y.paid_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'reference', y.reference, 'created_at', to_char(y.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'reversed_at', to_char(y.reversed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY y.paid_at, y.id), '[]')
                FROM json_populate_recordset(NULL::payments, snapshot.payments) y WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id), 'created_at', to_char(v.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(v.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'cancelled_at', to_char(v.cancelled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM json_populate_recordset(NULL::payments, snapshot.payments) y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s)
      FROM json_to_record(CASE WHEN w.touched IS NULL THEN w.was
            ELSE whole_invoice_entry(e.company_id, e.case_id, e.record_id, w.position, w.was, w.touched) END) AS snapshot (invoices json, invoice_items json, payments json),
           json_populate_record(NULL::invoices, snapshot.invoices) v) END END
          FROM (VALUES (1, e.before, e.was, e.position, e.touched), (2, t.before, t.was, n.position, n.touched))
                 AS w (place, before, was, position, touched) ORDER BY w.place) AS images
        OFFSET 0) s OFFSET 0) a)
      ON m.bytes_before < 2000000
   ORDER BY e.position;

-- events.of_company (reads; pool: search)
  WITH scanned AS MATERIALIZED (
    SELECT e.position, e.type FROM events e
     WHERE e.company_id = $1::uuid AND e.position > $2::bigint AND e.position <= $3::bigint
       AND true
     ORDER BY e.position LIMIT CASE WHEN $5::text[] IS NULL THEN $4::int ELSE 10000 END
  ), matching AS (
    SELECT s.position FROM scanned s WHERE $5::text[] IS NULL OR s.type = ANY ($5::text[])
     ORDER BY s.position LIMIT $4::int
  ), sized AS MATERIALIZED (
    SELECT m.position, sum(w.bytes) OVER (ORDER BY m.position) - w.bytes AS bytes_before
      FROM matching m JOIN events e ON e.company_id = $1::uuid AND e.position = m.position
     CROSS JOIN LATERAL (
       SELECT coalesce(e.image_rows * 500, 0) + coalesce(pg_column_size(e.was), 0)
              + coalesce(pg_column_size(e.before), 0) AS bytes) w
  )
  SELECT s.*, e.position::text, json_build_object('type', e.type, 'at', to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'actor', e.origin -> 'actor', 'request_id', e.origin ->> 'request_id', 'case_id', nullif(e.case_id, '00000000-0000-0000-0000-000000000000'), 'record', json_build_object('type', split_part(e.type, '.', 1), 'id', e.record_id), 'changed', CASE WHEN a.before IS NOT NULL AND a.after IS NOT NULL THEN ARRAY(
    SELECT coalesce(x.key, y.key)
      FROM json_each_text(a.before) x FULL JOIN json_each_text(a.after) y ON y.key = x.key
     WHERE x.value IS DISTINCT FROM y.value ORDER BY 1) END, 'before', a.before, 'after', a.after)::text AS json
    FROM (SELECT max(s.position)::text AS last_scanned, (SELECT count(*)::int FROM sized) AS matching
            FROM scanned s) s
    LEFT JOIN (sized m JOIN events e ON e.company_id = $1::uuid AND e.position = m.position
  LEFT JOIN LATERAL (
    SELECT n.before, n.was, n.position, n.touched FROM events n
     WHERE n.company_id = e.company_id AND n.case_id = e.case_id AND n.record_id = e.record_id
       AND n.position > e.position
     ORDER BY n.position LIMIT 1) n ON true
  CROSS JOIN LATERAL (
    SELECT CASE WHEN n.position IS NOT NULL THEN n.before ELSE CASE split_part(e.type, '.', 1) WHEN 'adviser' THEN (SELECT json_build_object('id', a.id, 'email', a.email, 'name', a.name, 'active', a.active, 'video_provider', a.video_provider, 'video_account', (SELECT json_build_object('account_id', v.account_id, 'user', v.host) FROM video_accounts v WHERE v.company_id = a.company_id AND v.id = a.video_account_id), 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'removed_at', to_char(a.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM advisers a
    WHERE a.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND a.id = e.record_id)
      WHEN 'case' THEN (SELECT json_build_object('id', c.id, 'reference', c.reference, 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM cases c
    WHERE c.company_id = e.company_id AND c.id = e.case_id AND c.id = e.record_id)
      WHEN 'api_client' THEN (SELECT json_build_object('id', k.id, 'name', k.name, 'scopes', k.scopes, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'rotated_at', to_char(k.rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'disabled_at', to_char(k.disabled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN k.created_by_id IS NOT NULL THEN json_build_object('type', k.created_by_type, 'id', k.created_by_id, 'name', k.created_by_name) END, 'rotated_by', CASE WHEN k.rotated_by_id IS NOT NULL THEN json_build_object('type', k.rotated_by_type, 'id', k.rotated_by_id, 'name', k.rotated_by_name) END) FROM clients k
    WHERE k.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND k.id = e.record_id)
      WHEN 'company' THEN (SELECT json_build_object('id', c.id, 'name', c.name, 'time_zone', c.time_zone, 'phone_region', c.phone_region, 'terms', c.terms, 'payment_terms', c.payment_terms, 'reminder_lead_days', c.reminder_lead_days, 'sender_name', c.sender_name, 'sender_address', c.sender_address, 'contact_email', c.contact_email, 'client_contact_email', c.client_contact_email, 'client_contact_phone', c.client_contact_phone, 'contact_line', c.contact_line, 'message_signature', c.message_signature, 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM companies c
    WHERE c.id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND c.id = e.record_id)
      WHEN 'customer' THEN (SELECT json_build_object('id', u.id, 'case_id', u.case_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'removed_at', to_char(u.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM customers u
    WHERE u.company_id = e.company_id AND u.case_id = e.case_id AND u.id = e.record_id)
      WHEN 'webhook_endpoint' THEN (SELECT json_build_object('id', w.id, 'url', w.url, 'description', w.description, 'types', w.types, 'state', w.state, 'state_reason', w.state_reason, 'failing_since', to_char(w.failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'secret_rotated_at', to_char(w.secret_rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'previous_secret_until', to_char(w.previous_secret_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_at', to_char(w.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(w.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN w.created_by_id IS NOT NULL THEN json_build_object('type', w.created_by_type, 'id', w.created_by_id, 'name', w.created_by_name) END, 'url_set_by', CASE WHEN w.url_set_by_id IS NOT NULL THEN json_build_object('type', w.url_set_by_type, 'id', w.url_set_by_id, 'name', w.url_set_by_name) END, 'removed_at', to_char(w.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM webhook_endpoints w
    WHERE w.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND w.id = e.record_id)
      WHEN 'api_key' THEN (SELECT json_build_object('id', t.id, 'name', t.name, 'scopes', t.scopes, 'created_at', to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'expires_at', to_char(t.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'revoked_at', to_char(t.revoked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN t.created_by_id IS NOT NULL THEN json_build_object('type', t.created_by_type, 'id', t.created_by_id, 'name', t.created_by_name) END) FROM (SELECT * FROM tokens WHERE client_id IS NULL) t
    WHERE t.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND t.id = e.record_id)
      WHEN 'message' THEN (SELECT json_build_object('id', m.id, 'appointment_id', m.appointment_id, 'customer_case_id', m.case_id, 'channel', m.channel, 'kind', m.kind, 'resend_of', m.resend_of, 'state', CASE WHEN m.state IN ('sent', 'failed') THEN m.state END, 'due_at', CASE WHEN m.state IN ('sent', 'failed') THEN to_char(m.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END, 'sent_at', to_char(m.sent_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'sent_to', m.sent_to, 'attempts', CASE WHEN m.state IN ('sent', 'failed') THEN m.attempts END, 'last_error', CASE WHEN m.state IN ('sent', 'failed') THEN m.last_error END, 'created_at', to_char(m.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM messages m
    WHERE m.company_id = e.company_id AND m.case_id = e.case_id AND m.id = e.record_id)
      WHEN 'message_template' THEN (SELECT json_build_object('message', t.message, 'subject', t.subject, 'email_text', t.email_text, 'sms_text', t.sms_text, 'updated_at', to_char(t.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM message_templates t
    WHERE t.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND md5(t.message)::uuid = e.record_id)
      WHEN 'tag' THEN (SELECT json_build_object('tag', t.tag, 'created_at', to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM custom_tags t
    WHERE t.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND md5(t.tag)::uuid = e.record_id)
      WHEN 'user' THEN (SELECT json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END) FROM users u
    WHERE u.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND u.id = e.record_id) END END AS before,
           CASE WHEN n.position IS NOT NULL THEN n.was ELSE CASE split_part(e.type, '.', 1) WHEN 'appointment' THEN (SELECT json_build_object('appointments', a) FROM appointments a
    WHERE a.company_id = e.company_id AND a.case_id = e.case_id AND a.id = e.record_id)
      WHEN 'address_book_entry' THEN (SELECT json_build_object('people', p, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) FROM people p
    WHERE p.company_id = e.company_id AND p.case_id = e.case_id AND p.id = e.record_id)
      WHEN 'interaction' THEN (SELECT json_build_object('interactions', i) FROM interactions i
    WHERE i.company_id = e.company_id AND i.case_id = e.case_id AND i.id = e.record_id)
      WHEN 'invoice' THEN (SELECT json_build_object('invoices', v, 'invoice_items', ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id), 'payments', ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id)) FROM invoices v
    WHERE v.company_id = e.company_id AND v.case_id = e.case_id AND v.id = e.record_id) END END AS was OFFSET 0) t
  CROSS JOIN LATERAL (
    SELECT s.images[1] AS before, s.images[2] AS after
      FROM (SELECT ARRAY(
        SELECT CASE WHEN w.was IS NULL THEN w.before ELSE CASE split_part(e.type, '.', 1) WHEN 'appointment' THEN (
    SELECT json_build_object('id', a.id, 'customer_case_id', a.case_id, 'adviser_email', a.adviser_email, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', to_char(a.end_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'email_reminder', a.email_reminder, 'sms_recipient', a.sms_recipient, 'sms_reminder', a.sms_reminder, 'notes', a.notes, 'location', a.location, 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'video_meeting', a.video_meeting, 'video_id', a.video_id, 'join_url', a.join_url, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
      FROM json_to_record(w.was) AS snapshot (appointments json),
           json_populate_record(NULL::appointments, snapshot.appointments) a)
      WHEN 'address_book_entry' THEN (
    SELECT json_build_object('id', p.id, 'entity_id', 'person', 'data', json_build_object('title', p.title, 'last_name', p.last_name, 'first_names', p.first_names, 'gender', coalesce(p.gender, ''), 'marital_status', coalesce(p.marital_status, ''), 'middle_names', p.middle_names, 'known_as', p.known_as, 'tel_1', p.tel_1, 'tel_2', p.tel_2, 'email', p.email, 'occupation', p.occupation, 'preferred_name', p.preferred_name, 'alias', p.alias, 'dob', to_char(p.dob, 'DD/MM/YYYY'), 'their_pronoun', p.their_pronoun, 'them_pronoun', p.them_pronoun, 'they_pronoun', p.they_pronoun, 'relationship', (SELECT coalesce(json_object_agg(r.customer_id, r.word ORDER BY r.position), '{}') FROM json_populate_recordset(NULL::relationships, snapshot.relationships) r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id), 'address', p.address_id, 'tags', p.tags, 'custom_tags', p.custom_tags), 'address', (SELECT json_build_object('id', a.id, 'entity_id', 'address', 'data', json_build_object('postcode', a.postcode, 'address_1', a.address_1, 'address_2', a.address_2, 'address_3', a.address_3)) FROM json_populate_recordset(NULL::addresses, snapshot.addresses) a WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id), 'customer_case_id', p.case_id, 'created_at', to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'deleted_at', to_char(p.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
      FROM json_to_record(w.was) AS snapshot (people json, addresses json, relationships json),
           json_populate_record(NULL::people, snapshot.people) p)
      WHEN 'interaction' THEN (
    SELECT json_build_object('id', i.id, 'type', i.type, 'notes', i.notes, 'sender', i.sender, 'recipient', i.recipient, 'customer_case_id', i.case_id, 'when', to_char(i.happened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_at', to_char(i.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(i.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'deleted_at', to_char(i.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
      FROM json_to_record(w.was) AS snapshot (interactions json),
           json_populate_record(NULL::interactions, snapshot.interactions) i)
      WHEN 'invoice' THEN (
    SELECT (SELECT json_build_object('id', v.id, 'ref', null, 'notes', null, 'terms', v.terms, 'date_due', to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'date_sent', to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'date_paid', s.date_paid, 'payment_terms', v.payment_terms, 'subtotal', v.sub_total, 'total', v.total, 'invoice_number', v.invoice_number, 'recipients_name', v.recipients_name, 'vat_amount', v.vat_amount, 'customer_case_id', v.case_id, 'date_created', to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'status', s.status, 'mail_sent', v.date_sent IS NOT NULL, 'payable_online', false, 'formatted_recurring_interval', null, 'items', (SELECT coalesce(json_agg(json_build_object('id', t.id, 'description', t.description, 'amount', t.amount, 'quantity', t.quantity, 'rate', t.rate, 'subtotal', t.subtotal, 'vat_amount', t.vat_amount, 'status', CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END, 'paid_at', CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END, 'case_invoice_id', t.invoice_id, 'customer_case_id', t.case_id, 'has_vat', t.vat_amount <> 0) ORDER BY t.position), '[]')
             FROM json_populate_recordset(NULL::invoice_items, snapshot.invoice_items) t WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id), 'sender_id', v.sender_id, 'vat', v.vat, 'paid', v.paid, 'outstanding', CASE WHEN v.cancelled_at IS NULL THEN greatest(v.total - v.paid, 0.00) ELSE 0.00 END, 'payments', (SELECT coalesce(json_agg(json_build_object('id', y.id, 'case_invoice_id', y.invoice_id, 'customer_case_id', y.case_id, 'amount', y.amount, 'paid_at', to_char(y.paid_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'reference', y.reference, 'created_at', to_char(y.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'reversed_at', to_char(y.reversed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY y.paid_at, y.id), '[]')
                FROM json_populate_recordset(NULL::payments, snapshot.payments) y WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id), 'created_at', to_char(v.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(v.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'cancelled_at', to_char(v.cancelled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM json_populate_recordset(NULL::payments, snapshot.payments) y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s)
      FROM json_to_record(CASE WHEN w.touched IS NULL THEN w.was
            ELSE whole_invoice_entry(e.company_id, e.case_id, e.record_id, w.position, w.was, w.touched) END) AS snapshot (invoices json, invoice_items json, payments json),
           json_populate_record(NULL::invoices, snapshot.invoices) v) END END
          FROM (VALUES (1, e.before, e.was, e.position, e.touched), (2, t.before, t.was, n.position, n.touched))
                 AS w (place, before, was, position, touched) ORDER BY w.place) AS images
        OFFSET 0) s OFFSET 0) a)
      ON m.bytes_before < 2000000
   ORDER BY e.position;

-- events.of_record (reads; pool: search)
  WITH scanned AS MATERIALIZED (
    SELECT e.position, e.type FROM events e
     WHERE e.company_id = $1::uuid AND e.position > $2::bigint AND e.position <= $3::bigint
       AND e.record_id = $6::uuid AND e.case_id = $7::uuid
         AND split_part(e.type, '.', 1) = $8::text
     ORDER BY e.position LIMIT CASE WHEN $5::text[] IS NULL THEN $4::int ELSE 10000 END
  ), matching AS (
    SELECT s.position FROM scanned s WHERE $5::text[] IS NULL OR s.type = ANY ($5::text[])
     ORDER BY s.position LIMIT $4::int
  ), sized AS MATERIALIZED (
    SELECT m.position, sum(w.bytes) OVER (ORDER BY m.position) - w.bytes AS bytes_before
      FROM matching m JOIN events e ON e.company_id = $1::uuid AND e.position = m.position
     CROSS JOIN LATERAL (
       SELECT coalesce(e.image_rows * 500, 0) + coalesce(pg_column_size(e.was), 0)
              + coalesce(pg_column_size(e.before), 0) AS bytes) w
  )
  SELECT s.*, e.position::text, json_build_object('type', e.type, 'at', to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'actor', e.origin -> 'actor', 'request_id', e.origin ->> 'request_id', 'case_id', nullif(e.case_id, '00000000-0000-0000-0000-000000000000'), 'record', json_build_object('type', split_part(e.type, '.', 1), 'id', e.record_id), 'changed', CASE WHEN a.before IS NOT NULL AND a.after IS NOT NULL THEN ARRAY(
    SELECT coalesce(x.key, y.key)
      FROM json_each_text(a.before) x FULL JOIN json_each_text(a.after) y ON y.key = x.key
     WHERE x.value IS DISTINCT FROM y.value ORDER BY 1) END, 'before', a.before, 'after', a.after)::text AS json
    FROM (SELECT max(s.position)::text AS last_scanned, (SELECT count(*)::int FROM sized) AS matching
            FROM scanned s) s
    LEFT JOIN (sized m JOIN events e ON e.company_id = $1::uuid AND e.position = m.position
  LEFT JOIN LATERAL (
    SELECT n.before, n.was, n.position, n.touched FROM events n
     WHERE n.company_id = e.company_id AND n.case_id = e.case_id AND n.record_id = e.record_id
       AND n.position > e.position
     ORDER BY n.position LIMIT 1) n ON true
  CROSS JOIN LATERAL (
    SELECT CASE WHEN n.position IS NOT NULL THEN n.before ELSE CASE split_part(e.type, '.', 1) WHEN 'adviser' THEN (SELECT json_build_object('id', a.id, 'email', a.email, 'name', a.name, 'active', a.active, 'video_provider', a.video_provider, 'video_account', (SELECT json_build_object('account_id', v.account_id, 'user', v.host) FROM video_accounts v WHERE v.company_id = a.company_id AND v.id = a.video_account_id), 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'removed_at', to_char(a.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM advisers a
    WHERE a.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND a.id = e.record_id)
      WHEN 'case' THEN (SELECT json_build_object('id', c.id, 'reference', c.reference, 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM cases c
    WHERE c.company_id = e.company_id AND c.id = e.case_id AND c.id = e.record_id)
      WHEN 'api_client' THEN (SELECT json_build_object('id', k.id, 'name', k.name, 'scopes', k.scopes, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'rotated_at', to_char(k.rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'disabled_at', to_char(k.disabled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN k.created_by_id IS NOT NULL THEN json_build_object('type', k.created_by_type, 'id', k.created_by_id, 'name', k.created_by_name) END, 'rotated_by', CASE WHEN k.rotated_by_id IS NOT NULL THEN json_build_object('type', k.rotated_by_type, 'id', k.rotated_by_id, 'name', k.rotated_by_name) END) FROM clients k
    WHERE k.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND k.id = e.record_id)
      WHEN 'company' THEN (SELECT json_build_object('id', c.id, 'name', c.name, 'time_zone', c.time_zone, 'phone_region', c.phone_region, 'terms', c.terms, 'payment_terms', c.payment_terms, 'reminder_lead_days', c.reminder_lead_days, 'sender_name', c.sender_name, 'sender_address', c.sender_address, 'contact_email', c.contact_email, 'client_contact_email', c.client_contact_email, 'client_contact_phone', c.client_contact_phone, 'contact_line', c.contact_line, 'message_signature', c.message_signature, 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM companies c
    WHERE c.id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND c.id = e.record_id)
      WHEN 'customer' THEN (SELECT json_build_object('id', u.id, 'case_id', u.case_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'removed_at', to_char(u.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM customers u
    WHERE u.company_id = e.company_id AND u.case_id = e.case_id AND u.id = e.record_id)
      WHEN 'webhook_endpoint' THEN (SELECT json_build_object('id', w.id, 'url', w.url, 'description', w.description, 'types', w.types, 'state', w.state, 'state_reason', w.state_reason, 'failing_since', to_char(w.failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'secret_rotated_at', to_char(w.secret_rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'previous_secret_until', to_char(w.previous_secret_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_at', to_char(w.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(w.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN w.created_by_id IS NOT NULL THEN json_build_object('type', w.created_by_type, 'id', w.created_by_id, 'name', w.created_by_name) END, 'url_set_by', CASE WHEN w.url_set_by_id IS NOT NULL THEN json_build_object('type', w.url_set_by_type, 'id', w.url_set_by_id, 'name', w.url_set_by_name) END, 'removed_at', to_char(w.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM webhook_endpoints w
    WHERE w.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND w.id = e.record_id)
      WHEN 'api_key' THEN (SELECT json_build_object('id', t.id, 'name', t.name, 'scopes', t.scopes, 'created_at', to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'expires_at', to_char(t.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'revoked_at', to_char(t.revoked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN t.created_by_id IS NOT NULL THEN json_build_object('type', t.created_by_type, 'id', t.created_by_id, 'name', t.created_by_name) END) FROM (SELECT * FROM tokens WHERE client_id IS NULL) t
    WHERE t.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND t.id = e.record_id)
      WHEN 'message' THEN (SELECT json_build_object('id', m.id, 'appointment_id', m.appointment_id, 'customer_case_id', m.case_id, 'channel', m.channel, 'kind', m.kind, 'resend_of', m.resend_of, 'state', CASE WHEN m.state IN ('sent', 'failed') THEN m.state END, 'due_at', CASE WHEN m.state IN ('sent', 'failed') THEN to_char(m.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END, 'sent_at', to_char(m.sent_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'sent_to', m.sent_to, 'attempts', CASE WHEN m.state IN ('sent', 'failed') THEN m.attempts END, 'last_error', CASE WHEN m.state IN ('sent', 'failed') THEN m.last_error END, 'created_at', to_char(m.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM messages m
    WHERE m.company_id = e.company_id AND m.case_id = e.case_id AND m.id = e.record_id)
      WHEN 'message_template' THEN (SELECT json_build_object('message', t.message, 'subject', t.subject, 'email_text', t.email_text, 'sms_text', t.sms_text, 'updated_at', to_char(t.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM message_templates t
    WHERE t.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND md5(t.message)::uuid = e.record_id)
      WHEN 'tag' THEN (SELECT json_build_object('tag', t.tag, 'created_at', to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM custom_tags t
    WHERE t.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND md5(t.tag)::uuid = e.record_id)
      WHEN 'user' THEN (SELECT json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END) FROM users u
    WHERE u.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND u.id = e.record_id) END END AS before,
           CASE WHEN n.position IS NOT NULL THEN n.was ELSE CASE split_part(e.type, '.', 1) WHEN 'appointment' THEN (SELECT json_build_object('appointments', a) FROM appointments a
    WHERE a.company_id = e.company_id AND a.case_id = e.case_id AND a.id = e.record_id)
      WHEN 'address_book_entry' THEN (SELECT json_build_object('people', p, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) FROM people p
    WHERE p.company_id = e.company_id AND p.case_id = e.case_id AND p.id = e.record_id)
      WHEN 'interaction' THEN (SELECT json_build_object('interactions', i) FROM interactions i
    WHERE i.company_id = e.company_id AND i.case_id = e.case_id AND i.id = e.record_id)
      WHEN 'invoice' THEN (SELECT json_build_object('invoices', v, 'invoice_items', ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id), 'payments', ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id)) FROM invoices v
    WHERE v.company_id = e.company_id AND v.case_id = e.case_id AND v.id = e.record_id) END END AS was OFFSET 0) t
  CROSS JOIN LATERAL (
    SELECT s.images[1] AS before, s.images[2] AS after
      FROM (SELECT ARRAY(
        SELECT CASE WHEN w.was IS NULL THEN w.before ELSE CASE split_part(e.type, '.', 1) WHEN 'appointment' THEN (
    SELECT json_build_object('id', a.id, 'customer_case_id', a.case_id, 'adviser_email', a.adviser_email, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', to_char(a.end_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'email_reminder', a.email_reminder, 'sms_recipient', a.sms_recipient, 'sms_reminder', a.sms_reminder, 'notes', a.notes, 'location', a.location, 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'video_meeting', a.video_meeting, 'video_id', a.video_id, 'join_url', a.join_url, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
      FROM json_to_record(w.was) AS snapshot (appointments json),
           json_populate_record(NULL::appointments, snapshot.appointments) a)
      WHEN 'address_book_entry' THEN (
    SELECT json_build_object('id', p.id, 'entity_id', 'person', 'data', json_build_object('title', p.title, 'last_name', p.last_name, 'first_names', p.first_names, 'gender', coalesce(p.gender, ''), 'marital_status', coalesce(p.marital_status, ''), 'middle_names', p.middle_names, 'known_as', p.known_as, 'tel_1', p.tel_1, 'tel_2', p.tel_2, 'email', p.email, 'occupation', p.occupation, 'preferred_name', p.preferred_name, 'alias', p.alias, 'dob', to_char(p.dob, 'DD/MM/YYYY'), 'their_pronoun', p.their_pronoun, 'them_pronoun', p.them_pronoun, 'they_pronoun', p.they_pronoun, 'relationship', (SELECT coalesce(json_object_agg(r.customer_id, r.word ORDER BY r.position), '{}') FROM json_populate_recordset(NULL::relationships, snapshot.relationships) r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id), 'address', p.address_id, 'tags', p.tags, 'custom_tags', p.custom_tags), 'address', (SELECT json_build_object('id', a.id, 'entity_id', 'address', 'data', json_build_object('postcode', a.postcode, 'address_1', a.address_1, 'address_2', a.address_2, 'address_3', a.address_3)) FROM json_populate_recordset(NULL::addresses, snapshot.addresses) a WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id), 'customer_case_id', p.case_id, 'created_at', to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'deleted_at', to_char(p.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
      FROM json_to_record(w.was) AS snapshot (people json, addresses json, relationships json),
           json_populate_record(NULL::people, snapshot.people) p)
      WHEN 'interaction' THEN (
    SELECT json_build_object('id', i.id, 'type', i.type, 'notes', i.notes, 'sender', i.sender, 'recipient', i.recipient, 'customer_case_id', i.case_id, 'when', to_char(i.happened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_at', to_char(i.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(i.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'deleted_at', to_char(i.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
      FROM json_to_record(w.was) AS snapshot (interactions json),
           json_populate_record(NULL::interactions, snapshot.interactions) i)
      WHEN 'invoice' THEN (
    SELECT (SELECT json_build_object('id', v.id, 'ref', null, 'notes', null, 'terms', v.terms, 'date_due', to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'date_sent', to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'date_paid', s.date_paid, 'payment_terms', v.payment_terms, 'subtotal', v.sub_total, 'total', v.total, 'invoice_number', v.invoice_number, 'recipients_name', v.recipients_name, 'vat_amount', v.vat_amount, 'customer_case_id', v.case_id, 'date_created', to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'status', s.status, 'mail_sent', v.date_sent IS NOT NULL, 'payable_online', false, 'formatted_recurring_interval', null, 'items', (SELECT coalesce(json_agg(json_build_object('id', t.id, 'description', t.description, 'amount', t.amount, 'quantity', t.quantity, 'rate', t.rate, 'subtotal', t.subtotal, 'vat_amount', t.vat_amount, 'status', CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END, 'paid_at', CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END, 'case_invoice_id', t.invoice_id, 'customer_case_id', t.case_id, 'has_vat', t.vat_amount <> 0) ORDER BY t.position), '[]')
             FROM json_populate_recordset(NULL::invoice_items, snapshot.invoice_items) t WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id), 'sender_id', v.sender_id, 'vat', v.vat, 'paid', v.paid, 'outstanding', CASE WHEN v.cancelled_at IS NULL THEN greatest(v.total - v.paid, 0.00) ELSE 0.00 END, 'payments', (SELECT coalesce(json_agg(json_build_object('id', y.id, 'case_invoice_id', y.invoice_id, 'customer_case_id', y.case_id, 'amount', y.amount, 'paid_at', to_char(y.paid_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'reference', y.reference, 'created_at', to_char(y.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'reversed_at', to_char(y.reversed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY y.paid_at, y.id), '[]')
                FROM json_populate_recordset(NULL::payments, snapshot.payments) y WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id), 'created_at', to_char(v.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(v.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'cancelled_at', to_char(v.cancelled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM json_populate_recordset(NULL::payments, snapshot.payments) y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s)
      FROM json_to_record(CASE WHEN w.touched IS NULL THEN w.was
            ELSE whole_invoice_entry(e.company_id, e.case_id, e.record_id, w.position, w.was, w.touched) END) AS snapshot (invoices json, invoice_items json, payments json),
           json_populate_record(NULL::invoices, snapshot.invoices) v) END END
          FROM (VALUES (1, e.before, e.was, e.position, e.touched), (2, t.before, t.was, n.position, n.touched))
                 AS w (place, before, was, position, touched) ORDER BY w.place) AS images
        OFFSET 0) s OFFSET 0) a)
      ON m.bytes_before < 2000000
   ORDER BY e.position;

-- events.one (reads; pool: short)
      SELECT json_build_object('type', e.type, 'at', to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'actor', e.origin -> 'actor', 'request_id', e.origin ->> 'request_id', 'case_id', nullif(e.case_id, '00000000-0000-0000-0000-000000000000'), 'record', json_build_object('type', split_part(e.type, '.', 1), 'id', e.record_id), 'changed', CASE WHEN a.before IS NOT NULL AND a.after IS NOT NULL THEN ARRAY(
    SELECT coalesce(x.key, y.key)
      FROM json_each_text(a.before) x FULL JOIN json_each_text(a.after) y ON y.key = x.key
     WHERE x.value IS DISTINCT FROM y.value ORDER BY 1) END, 'before', a.before, 'after', a.after)::text AS json FROM events e
  LEFT JOIN LATERAL (
    SELECT n.before, n.was, n.position, n.touched FROM events n
     WHERE n.company_id = e.company_id AND n.case_id = e.case_id AND n.record_id = e.record_id
       AND n.position > e.position
     ORDER BY n.position LIMIT 1) n ON true
  CROSS JOIN LATERAL (
    SELECT CASE WHEN n.position IS NOT NULL THEN n.before ELSE CASE split_part(e.type, '.', 1) WHEN 'adviser' THEN (SELECT json_build_object('id', a.id, 'email', a.email, 'name', a.name, 'active', a.active, 'video_provider', a.video_provider, 'video_account', (SELECT json_build_object('account_id', v.account_id, 'user', v.host) FROM video_accounts v WHERE v.company_id = a.company_id AND v.id = a.video_account_id), 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'removed_at', to_char(a.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM advisers a
    WHERE a.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND a.id = e.record_id)
      WHEN 'case' THEN (SELECT json_build_object('id', c.id, 'reference', c.reference, 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM cases c
    WHERE c.company_id = e.company_id AND c.id = e.case_id AND c.id = e.record_id)
      WHEN 'api_client' THEN (SELECT json_build_object('id', k.id, 'name', k.name, 'scopes', k.scopes, 'created_at', to_char(k.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(k.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'rotated_at', to_char(k.rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'disabled_at', to_char(k.disabled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN k.created_by_id IS NOT NULL THEN json_build_object('type', k.created_by_type, 'id', k.created_by_id, 'name', k.created_by_name) END, 'rotated_by', CASE WHEN k.rotated_by_id IS NOT NULL THEN json_build_object('type', k.rotated_by_type, 'id', k.rotated_by_id, 'name', k.rotated_by_name) END) FROM clients k
    WHERE k.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND k.id = e.record_id)
      WHEN 'company' THEN (SELECT json_build_object('id', c.id, 'name', c.name, 'time_zone', c.time_zone, 'phone_region', c.phone_region, 'terms', c.terms, 'payment_terms', c.payment_terms, 'reminder_lead_days', c.reminder_lead_days, 'sender_name', c.sender_name, 'sender_address', c.sender_address, 'contact_email', c.contact_email, 'client_contact_email', c.client_contact_email, 'client_contact_phone', c.client_contact_phone, 'contact_line', c.contact_line, 'message_signature', c.message_signature, 'created_at', to_char(c.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(c.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM companies c
    WHERE c.id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND c.id = e.record_id)
      WHEN 'customer' THEN (SELECT json_build_object('id', u.id, 'case_id', u.case_id, 'title', u.title, 'first_names', u.first_names, 'last_name', u.last_name, 'email', u.email, 'phone', u.phone, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'removed_at', to_char(u.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM customers u
    WHERE u.company_id = e.company_id AND u.case_id = e.case_id AND u.id = e.record_id)
      WHEN 'webhook_endpoint' THEN (SELECT json_build_object('id', w.id, 'url', w.url, 'description', w.description, 'types', w.types, 'state', w.state, 'state_reason', w.state_reason, 'failing_since', to_char(w.failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'secret_rotated_at', to_char(w.secret_rotated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'previous_secret_until', to_char(w.previous_secret_until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_at', to_char(w.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(w.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN w.created_by_id IS NOT NULL THEN json_build_object('type', w.created_by_type, 'id', w.created_by_id, 'name', w.created_by_name) END, 'url_set_by', CASE WHEN w.url_set_by_id IS NOT NULL THEN json_build_object('type', w.url_set_by_type, 'id', w.url_set_by_id, 'name', w.url_set_by_name) END, 'removed_at', to_char(w.removed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM webhook_endpoints w
    WHERE w.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND w.id = e.record_id)
      WHEN 'api_key' THEN (SELECT json_build_object('id', t.id, 'name', t.name, 'scopes', t.scopes, 'created_at', to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'expires_at', to_char(t.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'revoked_at', to_char(t.revoked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN t.created_by_id IS NOT NULL THEN json_build_object('type', t.created_by_type, 'id', t.created_by_id, 'name', t.created_by_name) END) FROM (SELECT * FROM tokens WHERE client_id IS NULL) t
    WHERE t.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND t.id = e.record_id)
      WHEN 'message' THEN (SELECT json_build_object('id', m.id, 'appointment_id', m.appointment_id, 'customer_case_id', m.case_id, 'channel', m.channel, 'kind', m.kind, 'resend_of', m.resend_of, 'state', CASE WHEN m.state IN ('sent', 'failed') THEN m.state END, 'due_at', CASE WHEN m.state IN ('sent', 'failed') THEN to_char(m.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END, 'sent_at', to_char(m.sent_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'sent_to', m.sent_to, 'attempts', CASE WHEN m.state IN ('sent', 'failed') THEN m.attempts END, 'last_error', CASE WHEN m.state IN ('sent', 'failed') THEN m.last_error END, 'created_at', to_char(m.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM messages m
    WHERE m.company_id = e.company_id AND m.case_id = e.case_id AND m.id = e.record_id)
      WHEN 'message_template' THEN (SELECT json_build_object('message', t.message, 'subject', t.subject, 'email_text', t.email_text, 'sms_text', t.sms_text, 'updated_at', to_char(t.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM message_templates t
    WHERE t.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND md5(t.message)::uuid = e.record_id)
      WHEN 'tag' THEN (SELECT json_build_object('tag', t.tag, 'created_at', to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM custom_tags t
    WHERE t.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND md5(t.tag)::uuid = e.record_id)
      WHEN 'user' THEN (SELECT json_build_object('id', u.id, 'email', u.email, 'name', u.name, 'role', u.role, 'adviser_id', u.adviser_id, 'state', u.state, 'created_at', to_char(u.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(u.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_by', CASE WHEN u.created_by_id IS NOT NULL THEN json_build_object('type', u.created_by_type, 'id', u.created_by_id, 'name', u.created_by_name) END) FROM users u
    WHERE u.company_id = e.company_id AND '00000000-0000-0000-0000-000000000000'::uuid = e.case_id AND u.id = e.record_id) END END AS before,
           CASE WHEN n.position IS NOT NULL THEN n.was ELSE CASE split_part(e.type, '.', 1) WHEN 'appointment' THEN (SELECT json_build_object('appointments', a) FROM appointments a
    WHERE a.company_id = e.company_id AND a.case_id = e.case_id AND a.id = e.record_id)
      WHEN 'address_book_entry' THEN (SELECT json_build_object('people', p, 'addresses', ARRAY(SELECT part FROM addresses part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.id = p.address_id), 'relationships', ARRAY(SELECT part FROM relationships part WHERE part.company_id = p.company_id AND part.case_id = p.case_id AND part.person_id = p.id)) FROM people p
    WHERE p.company_id = e.company_id AND p.case_id = e.case_id AND p.id = e.record_id)
      WHEN 'interaction' THEN (SELECT json_build_object('interactions', i) FROM interactions i
    WHERE i.company_id = e.company_id AND i.case_id = e.case_id AND i.id = e.record_id)
      WHEN 'invoice' THEN (SELECT json_build_object('invoices', v, 'invoice_items', ARRAY(SELECT part FROM invoice_items part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id), 'payments', ARRAY(SELECT part FROM payments part WHERE part.company_id = v.company_id AND part.case_id = v.case_id AND part.invoice_id = v.id)) FROM invoices v
    WHERE v.company_id = e.company_id AND v.case_id = e.case_id AND v.id = e.record_id) END END AS was OFFSET 0) t
  CROSS JOIN LATERAL (
    SELECT s.images[1] AS before, s.images[2] AS after
      FROM (SELECT ARRAY(
        SELECT CASE WHEN w.was IS NULL THEN w.before ELSE CASE split_part(e.type, '.', 1) WHEN 'appointment' THEN (
    SELECT json_build_object('id', a.id, 'customer_case_id', a.case_id, 'adviser_email', a.adviser_email, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', to_char(a.end_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'email_reminder', a.email_reminder, 'sms_recipient', a.sms_recipient, 'sms_reminder', a.sms_reminder, 'notes', a.notes, 'location', a.location, 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'video_meeting', a.video_meeting, 'video_id', a.video_id, 'join_url', a.join_url, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
      FROM json_to_record(w.was) AS snapshot (appointments json),
           json_populate_record(NULL::appointments, snapshot.appointments) a)
      WHEN 'address_book_entry' THEN (
    SELECT json_build_object('id', p.id, 'entity_id', 'person', 'data', json_build_object('title', p.title, 'last_name', p.last_name, 'first_names', p.first_names, 'gender', coalesce(p.gender, ''), 'marital_status', coalesce(p.marital_status, ''), 'middle_names', p.middle_names, 'known_as', p.known_as, 'tel_1', p.tel_1, 'tel_2', p.tel_2, 'email', p.email, 'occupation', p.occupation, 'preferred_name', p.preferred_name, 'alias', p.alias, 'dob', to_char(p.dob, 'DD/MM/YYYY'), 'their_pronoun', p.their_pronoun, 'them_pronoun', p.them_pronoun, 'they_pronoun', p.they_pronoun, 'relationship', (SELECT coalesce(json_object_agg(r.customer_id, r.word ORDER BY r.position), '{}') FROM json_populate_recordset(NULL::relationships, snapshot.relationships) r WHERE r.company_id = p.company_id AND r.case_id = p.case_id AND r.person_id = p.id), 'address', p.address_id, 'tags', p.tags, 'custom_tags', p.custom_tags), 'address', (SELECT json_build_object('id', a.id, 'entity_id', 'address', 'data', json_build_object('postcode', a.postcode, 'address_1', a.address_1, 'address_2', a.address_2, 'address_3', a.address_3)) FROM json_populate_recordset(NULL::addresses, snapshot.addresses) a WHERE a.company_id = p.company_id AND a.case_id = p.case_id AND a.id = p.address_id), 'customer_case_id', p.case_id, 'created_at', to_char(p.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(p.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'deleted_at', to_char(p.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
      FROM json_to_record(w.was) AS snapshot (people json, addresses json, relationships json),
           json_populate_record(NULL::people, snapshot.people) p)
      WHEN 'interaction' THEN (
    SELECT json_build_object('id', i.id, 'type', i.type, 'notes', i.notes, 'sender', i.sender, 'recipient', i.recipient, 'customer_case_id', i.case_id, 'when', to_char(i.happened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'created_at', to_char(i.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(i.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'deleted_at', to_char(i.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
      FROM json_to_record(w.was) AS snapshot (interactions json),
           json_populate_record(NULL::interactions, snapshot.interactions) i)
      WHEN 'invoice' THEN (
    SELECT (SELECT json_build_object('id', v.id, 'ref', null, 'notes', null, 'terms', v.terms, 'date_due', to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'date_sent', to_char(v.date_sent AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'date_paid', s.date_paid, 'payment_terms', v.payment_terms, 'subtotal', v.sub_total, 'total', v.total, 'invoice_number', v.invoice_number, 'recipients_name', v.recipients_name, 'vat_amount', v.vat_amount, 'customer_case_id', v.case_id, 'date_created', to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'status', s.status, 'mail_sent', v.date_sent IS NOT NULL, 'payable_online', false, 'formatted_recurring_interval', null, 'items', (SELECT coalesce(json_agg(json_build_object('id', t.id, 'description', t.description, 'amount', t.amount, 'quantity', t.quantity, 'rate', t.rate, 'subtotal', t.subtotal, 'vat_amount', t.vat_amount, 'status', CASE WHEN t.cancelled_at IS NOT NULL THEN 'cancelled' WHEN s.status = 'Paid' THEN 'paid' END, 'paid_at', CASE WHEN t.cancelled_at IS NULL THEN s.date_paid END, 'case_invoice_id', t.invoice_id, 'customer_case_id', t.case_id, 'has_vat', t.vat_amount <> 0) ORDER BY t.position), '[]')
             FROM json_populate_recordset(NULL::invoice_items, snapshot.invoice_items) t WHERE t.company_id = v.company_id AND t.case_id = v.case_id AND t.invoice_id = v.id), 'sender_id', v.sender_id, 'vat', v.vat, 'paid', v.paid, 'outstanding', CASE WHEN v.cancelled_at IS NULL THEN greatest(v.total - v.paid, 0.00) ELSE 0.00 END, 'payments', (SELECT coalesce(json_agg(json_build_object('id', y.id, 'case_invoice_id', y.invoice_id, 'customer_case_id', y.case_id, 'amount', y.amount, 'paid_at', to_char(y.paid_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'reference', y.reference, 'created_at', to_char(y.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'reversed_at', to_char(y.reversed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) ORDER BY y.paid_at, y.id), '[]')
                FROM json_populate_recordset(NULL::payments, snapshot.payments) y WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id), 'created_at', to_char(v.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(v.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'cancelled_at', to_char(v.cancelled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) FROM LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM json_populate_recordset(NULL::payments, snapshot.payments) y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s)
      FROM json_to_record(CASE WHEN w.touched IS NULL THEN w.was
            ELSE whole_invoice_entry(e.company_id, e.case_id, e.record_id, w.position, w.was, w.touched) END) AS snapshot (invoices json, invoice_items json, payments json),
           json_populate_record(NULL::invoices, snapshot.invoices) v) END END
          FROM (VALUES (1, e.before, e.was, e.position, e.touched), (2, t.before, t.was, n.position, n.touched))
                 AS w (place, before, was, position, touched) ORDER BY w.place) AS images
        OFFSET 0) s OFFSET 0) a
       WHERE e.company_id = $1::uuid AND e.position = $2::bigint;

-- events.open_writers (reads; pool: search)
SELECT l.virtualtransaction AS transaction FROM pg_locks l
 WHERE l.locktype = 'relation' AND l.relation = 'events'::regclass AND l.mode = 'RowExclusiveLock'
   AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database());

-- events.purge (writes; pool: short)
SELECT forget_events($1::int)::int AS deleted;

-- events.watermark (reads; pool: search)
SELECT settled_events($1::interval)::text AS position,
       (SELECT last_value FROM event_positions)::text AS last_issued,
       (SELECT json_agg(json_build_array(last_position::text, next_position::text)) FROM restores) AS lost;

