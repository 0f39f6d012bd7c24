-- meetings.due (reads; pool: search)
SELECT count(*)::int AS value FROM meetings WHERE state = 'pending' AND due_at <= $1::timestamptz;

