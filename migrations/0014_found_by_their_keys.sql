-- To a planner that joins several records by their keys, company and case are two conditions that have nothing to do with each
-- other: it takes the records of a case for one, and an index that begins with the case for as good as the primary key. So no
-- other index of a table whose records are changed by their key begins with the case.
ALTER TABLE invoices
  DROP CONSTRAINT invoices_number,
  ADD CONSTRAINT invoices_number UNIQUE (company_id, invoice_number, case_id);

-- An address comes with its person and stays with it: nothing looks for the person by the address.
ALTER TABLE people DROP CONSTRAINT people_company_id_case_id_address_id_key;
