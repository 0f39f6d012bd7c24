-- A text of ASCII, as most names and emails are, is folded without preparing what the other letters need: PL/pgSQL prepares
-- the expressions that a transaction comes to. The results are the same, so the indexes stay as they are.
CREATE OR REPLACE FUNCTION fold_text(text) RETURNS text LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  IF octet_length($1) = char_length($1) THEN
    RETURN lower($1 COLLATE "C");
  END IF;
  RETURN lower(translate(replace(replace(replace(replace(replace(replace(replace(replace(
    regexp_replace(normalize($1, NFD), U&'[\0300-\036F]', '', 'g'),
    'ß', 'ss'), 'ẞ', 'ss'), 'æ', 'ae'), 'Æ', 'ae'), 'œ', 'oe'), 'Œ', 'oe'), 'þ', 'th'), 'Þ', 'th'),
    'ØøŁłĐđðÐıĦħŊŋŦŧƏΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩςАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЂЄІЉЊЋЏҐ',
    'oollddddihhnnttəαβγδεζηθικλμνξοπρστυφχψωσабвгдежзийклмнопрстуфхцчшщъыьэюяђєіљњћџґ') COLLATE "C");
END $$;
