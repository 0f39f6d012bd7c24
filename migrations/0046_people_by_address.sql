-- A person belongs to the case of its address: the foreign key of the address has the company and the case, and an address
-- has a foreign key to its case. So the second check of the same case, which costs each new person, is not needed.
ALTER TABLE people DROP CONSTRAINT people_company_id_case_id_fkey;
