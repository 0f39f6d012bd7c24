-- tokens.find (reads; pool: short)
  SELECT t.id AS token_id, t.client_id, coalesce(k.name, t.name) AS name, c.id, c.time_zone, c.phone_region, c.terms, c.payment_terms, c.reminder_lead_days,
c.event_key, EXISTS (
SELECT 1 FROM webhook_endpoints w WHERE w.company_id = c.id AND w.state = 'active' AND w.removed_at IS NULL) AS webhooks,
         CASE WHEN t.client_id IS NULL THEN t.scopes
              ELSE ARRAY(SELECT s FROM unnest(t.scopes) s WHERE s = ANY (k.scopes)) END AS scopes
    FROM tokens t
    JOIN companies c ON c.id = t.company_id
    LEFT JOIN clients k ON k.company_id = t.company_id AND k.id = t.client_id
   WHERE t.secret_sha256 = $1::bytea AND t.revoked_at IS NULL
     AND (t.expires_at IS NULL OR t.expires_at > $2::timestamptz)
     AND k.disabled_at IS NULL AND t.client_generation IS NOT DISTINCT FROM k.generation;

-- tokens.lock_row (writes; pool: short)
SELECT 1 FROM tokens WHERE company_id = $1::uuid AND id = $2::uuid
   FOR NO KEY UPDATE;

-- tokens.record_last_used (writes; pool: short)
WITH used AS (
  SELECT t.company_id, t.id, u.last_used_at
    FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) AS u (company_id, id, last_used_at)
    JOIN tokens t ON t.company_id = u.company_id AND t.id = u.id
   WHERE t.last_used_at IS NULL OR t.last_used_at < u.last_used_at
     FOR NO KEY UPDATE OF t SKIP LOCKED
)
UPDATE tokens t SET last_used_at = used.last_used_at
  FROM used WHERE t.company_id = used.company_id AND t.id = used.id;

