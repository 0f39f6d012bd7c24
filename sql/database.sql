-- database.clock (reads; pool: short)
SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms;

-- database.end_half_sent (writes; pool: short)
WITH half_sent AS MATERIALIZED (
  SELECT a.pid FROM pg_stat_activity a
   WHERE a.datname = current_database() AND a.usename = current_user
     AND a.application_name = current_setting('application_name') AND a.pid <> pg_backend_pid()
     AND a.state = 'active' AND a.wait_event = 'ClientRead'
     AND a.state_change < clock_timestamp() - make_interval(secs => $1::int)
)
SELECT pg_terminate_backend(pid) FROM half_sent;

