-- doctor.events (reads; pool: short)
SELECT has_table_privilege(t.oid, 'UPDATE, DELETE, TRUNCATE, TRIGGER') OR pg_has_role(t.relowner, 'MEMBER')
       OR pg_has_role(n.nspowner, 'MEMBER') OR pg_has_role(d.datdba, 'MEMBER') AS changeable,
     (SELECT days FROM event_retention) AS days
FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace
JOIN pg_database d ON d.datname = current_database() WHERE t.oid = 'events'::regclass;

-- doctor.server (reads; pool: short)
SELECT current_setting('server_version_num')::int AS version, extract(epoch FROM clock_timestamp())::float8 AS now;

-- doctor.zones (reads; pool: short)
SELECT DISTINCT time_zone FROM companies ORDER BY 1;

