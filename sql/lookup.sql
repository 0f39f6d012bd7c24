-- lookup.advisers (reads; pool: search)
SELECT a.id::text AS id, concat_ws(' ', a.name, a.email) AS label, coalesce(lower($3::text) IN (lower(a.email), lower(a.name)), false) AS is_exact
  FROM advisers a
 WHERE (a.company_id = $1::uuid AND (a.removed_at IS NOT NULL) = $2::boolean) AND (starts_with(a.id::text, lower($3::text)) OR starts_with(lower(a.email), lower($3::text)) OR starts_with(lower(a.name), lower($3::text)))
 ORDER BY is_exact DESC, label, id LIMIT 11;

-- lookup.case_kinds (reads; pool: search)
SELECT k.id::text AS id, k.name AS label, coalesce(lower($3::text) IN (lower(k.name)), false) AS is_exact
  FROM case_kinds k
 WHERE (k.company_id = $1::uuid AND (k.removed_at IS NOT NULL) = $2::boolean) AND (starts_with(k.id::text, lower($3::text)) OR starts_with(lower(k.name), lower($3::text)))
 ORDER BY is_exact DESC, label, id LIMIT 11;

-- lookup.cases (reads; pool: search)
SELECT c.id::text AS id, c.reference AS label, coalesce(lower($2::text) IN (lower(c.reference)), false) AS is_exact
  FROM cases c
 WHERE (c.company_id = $1::uuid) AND (starts_with(c.id::text, lower($2::text)) OR starts_with(lower(c.reference), lower($2::text)))
 ORDER BY is_exact DESC, label, id LIMIT 11;

-- lookup.clients (reads; pool: search)
SELECT c.id::text AS id, c.name || CASE WHEN c.disabled_at IS NULL THEN '' ELSE ' (disabled)' END AS label, coalesce(lower($2::text) IN (lower(c.name)), false) AS is_exact
  FROM clients c
 WHERE (c.company_id = $1::uuid) AND (starts_with(c.id::text, lower($2::text)) OR starts_with(lower(c.name), lower($2::text)))
 ORDER BY is_exact DESC, label, id LIMIT 11;

-- lookup.companies (reads; pool: search)
SELECT c.id::text AS id, c.name AS label, coalesce(lower($1::text) IN (lower(c.name)), false) AS is_exact
  FROM companies c
 WHERE (true) AND (starts_with(c.id::text, lower($1::text)) OR starts_with(lower(c.name), lower($1::text)))
 ORDER BY is_exact DESC, label, id LIMIT 11;

-- lookup.credentials (reads; pool: search)
SELECT k.id::text AS id, k.label || ' of ' || o.name AS label, coalesce(lower($1::text) IN (lower(k.name)), false) AS is_exact
  FROM (SELECT t.company_id, t.id, t.name, t.name || CASE WHEN t.revoked_at IS NULL THEN '' ELSE ' (revoked)' END AS label FROM tokens t WHERE t.client_id IS NULL
    UNION ALL SELECT c.company_id, c.id, c.name, c.name FROM clients c
    UNION ALL SELECT u.company_id, u.id, u.email, u.email FROM users u) k
   JOIN companies o ON o.id = k.company_id
 WHERE (true) AND (starts_with(k.id::text, lower($1::text)) OR starts_with(lower(k.name), lower($1::text)))
 ORDER BY is_exact DESC, label, id LIMIT 11;

-- lookup.customers (reads; pool: search)
SELECT c.id::text AS id, concat_ws(' ', nullif(c.title, ''), nullif(c.first_names, ''), c.last_name, c.email) AS label, coalesce(lower($4::text) IN (lower(concat_ws(' ', nullif(c.first_names, ''), c.last_name)), lower(c.last_name), lower(coalesce(c.email, ''))), false) AS is_exact
  FROM customers c
 WHERE (c.company_id = $1::uuid AND c.case_id = $2::uuid AND (c.removed_at IS NOT NULL) = $3::boolean) AND (starts_with(c.id::text, lower($4::text)) OR starts_with(lower(concat_ws(' ', nullif(c.first_names, ''), c.last_name)), lower($4::text)) OR starts_with(lower(c.last_name), lower($4::text)) OR starts_with(lower(coalesce(c.email, '')), lower($4::text)))
 ORDER BY is_exact DESC, label, id LIMIT 11;

-- lookup.deliveries (reads; pool: search)
SELECT d.id::text AS id, d.state AS label, coalesce(lower($3::text) IN (lower(d.id::text)), false) AS is_exact
  FROM webhook_deliveries d
 WHERE (d.company_id = $1::uuid AND d.endpoint_id = $2::uuid) AND (starts_with(d.id::text, lower($3::text)) OR starts_with(lower(d.id::text), lower($3::text)))
 ORDER BY is_exact DESC, label, id LIMIT 11;

-- lookup.endpoints (reads; pool: search)
SELECT e.id::text AS id, e.url AS label, coalesce(lower($2::text) IN (lower(e.url)), false) AS is_exact
  FROM webhook_endpoints e
 WHERE (e.company_id = $1::uuid AND e.removed_at IS NULL) AND (starts_with(e.id::text, lower($2::text)) OR starts_with(lower(e.url), lower($2::text)))
 ORDER BY is_exact DESC, label, id LIMIT 11;

-- lookup.keys (reads; pool: search)
SELECT t.id::text AS id, t.name || CASE WHEN t.revoked_at IS NULL THEN '' ELSE ' (revoked)' END AS label, coalesce(lower($2::text) IN (lower(t.name)), false) AS is_exact
  FROM tokens t
 WHERE (t.company_id = $1::uuid AND t.client_id IS NULL) AND (starts_with(t.id::text, lower($2::text)) OR starts_with(lower(t.name), lower($2::text)))
 ORDER BY is_exact DESC, label, id LIMIT 11;

-- lookup.users (reads; pool: search)
SELECT u.id::text AS id, u.name || ' <' || u.email || '>' || CASE u.state WHEN 'disabled' THEN ' (disabled)' ELSE '' END AS label, coalesce(lower($2::text) IN (lower(u.email), lower(u.name)), false) AS is_exact
  FROM users u
 WHERE (u.company_id = $1::uuid) AND (starts_with(u.id::text, lower($2::text)) OR starts_with(lower(u.email), lower($2::text)) OR starts_with(lower(u.name), lower($2::text)))
 ORDER BY is_exact DESC, label, id LIMIT 11;

