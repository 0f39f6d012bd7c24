/** Interactions of company $1 and case $2, $3 of them, a minute apart. Every fifth is a letter, the others are calls. */
export const FILL_INTERACTIONS = `
  INSERT INTO interactions (company_id, case_id, id, type, notes, recipient, happened_at, created_at, updated_at)
  SELECT $1, $2, gen_random_uuid(), CASE WHEN n % 5 = 0 THEN 'letter' ELSE 'phone' END, 'Call ' || n, 'John Smith',
         timestamptz '2020-01-01T00:00:00Z' + n * interval '1 minute', now(), now() FROM generate_series(1, $3) n`;
