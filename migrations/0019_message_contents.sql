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

-- Earlier addresses of a customer, the last one first: a message to one of them still greets the customer by name.
ALTER TABLE customers ADD former_emails text[] NOT NULL DEFAULT '{}';
