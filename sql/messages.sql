-- messages.due (reads; pool: search)
SELECT channel AS label, count(*)::int AS value FROM messages
 WHERE state IN ('scheduled', 'sending') AND due_at <= $1::timestamptz GROUP BY channel;

