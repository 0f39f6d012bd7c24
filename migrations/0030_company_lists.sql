-- outside of a transaction

-- What the lists of a whole company are read by. Each index begins with the company, has the values that a list is
-- filtered by exactly, and ends with what it is sorted by. An index that an interruption left unfinished is invalid, so
-- each is built anew.

-- Returns the text in lower case and without accents, as it is compared and sorted. It uses no collation of the server
-- and no extension, so it returns the same everywhere.
CREATE OR REPLACE FUNCTION fold_text(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN
  CASE WHEN octet_length($1) = char_length($1) THEN lower($1 COLLATE "C") ELSE
    lower(translate(replace(replace(replace(
      regexp_replace(normalize($1, NFD), U&'[\0300-\036F]', '', 'g'), 'ß', 'ss'), 'æ', 'ae'), 'Æ', 'ae'),
      'ØøŁłĐđðÐıÞΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩςАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЂЄІЉЊЋЏҐ',
      'oollddddiþαβγδεζηθικλμνξοπρστυφχψωσабвгдежзийклмнопрстуфхцчшщъыьэюяђєіљњћџґ') COLLATE "C") END;

DROP INDEX CONCURRENTLY IF EXISTS interactions_of_company;
CREATE INDEX CONCURRENTLY interactions_of_company ON interactions (company_id, type, happened_at, id)
  WHERE deleted_at IS NULL;

-- The outcome: the same text as in the statements.
DROP INDEX CONCURRENTLY IF EXISTS appointments_of_company;
CREATE INDEX CONCURRENTLY appointments_of_company ON appointments (company_id,
  (CASE WHEN cancelled = 1 THEN 'cancelled' WHEN attended = 1 THEN 'attended' ELSE 'none' END), start_at, id)
  WHERE deleted_at IS NULL;

-- The status: the same text as in the statements. What it follows from is included, because the sums of open invoices
-- would otherwise read the table.
DROP INDEX CONCURRENTLY IF EXISTS invoices_of_company_due;
CREATE INDEX CONCURRENTLY invoices_of_company_due ON invoices (company_id,
  (CASE WHEN cancelled_at IS NOT NULL THEN 'Cancelled' WHEN paid <= 0 THEN 'Not Paid'
        WHEN paid < total THEN 'Part Paid' ELSE 'Paid' END), date_due, id) INCLUDE (total, paid, cancelled_at);
DROP INDEX CONCURRENTLY IF EXISTS invoices_of_company_created;
CREATE INDEX CONCURRENTLY invoices_of_company_created ON invoices (company_id,
  (CASE WHEN cancelled_at IS NOT NULL THEN 'Cancelled' WHEN paid <= 0 THEN 'Not Paid'
        WHEN paid < total THEN 'Part Paid' ELSE 'Paid' END), date_created, id);

-- The keys of people: the same text as in the statements. Names, emails and phone numbers may be longer than an index can
-- hold. A phone number is compared by its last nine digits, which are the same with and without the prefix of a country.
DROP INDEX CONCURRENTLY IF EXISTS people_of_company_name;
CREATE INDEX CONCURRENTLY people_of_company_name ON people (company_id,
  (left(fold_text(left(last_name, 100) || ', ' || left(first_names, 100)), 200) COLLATE "C"), id) WHERE deleted_at IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS people_of_company_email;
CREATE INDEX CONCURRENTLY people_of_company_email ON people (company_id,
  (left(fold_text(left(coalesce(email, ''), 254)), 254) COLLATE "C"), id) WHERE deleted_at IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS people_of_company_tel_1;
CREATE INDEX CONCURRENTLY people_of_company_tel_1 ON people (company_id,
  right(regexp_replace(left(tel_1, 100), '[^0-9]', '', 'g'), 9),
  (left(fold_text(left(last_name, 100) || ', ' || left(first_names, 100)), 200) COLLATE "C"), id)
  WHERE deleted_at IS NULL AND tel_1 IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS people_of_company_tel_2;
CREATE INDEX CONCURRENTLY people_of_company_tel_2 ON people (company_id,
  right(regexp_replace(left(tel_2, 100), '[^0-9]', '', 'g'), 9),
  (left(fold_text(left(last_name, 100) || ', ' || left(first_names, 100)), 200) COLLATE "C"), id)
  WHERE deleted_at IS NULL AND tel_2 IS NOT NULL;

-- Statistics of the expressions.
ANALYZE appointments, invoices, people;
