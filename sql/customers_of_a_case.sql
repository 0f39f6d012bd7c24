-- customers_of_a_case.count (reads; pool: short)
SELECT count(*)::int AS count FROM (SELECT 1 FROM customers WHERE company_id = $1::uuid AND case_id = $2::uuid LIMIT 1000) counted;

