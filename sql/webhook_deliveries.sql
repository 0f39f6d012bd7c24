-- webhook_deliveries.claim (writes; pool: short)
WITH due AS MATERIALIZED (
  SELECT e.*, coalesce(b.running, 0) AS running, busy.count AS busy, (CASE WHEN e.faltering THEN 1 ELSE 4 END) - busy.count AS free_slots
    FROM webhook_endpoints e
    LEFT JOIN unnest($5::uuid[], $6::int[]) AS b (company_id, running)
      ON b.company_id = e.company_id
   CROSS JOIN LATERAL (
     SELECT min(claim_at) AS claim_at FROM (
       (SELECT claim_at FROM webhook_deliveries WHERE company_id = e.company_id AND endpoint_id = e.id AND state = 'waiting' AND ready AND position IS NULL)
       UNION ALL
       (SELECT greatest(claim_at, e.paused_until) FROM (
         SELECT claim_at FROM webhook_deliveries
          WHERE company_id = e.company_id AND endpoint_id = e.id AND state = 'waiting' AND ready AND position IS NOT NULL AND e.state = 'active'
          ORDER BY claim_at LIMIT 1) f)) o) oldest
   CROSS JOIN LATERAL (
     SELECT count(*)::int FROM webhook_deliveries
      WHERE company_id = e.company_id AND endpoint_id = e.id AND state = 'waiting' AND lease_by IS NOT NULL AND lease_until > $1::timestamptz) busy
   WHERE e.removed_at IS NULL AND oldest.claim_at <= $1::timestamptz
     AND coalesce(b.running, 0) < $7::int AND busy.count < (CASE WHEN e.faltering THEN 1 ELSE 4 END)
   ORDER BY coalesce(b.running, 0), busy.count, oldest.claim_at LIMIT $4::int
), free AS (
  SELECT t.*, e.running, e.busy, e.free_slots,
         row_number() OVER (PARTITION BY t.endpoint_id ORDER BY t.is_event, t.claim_at) AS in_line
    FROM due e CROSS JOIN LATERAL (
      SELECT * FROM (
        SELECT company_id, endpoint_id, id, claim_at, false AS is_event FROM webhook_deliveries
         WHERE company_id = e.company_id AND endpoint_id = e.id AND state = 'waiting' AND ready AND position IS NULL AND claim_at <= $1::timestamptz
           FOR UPDATE SKIP LOCKED) p
      UNION ALL
      SELECT * FROM (
        SELECT company_id, endpoint_id, id, claim_at, true FROM webhook_deliveries
         WHERE company_id = e.company_id AND endpoint_id = e.id AND state = 'waiting' AND ready AND position IS NOT NULL AND claim_at <= $1::timestamptz
           AND e.state = 'active' AND coalesce(e.paused_until, $1::timestamptz) <= $1::timestamptz
         ORDER BY claim_at LIMIT e.free_slots FOR UPDATE SKIP LOCKED) v) t
), turns AS (
  SELECT f.*, f.running + row_number() OVER (PARTITION BY f.company_id
                                               ORDER BY f.busy + f.in_line, f.claim_at) AS turn
    FROM free f WHERE f.in_line <= f.free_slots
), taken AS (
  SELECT * FROM (SELECT *, row_number() OVER (ORDER BY turn, claim_at) AS place FROM turns
                  WHERE turn <= $7::int) f
   WHERE place <= CASE turn WHEN 1 THEN $4::int ELSE $4::int - $8::int END
)
UPDATE webhook_deliveries w SET lease_by = $2::uuid, lease_until = $3::timestamptz FROM taken t
 WHERE w.company_id = t.company_id AND w.endpoint_id = t.endpoint_id AND w.id = t.id
RETURNING w.company_id, w.endpoint_id, w.id;

-- webhook_deliveries.count (reads; pool: search)
SELECT count(*)::int AS total FROM webhook_deliveries d
 WHERE d.company_id = $1::uuid AND d.endpoint_id = $2::uuid
   AND ($3::text IS NULL OR d.state = $3::text)
   AND ($4::text IS NULL OR d.event_type = $4::text)
   AND ($5::timestamptz IS NULL OR d.created_at >= $5::timestamptz)
   AND ($6::timestamptz IS NULL OR d.created_at < $6::timestamptz);

