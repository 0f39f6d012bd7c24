-- restores.find (reads; pool: short)
SELECT to_char(restored_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS restored_at, last_position::text FROM restores WHERE id = $1::uuid;

-- restores.move_positions (writes; pool: short)
SELECT move_event_positions($1::bigint);

-- restores.record (writes; pool: short)
INSERT INTO restores (id, state_at, restored_at, last_position, next_position)
SELECT $1::uuid, $2::timestamptz, $3::timestamptz, coalesce(max(e.position), 0),
       greatest((extract(epoch FROM $3::timestamptz)::bigint - 1767225600) * 5000000,
                (SELECT last_value + 1000000000 FROM event_positions))
  FROM companies c CROSS JOIN LATERAL (
    SELECT v.position FROM events v WHERE v.company_id = c.id ORDER BY v.position DESC LIMIT 1) e
    ON CONFLICT (id) DO NOTHING
RETURNING next_position::text;

