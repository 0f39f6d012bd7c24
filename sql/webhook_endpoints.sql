-- webhook_endpoints.failing_now (reads; pool: search)
SELECT count(*)::int AS value FROM webhook_endpoints WHERE state = 'failing' AND removed_at IS NULL;

