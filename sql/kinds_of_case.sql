-- kinds_of_case.count (reads; pool: short)
SELECT count(*)::int AS count FROM (SELECT 1 FROM case_kinds WHERE company_id = $1::uuid LIMIT 1000) counted;

