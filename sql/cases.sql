-- cases.exists (reads; pool: short)
SELECT 1 FROM cases WHERE company_id = $1::uuid AND id = $2::uuid;

