-- An organizer stays the same for the life of an entry (RFC 5546), so the entries of appointments that are to come get
-- the one that they were probably sent with.
UPDATE messages m
   SET organizer_name = coalesce(nullif(o.sender_name, ''), o.name), organizer_address = nullif(o.sender_address, '')
  FROM appointments a JOIN companies o ON o.id = a.company_id
 WHERE a.end_at > now() AND a.company_id = m.company_id AND a.case_id = m.case_id AND a.id = m.appointment_id
   AND m.channel = 'email' AND m.kind = 'confirmation' AND m.state IN ('sending', 'sent');
