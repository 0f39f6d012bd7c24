-- webhook_deliveries.due (reads; pool: search)
SELECT count(*)::int AS value FROM webhook_deliveries WHERE state = 'waiting' AND due_at <= $1::timestamptz;

