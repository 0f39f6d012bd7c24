-- events.find_case (reads; pool: short)
SELECT 1 FROM cases WHERE company_id = $1::uuid AND id = $2::uuid;

-- events.find_last_position (reads; pool: short)
SELECT coalesce(max(position), 0)::text AS position FROM events
 WHERE company_id = $1::uuid AND position <= $2::bigint;

-- events.open_writers (reads; pool: search)
SELECT l.virtualtransaction AS transaction FROM pg_locks l
 WHERE l.locktype = 'relation' AND l.relation = 'events'::regclass AND l.mode = 'RowExclusiveLock'
   AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database());

-- events.purge (writes; pool: short)
SELECT forget_events($1::int)::int AS deleted;

-- events.watermark (reads; pool: search)
SELECT settled_events($1::interval)::text AS position,
       (SELECT last_value FROM event_positions)::text AS last_issued;

