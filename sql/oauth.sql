-- oauth.find_client (reads; pool: short)
SELECT company_id, id, scopes, secret_sha256 FROM clients WHERE id = $1::uuid AND disabled_at IS NULL;

-- oauth.issue (writes; pool: short)
WITH old AS MATERIALIZED (
  SELECT t.id FROM tokens t
   WHERE t.company_id = $1::uuid AND t.client_id IS NOT NULL
     AND least(t.expires_at, t.revoked_at) < $9::timestamptz
   ORDER BY least(t.expires_at, t.revoked_at) LIMIT 20 FOR UPDATE SKIP LOCKED
), pruned AS (
  DELETE FROM tokens t USING old WHERE t.company_id = $1::uuid AND t.id = old.id
)
INSERT INTO tokens
  (company_id, client_id, client_generation, id, secret_sha256, name, scopes, expires_at, created_at)
SELECT k.company_id, k.id, k.generation, $4::uuid, $5::bytea, k.name, $6::text[],
       $7::timestamptz, $8::timestamptz
  FROM (SELECT * FROM clients k
         WHERE k.company_id = $1::uuid AND k.id = $2::uuid
           AND k.secret_sha256 = $3::bytea AND k.disabled_at IS NULL
           FOR SHARE) k
RETURNING 1;

-- oauth.revoke (writes; pool: short)
UPDATE tokens SET revoked_at = $4::timestamptz
 WHERE company_id = $1::uuid AND client_id = $2::uuid
   AND secret_sha256 = $3::bytea AND revoked_at IS NULL;

