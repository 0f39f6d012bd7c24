-- webhook_notices.insert (writes; pool: short)
INSERT INTO webhook_notices (company_id, endpoint_id, id, kind, state, due_at)
SELECT $1::uuid, $2::uuid, $3::uuid, $4::text, 'waiting', $5::timestamptz
 WHERE $4::text <> 'delivery_failed' OR NOT EXISTS (
         SELECT 1 FROM webhook_notices n
          WHERE n.company_id = $1::uuid AND n.endpoint_id = $2::uuid
            AND n.due_at > $5::timestamptz - interval '1 day');

-- webhook_notices.purge (writes; pool: short)
DELETE FROM webhook_notices WHERE ended_at < $1::timestamptz;

-- webhook_notices.record_result (writes; pool: short)
UPDATE webhook_notices n
   SET state = $6::text, told_to = $7::text, last_error = $8::text, lease_by = NULL,
       lease_until = $9::timestamptz, ended_at = CASE WHEN $6::text <> 'waiting' THEN $5::timestamptz END
 WHERE n.company_id = $1::uuid AND n.endpoint_id = $2::uuid AND n.id = $3::uuid AND n.lease_by = $4::uuid AND n.state = 'waiting';

-- webhook_notices.start (writes; pool: short)
WITH n AS (
  UPDATE webhook_notices n SET attempts = n.attempts + 1
   WHERE n.company_id = $1::uuid AND n.endpoint_id = $2::uuid AND n.id = $3::uuid AND n.lease_by = $4::uuid AND n.state = 'waiting'
  RETURNING n.*
)
SELECT n.id, n.kind, n.attempts AS attempt_number, to_char(n.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS due_at, w.url, c.name AS company,
       coalesce(nullif(c.contact_email, ''), nullif(c.sender_address, '')) AS recipient
  FROM n JOIN webhook_endpoints w ON w.company_id = n.company_id AND w.id = n.endpoint_id
  JOIN companies c ON c.id = n.company_id;

