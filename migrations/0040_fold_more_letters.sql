-- outside of a transaction

-- Names are compared without case and accents, but some letters that Unicode does not decompose were left as they are. The
-- words of searches fold the same letters. Lists find a name with one of them again when its index is built anew.
CREATE OR REPLACE FUNCTION fold_text(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN
  CASE WHEN octet_length($1) = char_length($1) THEN lower($1 COLLATE "C") ELSE
    lower(translate(replace(replace(replace(replace(replace(replace(replace(replace(
      regexp_replace(normalize($1, NFD), U&'[\0300-\036F]', '', 'g'),
      'ß', 'ss'), 'ẞ', 'ss'), 'æ', 'ae'), 'Æ', 'ae'), 'œ', 'oe'), 'Œ', 'oe'), 'þ', 'th'), 'Þ', 'th'),
      'ØøŁłĐđðÐıĦħŊŋŦŧƏΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩςАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЂЄІЉЊЋЏҐ',
      'oollddddihhnnttəαβγδεζηθικλμνξοπρστυφχψωσабвгдежзийклмнопрстуфхцчшщъыьэюяђєіљњћџґ') COLLATE "C") END;

-- An interruption leaves the index that is not finished, or the one that it has replaced, beside the one that serves.
DROP INDEX CONCURRENTLY IF EXISTS people_of_company_name_ccnew;
DROP INDEX CONCURRENTLY IF EXISTS people_of_company_name_ccold;
REINDEX INDEX CONCURRENTLY people_of_company_name;
DROP INDEX CONCURRENTLY IF EXISTS people_of_company_email_ccnew;
DROP INDEX CONCURRENTLY IF EXISTS people_of_company_email_ccold;
REINDEX INDEX CONCURRENTLY people_of_company_email;
DROP INDEX CONCURRENTLY IF EXISTS people_of_company_tel_1_ccnew;
DROP INDEX CONCURRENTLY IF EXISTS people_of_company_tel_1_ccold;
REINDEX INDEX CONCURRENTLY people_of_company_tel_1;
DROP INDEX CONCURRENTLY IF EXISTS people_of_company_tel_2_ccnew;
DROP INDEX CONCURRENTLY IF EXISTS people_of_company_tel_2_ccold;
REINDEX INDEX CONCURRENTLY people_of_company_tel_2;

-- Statistics of the expressions.
ANALYZE people;
