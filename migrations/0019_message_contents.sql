-- What clients are told about the company: how to change or cancel an appointment, and how messages end. Null: a text
-- made from the other settings; empty: none.
ALTER TABLE companies
  ADD client_contact_email text,
  ADD client_contact_phone text,
  ADD contact_line text,
  ADD message_signature text;

-- What a message said, written when its sending begins. A later message names the time that the client was told, and
-- a reminder updates the client's calendar if the entry there differs.
ALTER TABLE messages
  ADD told_start_at timestamptz,
  ADD told_end_at timestamptz,
  ADD told_location text,
  ADD told_join_url text,
  -- The organizer of the calendar entry; null without one. If only the address is null, it was the service's default.
  ADD organizer_name text,
  ADD organizer_address text;

-- An organizer stays the same for the life of an entry (RFC 5546), so the entries of appointments that are to come get
-- the one that they were probably sent with.
UPDATE messages m
   SET organizer_name = coalesce(nullif(o.sender_name, ''), o.name), organizer_address = nullif(o.sender_address, '')
  FROM appointments a JOIN companies o ON o.id = a.company_id
 WHERE a.end_at > now() AND a.company_id = m.company_id AND a.case_id = m.case_id AND a.id = m.appointment_id
   AND m.channel = 'email' AND m.kind = 'confirmation' AND m.state IN ('sending', 'sent');

-- Earlier addresses of a customer, the last one first: a message to one of them still greets the customer by name.
ALTER TABLE customers ADD former_emails text[] NOT NULL DEFAULT '{}';