-- webhook_deliveries.count_waiting (reads; pool: short)
SELECT count(*)::int AS waiting FROM (
  SELECT 1 FROM webhook_deliveries d WHERE d.company_id = $1::uuid AND d.endpoint_id = $2::uuid AND d.state = 'waiting' LIMIT $3::int) d;

-- webhook_deliveries.discard (writes; pool: short)
WITH batch AS MATERIALIZED (
  SELECT d.record_id, d.position, d.id FROM webhook_deliveries d
   WHERE d.company_id = $1::uuid AND d.endpoint_id = $2::uuid AND d.state = 'waiting'
     AND (d.record_id, d.position, d.id) > ($5::uuid, $6::bigint, $7::uuid)
   ORDER BY d.record_id, d.position, d.id LIMIT $4::int
), locked AS MATERIALIZED (
  SELECT d.id FROM batch b CROSS JOIN LATERAL (
    SELECT d.id FROM webhook_deliveries d
     WHERE d.company_id = $1::uuid AND d.endpoint_id = $2::uuid AND d.id = b.id AND d.state = 'waiting' AND true
       FOR UPDATE) d
), changed AS (
  UPDATE webhook_deliveries d SET state = 'dropped', ready = false, ended_at = $3::timestamptz, lease_by = NULL, lease_until = NULL
   WHERE d.company_id = $1::uuid AND d.endpoint_id = $2::uuid AND d.id = ANY (ARRAY(SELECT l.id FROM locked l))
)
SELECT b.record_id, b.position::text, b.id, (SELECT count(*)::int FROM batch) AS count
  FROM batch b ORDER BY b.record_id DESC, b.position DESC, b.id DESC LIMIT 1;

-- webhook_deliveries.discard_ping (writes; pool: short)
UPDATE webhook_deliveries SET state = 'dropped', ready = false, ended_at = $3::timestamptz, lease_by = NULL, lease_until = NULL
 WHERE company_id = $1::uuid AND endpoint_id = $2::uuid
   AND state = 'waiting' AND position IS NULL;

-- webhook_deliveries.drop_held (writes; pool: short)
WITH batch AS MATERIALIZED (
  SELECT j.id FROM webhook_deliveries j WHERE j.company_id = $1::uuid AND j.endpoint_id = $2::uuid AND j.state = 'waiting' AND j.lease_until >= '9999-01-01 00:00:00+00'::timestamptz
   LIMIT $3::int FOR NO KEY UPDATE
), dropped AS (
  UPDATE webhook_deliveries j SET state = 'dropped', ready = false, ended_at = $4::timestamptz, lease_until = NULL
    FROM batch b WHERE j.company_id = $1::uuid AND j.endpoint_id = $2::uuid AND j.id = b.id RETURNING j.record_id
)
SELECT count(*)::int AS count, array_agg(DISTINCT record_id) FILTER (WHERE record_id IS NOT NULL) AS record_ids
  FROM dropped;

-- webhook_deliveries.due (reads; pool: search)
SELECT count(*)::int AS value FROM webhook_deliveries WHERE state = 'waiting' AND due_at <= $1::timestamptz;

-- webhook_deliveries.expedite (writes; pool: short)
WITH batch AS MATERIALIZED (
  SELECT d.record_id, d.position, d.id FROM webhook_deliveries d
   WHERE d.company_id = $1::uuid AND d.endpoint_id = $2::uuid AND d.state = 'waiting'
     AND (d.record_id, d.position, d.id) > ($5::uuid, $6::bigint, $7::uuid)
   ORDER BY d.record_id, d.position, d.id LIMIT $4::int
), locked AS MATERIALIZED (
  SELECT d.id FROM batch b CROSS JOIN LATERAL (
    SELECT d.id FROM webhook_deliveries d
     WHERE d.company_id = $1::uuid AND d.endpoint_id = $2::uuid AND d.id = b.id AND d.state = 'waiting' AND d.ready AND d.claim_at > $3::timestamptz AND d.lease_by IS NULL AND (d.lease_until IS NULL OR d.lease_until < '9999-01-01 00:00:00+00'::timestamptz)
       AND d.epoch < (SELECT w.epoch FROM webhook_endpoints w
                       WHERE w.company_id = $1::uuid AND w.id = $2::uuid)
       FOR UPDATE SKIP LOCKED) d
), changed AS (
  UPDATE webhook_deliveries d SET due_at = least(d.due_at, $3::timestamptz), lease_until = NULL
   WHERE d.company_id = $1::uuid AND d.endpoint_id = $2::uuid AND d.id = ANY (ARRAY(SELECT l.id FROM locked l))
)
SELECT b.record_id, b.position::text, b.id, (SELECT count(*)::int FROM batch) AS count
  FROM batch b ORDER BY b.record_id DESC, b.position DESC, b.id DESC LIMIT 1;

