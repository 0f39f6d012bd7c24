-- The words of a record as the index of searches has them: each begins with the period of the record, so that a search can go
-- from period to period. A period is half a month; a year before 2024; all that is before 2000; and all from 2100 on. Its
-- name is its first day. src/search/periods.ts has the same. Long numbers and the ends of phone numbers are so rare that
-- they are found in all periods at once; the beginning of a long number is not.
CREATE FUNCTION words_of_period(at timestamptz, words tsvector) RETURNS tsvector
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT AS $$
DECLARE
  utc timestamp := at AT TIME ZONE 'UTC';
  period text := CASE WHEN utc < '2000-01-01' THEN '00010101'
                      WHEN utc < '2024-01-01' THEN to_char(utc, 'YYYY') || '0101'
                      WHEN utc >= '2100-01-01' THEN '21000101'
                      ELSE to_char(utc, 'YYYYMM') || CASE WHEN extract(day FROM utc) < 16 THEN '01' ELSE '16' END END;
BEGIN
  RETURN array_to_tsvector(ARRAY(
    SELECT period || '.' || word FROM unnest(tsvector_to_array(words)) word WHERE word !~ '^\d+='
     UNION ALL SELECT word FROM unnest(tsvector_to_array(words)) word WHERE word ~ '^\d+(=|[!:~]\d{7})'));
END $$;
