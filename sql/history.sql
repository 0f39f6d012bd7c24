-- history.find_address_book_entry (reads; pool: short)
SELECT 1 FROM people p
WHERE p.company_id = $1::uuid AND p.id = $2::uuid AND p.case_id = $3::uuid;

-- history.find_adviser (reads; pool: short)
SELECT 1 FROM advisers a
WHERE a.company_id = $1::uuid AND a.id = $2::uuid AND '00000000-0000-0000-0000-000000000000'::uuid = $3::uuid;

-- history.find_api_client (reads; pool: short)
SELECT 1 FROM clients k
WHERE k.company_id = $1::uuid AND k.id = $2::uuid AND '00000000-0000-0000-0000-000000000000'::uuid = $3::uuid;

-- history.find_api_key (reads; pool: short)
SELECT 1 FROM (SELECT * FROM tokens WHERE client_id IS NULL) t
WHERE t.company_id = $1::uuid AND t.id = $2::uuid AND '00000000-0000-0000-0000-000000000000'::uuid = $3::uuid;

-- history.find_appointment (reads; pool: short)
SELECT 1 FROM appointments a
WHERE a.company_id = $1::uuid AND a.id = $2::uuid AND a.case_id = $3::uuid;

-- history.find_case (reads; pool: short)
SELECT 1 FROM cases c
WHERE c.company_id = $1::uuid AND c.id = $2::uuid AND c.id = $3::uuid;

-- history.find_case_kind (reads; pool: short)
SELECT 1 FROM case_kinds k
WHERE k.company_id = $1::uuid AND k.id = $2::uuid AND '00000000-0000-0000-0000-000000000000'::uuid = $3::uuid;

-- history.find_company (reads; pool: short)
SELECT 1 FROM companies c
WHERE c.id = $1::uuid AND c.id = $2::uuid AND '00000000-0000-0000-0000-000000000000'::uuid = $3::uuid;

-- history.find_customer (reads; pool: short)
SELECT 1 FROM customers u
WHERE u.company_id = $1::uuid AND u.id = $2::uuid AND u.case_id = $3::uuid;

-- history.find_interaction (reads; pool: short)
SELECT 1 FROM interactions i
WHERE i.company_id = $1::uuid AND i.id = $2::uuid AND i.case_id = $3::uuid;

-- history.find_invoice (reads; pool: short)
SELECT 1 FROM invoices v
WHERE v.company_id = $1::uuid AND v.id = $2::uuid AND v.case_id = $3::uuid;

-- history.find_message (reads; pool: short)
SELECT 1 FROM messages m
WHERE m.company_id = $1::uuid AND m.id = $2::uuid AND m.case_id = $3::uuid;

-- history.find_message_template (reads; pool: short)
SELECT 1 FROM message_templates t
WHERE t.company_id = $1::uuid AND md5(t.message)::uuid = $2::uuid AND '00000000-0000-0000-0000-000000000000'::uuid = $3::uuid;

-- history.find_tag (reads; pool: short)
SELECT 1 FROM custom_tags t
WHERE t.company_id = $1::uuid AND md5(t.tag)::uuid = $2::uuid AND '00000000-0000-0000-0000-000000000000'::uuid = $3::uuid;

-- history.find_user (reads; pool: short)
SELECT 1 FROM users u
WHERE u.company_id = $1::uuid AND u.id = $2::uuid AND '00000000-0000-0000-0000-000000000000'::uuid = $3::uuid;

-- history.find_webhook_endpoint (reads; pool: short)
SELECT 1 FROM webhook_endpoints w
WHERE w.company_id = $1::uuid AND w.id = $2::uuid AND '00000000-0000-0000-0000-000000000000'::uuid = $3::uuid;

