-- timeline.list (reads; pool: search)
  WITH changes AS MATERIALIZED (
    SELECT e.position FROM events e
     WHERE 'change' = ANY ($3::text[]) AND e.company_id = $1::uuid AND e.case_id = $2::uuid
       AND e.position < $9::bigint
  ), page AS MATERIALIZED (
    SELECT * FROM (
    (SELECT 0 AS kind, i.id, i.happened_at AS at, NULL::bigint AS position
       FROM interactions i
      WHERE 'interaction' = ANY ($3::text[]) AND i.company_id = $1::uuid
        AND i.case_id = $2::uuid AND i.deleted_at IS NULL
        AND (i.happened_at, 0, i.id) < ($6::timestamptz, $7::int, $8::uuid)
      ORDER BY i.happened_at DESC, i.id DESC LIMIT $5::int)
     UNION ALL
    (SELECT 1 AS kind, a.id, a.start_at AS at, NULL::bigint AS position
       FROM appointments a
      WHERE 'appointment' = ANY ($3::text[]) AND a.company_id = $1::uuid
        AND a.case_id = $2::uuid AND a.deleted_at IS NULL
        AND (a.start_at, 1, a.id) < ($6::timestamptz, $7::int, $8::uuid)
      ORDER BY a.start_at DESC, a.id DESC LIMIT $5::int)
     UNION ALL
    (SELECT 2 AS kind, v.id, v.date_created AS at, NULL::bigint AS position
       FROM invoices v
      WHERE 'invoice' = ANY ($3::text[]) AND v.company_id = $1::uuid
        AND v.case_id = $2::uuid AND true
        AND (v.date_created, 2, v.id) < ($6::timestamptz, $7::int, $8::uuid)
      ORDER BY v.date_created DESC, v.id DESC LIMIT $5::int)
     UNION ALL
    (SELECT 3 AS kind, y.id, y.paid_at AS at, NULL::bigint AS position
       FROM payments y
      WHERE 'payment' = ANY ($3::text[]) AND y.company_id = $1::uuid
        AND y.case_id = $2::uuid AND true
        AND (y.paid_at, 3, y.id) < ($6::timestamptz, $7::int, $8::uuid)
      ORDER BY y.paid_at DESC, y.id DESC LIMIT $5::int)
     UNION ALL
    (SELECT 4, '00000000-0000-0000-0000-000000000000'::uuid,
            least($6::timestamptz, min(e.at) OVER (ORDER BY c.position DESC)), c.position
       FROM (SELECT position FROM changes ORDER BY position DESC LIMIT $5::int) c
       JOIN events e ON e.company_id = $1::uuid AND e.position = c.position)) k
     ORDER BY k.at DESC, k.kind DESC, k.id DESC, k.position DESC LIMIT $5::int
  )
  SELECT p.kind, p.id, to_char(p.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, p.position::text,
         CASE p.kind WHEN 0 THEN (SELECT ('{"id":"' || (i.id) || '","type":"' || (i.type) || '","notes":' || to_json(i.notes)::text || ',"sender":' || coalesce(to_json(i.sender)::text, 'null') || ',"recipient":' || to_json(i.recipient)::text || ',"customer_case_id":"' || (i.case_id) || '","when":"' || (($4::text::text || (floor(extract(epoch FROM i.happened_at)) + 140000000000)::text)) || '","icon":"' || (d.icon) || '","formatted_type":"' || (d.formatted_type) || '","external_id":' || coalesce(to_json(i.external_id)::text, 'null') || '}') FROM interactions i JOIN (VALUES ('phone', 'phone', 'Phone'), ('email', 'envelope', 'Email'),
('SMS', 'comment', 'SMS'), ('appointment', 'calendar', 'Appointment'), ('letter', 'file-lines', 'Letter'),
('video_conference', 'video', 'Video conference'), ('other', 'circle-info', 'Other'))
AS d (type, icon, formatted_type) ON d.type = i.type WHERE i.company_id = $1::uuid AND i.case_id = $2::uuid AND i.id = p.id)
         WHEN 1 THEN (SELECT json_build_object('id', a.id, 'customer_case_id', a.case_id, 'start_time', to_char(a.start_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'end_time', ($4::text::text || (floor(extract(epoch FROM a.end_at)) + 140000000000)::text), 'email_confirmation', states.email_confirmation, 'email_notification', states.email_notification, 'email_day_before', states.email_day_before, 'sms_recipient', a.sms_recipient, 'sms_confirmation', states.sms_confirmation, 'sms_notification', states.sms_notification, 'sms_day_before', states.sms_day_before, 'notes', a.notes, 'location', a.location, 'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'updated_at', to_char(a.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'type', a.type, 'attended', a.attended, 'cancelled', a.cancelled, 'deleted_at', to_char(a.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'email_recipient', coalesce(a.email_recipient, ''), 'video_id', a.video_id, 'join_url', a.join_url, 'adviser_email', a.adviser_email, 'external_id', a.external_id)::text
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
             ORDER BY channel, kind, (m.kind = 'reminder' AND m.start_at = a.start_at) DESC, m.id DESC, written DESC) shown) states WHERE a.company_id = $1::uuid AND a.case_id = $2::uuid AND a.id = p.id)
         WHEN 2 THEN (SELECT json_build_object('id', v.id, 'invoice_number', v.invoice_number, 'recipients_name', v.recipients_name, 'date_created', to_char(v.date_created AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'date_due', to_char(v.date_due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'total', v.total, 'paid', v.paid, 'outstanding', CASE WHEN v.cancelled_at IS NULL THEN greatest(v.total - v.paid, 0.00) ELSE 0.00 END, 'status', s.status)::text FROM invoices v, LATERAL (SELECT CASE WHEN v.cancelled_at IS NOT NULL THEN 'Cancelled' WHEN v.paid <= 0 THEN 'Not Paid'
WHEN v.paid < v.total THEN 'Part Paid' ELSE 'Paid' END AS status, to_char((CASE WHEN v.cancelled_at IS NULL AND v.paid > 0 AND v.paid >= v.total THEN (
SELECT min(y.paid_at)
  FROM (SELECT y.paid_at, sum(y.amount) OVER (ORDER BY y.paid_at, y.id) AS paid_so_far FROM payments y
         WHERE y.company_id = v.company_id AND y.case_id = v.case_id AND y.invoice_id = v.id AND y.reversed_at IS NULL) y
 WHERE y.paid_so_far >= v.total) END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS date_paid OFFSET 0) s WHERE v.company_id = $1::uuid AND v.case_id = $2::uuid AND v.id = p.id)
         WHEN 3 THEN (SELECT json_build_object('id', y.id, 'case_invoice_id', y.invoice_id, 'customer_case_id', y.case_id, 'amount', y.amount, 'paid_at', to_char(y.paid_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'reference', y.reference, 'created_at', to_char(y.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'reversed_at', to_char(y.reversed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))::text FROM payments y WHERE y.company_id = $1::uuid AND y.case_id = $2::uuid AND y.id = p.id)
         WHEN 4 THEN (SELECT json_build_object('type', e.type, 'at', to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'actor', e.origin -> 'actor', 'request_id', e.origin ->> 'request_id', 'record', json_build_object('type', split_part(e.type, '.', 1), 'id', e.record_id))::text FROM events e WHERE e.company_id = $1::uuid AND e.position = p.position) END AS json
    FROM page p ORDER BY p.at DESC, p.kind DESC, p.id DESC, p.position DESC;