-- webhook_deliveries.fan_out (writes; pool: short)
WITH read AS (
  SELECT e.position, e.type, e.record_id, w.epoch, coalesce((
    SELECT ARRAY(SELECT jsonb_array_elements_text(t -> 'types')) FROM jsonb_array_elements(w.earlier_types) t
     WHERE (t ->> 'until')::bigint >= e.position ORDER BY (t ->> 'until')::bigint LIMIT 1), w.types) AS types
    FROM webhook_endpoints w JOIN events e ON e.company_id = w.company_id AND e.position > w.position
   WHERE w.company_id = $1::uuid AND w.id = $2::uuid AND e.position <= $3::bigint
   ORDER BY e.position LIMIT $4::int
), queued AS (
  INSERT INTO webhook_deliveries (company_id, endpoint_id, position, event_type, record_id, state, epoch, ready,
                                  due_at, created_at)
  SELECT $1::uuid, $2::uuid, r.position, r.type, r.record_id, 'waiting', r.epoch,
         row_number() OVER (PARTITION BY r.record_id ORDER BY r.position) = 1 AND NOT EXISTS (
           SELECT 1 FROM webhook_deliveries d
            WHERE d.company_id = $1::uuid AND d.endpoint_id = $2::uuid
              AND d.record_id = r.record_id AND d.state = 'waiting'),
         $5::timestamptz, $5::timestamptz
    FROM read r WHERE (r.type = ANY (r.types) OR split_part(r.type, '.', 1) || '.*' = ANY (r.types) OR '*' = ANY (r.types))
  RETURNING 1
), reached AS (
  SELECT greatest(w.position, CASE WHEN (SELECT count(*) FROM read) = $4::int
                                   THEN (SELECT max(position) FROM read) ELSE $3::bigint END) AS position
    FROM webhook_endpoints w WHERE w.company_id = $1::uuid AND w.id = $2::uuid
), advanced AS (
  UPDATE webhook_endpoints w
     SET position = reached.position, earlier_types = jsonb_path_query_array(
           w.earlier_types, '$[*] ? (@.until > $reached)', jsonb_build_object('reached', reached.position))
    FROM reached WHERE w.company_id = $1::uuid AND w.id = $2::uuid
)
SELECT (SELECT count(*)::int FROM read) AS events_read, (SELECT count(*)::int FROM queued) AS deliveries_queued;

-- webhook_deliveries.find_delivered_since (reads; pool: short)
SELECT 1 FROM webhook_deliveries
 WHERE company_id = $1::uuid AND endpoint_id = $2::uuid AND ended_at >= $3::timestamptz
   AND state = 'delivered' AND position IS NOT NULL
 LIMIT 1;

