-- people.lock_row (writes; pool: short)
SELECT 1 FROM people WHERE company_id = $1::uuid AND case_id = $2::uuid AND id = $3::uuid
   FOR NO KEY UPDATE;

