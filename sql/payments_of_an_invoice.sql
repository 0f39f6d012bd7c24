-- payments_of_an_invoice.count (reads; pool: short)
SELECT count(*)::int AS count FROM (SELECT 1 FROM payments WHERE company_id = $1::uuid AND case_id = $2::uuid AND invoice_id = $3::uuid LIMIT 1000) counted;