-- webhook_deliveries.find_waiting_ping (reads; pool: short)
SELECT d.id, d.position::text, json_build_object('id', d.id, 'endpoint_id', d.endpoint_id, 'event_type', d.event_type, 'record_id', d.record_id, 'state', d.state, 'attempts', d.attempts, 'next_attempt_at', CASE WHEN d.state = 'waiting' AND d.ready THEN (
    SELECT to_char(greatest(d.claim_at, CASE WHEN d.position IS NOT NULL THEN w.paused_until END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
      FROM webhook_endpoints w
     WHERE w.company_id = d.company_id AND w.id = d.endpoint_id
       AND (w.state = 'active' OR d.position IS NULL)) END, 'created_at', to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'first_attempt_at', to_char(d.first_attempt_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'delivered_at', CASE d.state WHEN 'delivered' THEN to_char(d.ended_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END, 'replay_of', d.replay_of)::text AS json FROM webhook_deliveries d
 WHERE d.company_id = $1::uuid AND d.endpoint_id = $2::uuid AND d.state = 'waiting' AND d.position IS NULL;

-- webhook_deliveries.held (reads; pool: search)
SELECT 'webhooks' AS kind, c.name AS company, to_char(j.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS due_at, j.event_type || ' to ' || (SELECT w.url FROM webhook_endpoints w WHERE w.company_id = j.company_id AND w.id = j.endpoint_id) AS job,
       (count(*) OVER ())::int AS total
  FROM webhook_deliveries j JOIN companies c ON c.id = j.company_id
 WHERE j.state = 'waiting' AND j.lease_until >= '9999-01-01 00:00:00+00'::timestamptz AND ($1::uuid IS NULL OR j.company_id = $1::uuid)
     AND NOT EXISTS (SELECT FROM companies i WHERE i.id = j.company_id AND i.removal_started_at IS NOT NULL) ORDER BY j.due_at LIMIT $2::int;

-- webhook_deliveries.hold (writes; pool: short)
WITH batch AS MATERIALIZED (
  SELECT j.* FROM companies c CROSS JOIN LATERAL (
    SELECT j.company_id, j.endpoint_id, j.id FROM webhook_deliveries j
     WHERE j.company_id = c.id AND j.state = 'waiting' AND j.due_at <= $1::timestamptz AND (j.lease_until IS NULL OR j.lease_until < '9999-01-01 00:00:00+00'::timestamptz) LIMIT $2::int FOR NO KEY UPDATE) j
   WHERE true LIMIT $2::int
), held AS (
  UPDATE webhook_deliveries j SET lease_by = NULL, lease_until = '9999-01-01 00:00:00+00'::timestamptz FROM batch b WHERE j.company_id = b.company_id AND j.endpoint_id = b.endpoint_id AND j.id = b.id
  RETURNING 1
)
SELECT count(*)::int AS count FROM held;

-- webhook_deliveries.insert_ping (writes; pool: short)
INSERT INTO webhook_deliveries AS d (company_id, endpoint_id, id, event_type, state, ready, due_at, created_at)
SELECT w.company_id, w.id, $3::uuid, 'ping', 'waiting', true, $4::timestamptz, $4::timestamptz
  FROM webhook_endpoints w
 WHERE w.company_id = $1::uuid AND w.id = $2::uuid AND w.removed_at IS NULL FOR SHARE
ON CONFLICT (company_id, endpoint_id) WHERE state = 'waiting' AND position IS NULL DO NOTHING
RETURNING d.id, d.position::text, json_build_object('id', d.id, 'endpoint_id', d.endpoint_id, 'event_type', d.event_type, 'record_id', d.record_id, 'state', d.state, 'attempts', d.attempts, 'next_attempt_at', CASE WHEN d.state = 'waiting' AND d.ready THEN (
    SELECT to_char(greatest(d.claim_at, CASE WHEN d.position IS NOT NULL THEN w.paused_until END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
      FROM webhook_endpoints w
     WHERE w.company_id = d.company_id AND w.id = d.endpoint_id
       AND (w.state = 'active' OR d.position IS NULL)) END, 'created_at', to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'first_attempt_at', to_char(d.first_attempt_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'delivered_at', CASE d.state WHEN 'delivered' THEN to_char(d.ended_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END, 'replay_of', d.replay_of)::text AS json;

-- webhook_deliveries.list (reads; pool: search)
SELECT d.id, d.position::text, json_build_object('id', d.id, 'endpoint_id', d.endpoint_id, 'event_type', d.event_type, 'record_id', d.record_id, 'state', d.state, 'attempts', d.attempts, 'next_attempt_at', CASE WHEN d.state = 'waiting' AND d.ready THEN (
    SELECT to_char(greatest(d.claim_at, CASE WHEN d.position IS NOT NULL THEN w.paused_until END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
      FROM webhook_endpoints w
     WHERE w.company_id = d.company_id AND w.id = d.endpoint_id
       AND (w.state = 'active' OR d.position IS NULL)) END, 'created_at', to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'first_attempt_at', to_char(d.first_attempt_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'delivered_at', CASE d.state WHEN 'delivered' THEN to_char(d.ended_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END, 'replay_of', d.replay_of)::text AS json FROM webhook_deliveries d
 WHERE d.company_id = $1::uuid AND d.endpoint_id = $2::uuid
   AND ($3::text IS NULL OR d.state = $3::text)
   AND ($4::text IS NULL OR d.event_type = $4::text)
   AND ($5::timestamptz IS NULL OR d.created_at >= $5::timestamptz)
   AND ($6::timestamptz IS NULL OR d.created_at < $6::timestamptz)
 ORDER BY d.created_at DESC, d.position DESC, d.id DESC LIMIT $7::int OFFSET $8::int;

-- webhook_deliveries.next_due (reads; pool: short)
SELECT to_char(min(oldest.claim_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
  FROM webhook_endpoints e CROSS JOIN LATERAL (
     SELECT min(claim_at) AS claim_at FROM (
       (SELECT claim_at FROM webhook_deliveries WHERE company_id = e.company_id AND endpoint_id = e.id AND state = 'waiting' AND ready AND position IS NULL)
       UNION ALL
       (SELECT greatest(claim_at, e.paused_until) FROM (
         SELECT claim_at FROM webhook_deliveries
          WHERE company_id = e.company_id AND endpoint_id = e.id AND state = 'waiting' AND ready AND position IS NOT NULL AND e.state = 'active'
          ORDER BY claim_at LIMIT 1) f)) o) oldest
 WHERE e.removed_at IS NULL AND e.company_id <> ALL ($1::uuid[])
   AND (SELECT count(*) FROM webhook_deliveries
         WHERE company_id = e.company_id AND endpoint_id = e.id AND state = 'waiting' AND lease_by IS NOT NULL) < (CASE WHEN e.faltering THEN 1 ELSE 4 END);

-- webhook_deliveries.purge (writes; pool: search)
WITH deleted AS (
  DELETE FROM webhook_deliveries d
   USING webhook_endpoints w CROSS JOIN LATERAL (
           SELECT o.id FROM webhook_deliveries o
            WHERE o.company_id = w.company_id AND o.endpoint_id = w.id AND o.ended_at < $1::timestamptz
            ORDER BY o.ended_at LIMIT $2::int FOR UPDATE SKIP LOCKED) o
   WHERE d.company_id = w.company_id AND d.endpoint_id = w.id AND d.id = o.id
  RETURNING 1
)
SELECT count(*)::int AS deleted FROM deleted;

-- webhook_deliveries.ready_first (writes; pool: short)
UPDATE webhook_deliveries d SET ready = true
  FROM unnest($3::uuid[]) r (id) CROSS JOIN LATERAL (
    SELECT j.id FROM webhook_deliveries j WHERE j.company_id = $1::uuid AND j.endpoint_id = $2::uuid AND j.record_id = r.id AND j.state = 'waiting'
     ORDER BY j.position, j.id LIMIT 1) f
 WHERE d.company_id = $1::uuid AND d.endpoint_id = $2::uuid AND d.id = f.id AND NOT d.ready;

-- webhook_deliveries.record_result (writes; pool: short)
WITH d AS (
  UPDATE webhook_deliveries d
     SET state = $6::text, tries = d.tries || $7::jsonb, lease_by = NULL,
         lease_until = $8::timestamptz,
         ready = $6::text = 'waiting' AND NOT EXISTS (
           SELECT 1 FROM webhook_deliveries w
            WHERE w.company_id = d.company_id AND w.endpoint_id = d.endpoint_id
              AND w.record_id = d.record_id AND w.state = 'waiting'
              AND (w.position, w.id) < (d.position, d.id)),
         ended_at = CASE WHEN $6::text <> 'waiting' THEN $5::timestamptz END
   WHERE d.company_id = $1::uuid AND d.endpoint_id = $2::uuid AND d.id = $3::uuid AND d.state = 'waiting' AND ($4::uuid IS NULL OR d.lease_by = $4::uuid)
  RETURNING d.*
), n AS (
  UPDATE webhook_deliveries n SET ready = true FROM d
   WHERE d.state <> 'waiting' AND n.company_id = d.company_id AND n.endpoint_id = d.endpoint_id AND NOT n.ready
     AND n.id = (SELECT w.id FROM webhook_deliveries w
                  WHERE w.company_id = d.company_id AND w.endpoint_id = d.endpoint_id
                    AND w.record_id = d.record_id AND w.state = 'waiting' AND w.id <> d.id
                  ORDER BY w.position, w.id LIMIT 1)
  RETURNING 1
)
SELECT d.state FROM d;

-- webhook_deliveries.release_held (writes; pool: short)
WITH batch AS MATERIALIZED (
  SELECT j.* FROM companies c CROSS JOIN LATERAL (
    SELECT j.company_id, j.endpoint_id, j.id FROM webhook_deliveries j
     WHERE j.company_id = c.id AND j.state = 'waiting' AND j.lease_until >= '9999-01-01 00:00:00+00'::timestamptz LIMIT $2::int FOR NO KEY UPDATE) j
   WHERE c.removal_started_at IS NULL AND ($1::uuid IS NULL OR c.id = $1::uuid) LIMIT $2::int
), released AS (
  UPDATE webhook_deliveries j SET lease_until = NULL FROM batch b WHERE j.company_id = b.company_id AND j.endpoint_id = b.endpoint_id AND j.id = b.id
  RETURNING 1
)
SELECT count(*)::int AS count FROM released;

-- webhook_deliveries.release_lease (writes; pool: short)
UPDATE webhook_deliveries SET lease_by = NULL, lease_until = NULL
 WHERE company_id = $2::uuid AND endpoint_id = $3::uuid AND id = $4::uuid AND lease_by = $1::uuid;

-- webhook_deliveries.renew (writes; pool: short)
WITH held AS (
  SELECT w.company_id, w.endpoint_id, w.id FROM webhook_deliveries w
    JOIN unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::uuid[])
         AS t (lease, company_id, endpoint_id, id)
      ON w.company_id = t.company_id AND w.endpoint_id = t.endpoint_id AND w.id = t.id AND w.lease_by = t.lease
   WHERE state = 'waiting' AND ready FOR UPDATE OF w SKIP LOCKED
)
UPDATE webhook_deliveries w SET lease_until = $1::timestamptz FROM held h WHERE w.company_id = h.company_id AND w.endpoint_id = h.endpoint_id AND w.id = h.id;

-- webhook_deliveries.reorder (writes; pool: short)
WITH ranked AS (
  SELECT d.id, row_number() OVER (PARTITION BY d.record_id ORDER BY d.position, d.id) = 1 AS first
    FROM webhook_deliveries d
   WHERE d.company_id = $1::uuid AND d.endpoint_id = $2::uuid AND d.state = 'waiting' AND d.record_id = ANY ($3::uuid[])
)
UPDATE webhook_deliveries d SET ready = r.first FROM ranked r
 WHERE d.company_id = $1::uuid AND d.endpoint_id = $2::uuid AND d.id = r.id AND d.ready <> r.first;

-- webhook_deliveries.replay (writes; pool: short)
INSERT INTO webhook_deliveries AS d
  (company_id, endpoint_id, id, position, event_type, record_id, state, ready, due_at, created_at, replay_of)
SELECT d.company_id, d.endpoint_id, $4::uuid, d.position, d.event_type, d.record_id, 'waiting', false,
       $5::timestamptz, $5::timestamptz, d.id
  FROM webhook_deliveries d
 WHERE d.company_id = $1::uuid AND d.endpoint_id = $2::uuid AND d.id = $3::uuid
   AND NOT EXISTS (
         SELECT 1 FROM webhook_deliveries o
          WHERE o.company_id = $1::uuid AND o.endpoint_id = $2::uuid
            AND o.record_id = d.record_id AND o.position = d.position AND o.state = 'waiting')
RETURNING d.id, d.position::text, json_build_object('id', d.id, 'endpoint_id', d.endpoint_id, 'event_type', d.event_type, 'record_id', d.record_id, 'state', d.state, 'attempts', d.attempts, 'next_attempt_at', CASE WHEN d.state = 'waiting' AND d.ready THEN (
    SELECT to_char(greatest(d.claim_at, CASE WHEN d.position IS NOT NULL THEN w.paused_until END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
      FROM webhook_endpoints w
     WHERE w.company_id = d.company_id AND w.id = d.endpoint_id
       AND (w.state = 'active' OR d.position IS NULL)) END, 'created_at', to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'first_attempt_at', to_char(d.first_attempt_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'delivered_at', CASE d.state WHEN 'delivered' THEN to_char(d.ended_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END, 'replay_of', d.replay_of)::text AS json, ARRAY[d.record_id] AS records;

-- webhook_deliveries.replay_many (writes; pool: short)
WITH found AS (
  SELECT e.position, e.type, e.record_id
    FROM events e JOIN webhook_endpoints w ON w.company_id = e.company_id AND w.id = $2::uuid
   WHERE e.company_id = $1::uuid AND e.position <= least(w.position, $6::bigint)
     AND e.position > coalesce($5::bigint, 0)
     AND ($7::timestamptz IS NULL OR e.at >= $7::timestamptz) AND ($8::timestamptz IS NULL OR e.at < $8::timestamptz)
     AND (e.type = ANY ($4::text[]) OR split_part(e.type, '.', 1) || '.*' = ANY ($4::text[]) OR '*' = ANY ($4::text[])) AND (e.type = ANY (w.types) OR split_part(e.type, '.', 1) || '.*' = ANY (w.types) OR '*' = ANY (w.types))
     AND NOT EXISTS (
         SELECT 1 FROM webhook_deliveries o
          WHERE o.company_id = $1::uuid AND o.endpoint_id = $2::uuid
            AND o.record_id = e.record_id AND o.position = e.position AND o.state = 'waiting')
   ORDER BY e.position LIMIT $9::int
), queued AS (
  INSERT INTO webhook_deliveries (company_id, endpoint_id, position, event_type, record_id, state, ready, due_at,
                                  created_at)
  SELECT $1::uuid, $2::uuid, f.position, f.type, f.record_id, 'waiting', false,
         $3::timestamptz, $3::timestamptz FROM found f
)
SELECT count(*)::int AS queued, max(f.position)::text AS last, array_agg(DISTINCT f.record_id) AS records
  FROM found f;

-- webhook_deliveries.show (reads; pool: short)
SELECT d.id, d.position::text, d.state, json_build_object('id', d.id, 'endpoint_id', d.endpoint_id, 'event_type', d.event_type, 'record_id', d.record_id, 'state', d.state, 'attempts', d.attempts, 'next_attempt_at', CASE WHEN d.state = 'waiting' AND d.ready THEN (
    SELECT to_char(greatest(d.claim_at, CASE WHEN d.position IS NOT NULL THEN w.paused_until END) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
      FROM webhook_endpoints w
     WHERE w.company_id = d.company_id AND w.id = d.endpoint_id
       AND (w.state = 'active' OR d.position IS NULL)) END, 'created_at', to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'first_attempt_at', to_char(d.first_attempt_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'delivered_at', CASE d.state WHEN 'delivered' THEN to_char(d.ended_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') END, 'replay_of', d.replay_of, 'tries', d.tries)::text AS json
  FROM webhook_deliveries d WHERE d.company_id = $1::uuid AND d.endpoint_id = $2::uuid AND d.id = $3::uuid;

-- webhook_deliveries.start (writes; pool: short)
WITH d AS (
  SELECT d.*, e.epoch AS current_epoch, e.url, e.sealed_secret, d.epoch < e.epoch AS resumed,
         CASE WHEN e.previous_secret_until > $5::timestamptz THEN e.sealed_previous_secret
              END AS sealed_previous_secret,
         d.ready AND e.removed_at IS NULL AND (e.state = 'active' OR d.position IS NULL) AS may_send
    FROM webhook_deliveries d JOIN webhook_endpoints e ON e.company_id = d.company_id AND e.id = d.endpoint_id
   WHERE d.company_id = $1::uuid AND d.endpoint_id = $2::uuid AND d.id = $3::uuid AND d.lease_by = $4::uuid AND d.state = 'waiting' FOR UPDATE OF d NOWAIT
), started AS (
  UPDATE webhook_deliveries w
     SET epoch = d.current_epoch, attempts = CASE WHEN d.resumed THEN 0 ELSE w.attempts END + 1,
         first_attempt_at = CASE WHEN d.resumed THEN $5::timestamptz
                                 ELSE coalesce(w.first_attempt_at, $5::timestamptz) END
    FROM d WHERE d.may_send AND w.company_id = d.company_id AND w.endpoint_id = d.endpoint_id AND w.id = d.id
  RETURNING w.id, w.attempts, w.first_attempt_at
), released AS (
  UPDATE webhook_deliveries w SET lease_by = NULL, lease_until = NULL
    FROM d WHERE NOT d.may_send AND w.company_id = d.company_id AND w.endpoint_id = d.endpoint_id AND w.id = d.id
)
SELECT d.id, d.position::text, d.event_type, d.current_epoch AS epoch, w.attempts AS attempt_number,
       to_char(w.first_attempt_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS first_attempt_at, to_char(d.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS created_at,
       d.url, c.event_key, d.sealed_secret, d.sealed_previous_secret
  FROM d JOIN started w ON w.id = d.id JOIN companies c ON c.id = d.company_id;

