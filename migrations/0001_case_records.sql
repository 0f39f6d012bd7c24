-- Every key begins with the company. A reference can only be made inside one company, and inside one case where
-- the record belongs to a case: the foreign keys carry the whole path, so no statement can store a mixed one.
-- `version` counts the changes of a record. An update is decided on the version it has read and written only onto
-- that version, so two at once never mix their parts.

CREATE TABLE companies (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  time_zone text NOT NULL DEFAULT 'Europe/London',
  phone_region text NOT NULL DEFAULT 'GB',
  terms text NOT NULL DEFAULT '',
  payment_terms text NOT NULL DEFAULT '30 days',
  reminder_lead_days integer NOT NULL DEFAULT 1 CHECK (reminder_lead_days BETWEEN 1 AND 30),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

CREATE TABLE advisers (
  company_id uuid NOT NULL REFERENCES companies,
  id uuid NOT NULL,
  email text NOT NULL,
  name text NOT NULL,
  active boolean NOT NULL DEFAULT true,
  video_provider text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (company_id, id)
);
CREATE UNIQUE INDEX advisers_email ON advisers (company_id, lower(email));

CREATE TABLE cases (
  company_id uuid NOT NULL REFERENCES companies,
  id uuid NOT NULL,
  reference text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (company_id, id)
);

CREATE TABLE customers (
  company_id uuid NOT NULL,
  case_id uuid NOT NULL,
  id uuid NOT NULL,
  title text NOT NULL DEFAULT '',
  first_names text NOT NULL DEFAULT '',
  last_name text NOT NULL DEFAULT '',
  email text,
  phone text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (company_id, case_id, id),
  FOREIGN KEY (company_id, case_id) REFERENCES cases (company_id, id)
);

CREATE TABLE default_tags (
  tag text PRIMARY KEY CHECK (tag ~ '^[a-z0-9]+(-[a-z0-9]+)*$')
);

CREATE TABLE custom_tags (
  company_id uuid NOT NULL REFERENCES companies,
  tag text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (company_id, tag)
);

CREATE TABLE tokens (
  company_id uuid NOT NULL REFERENCES companies,
  id uuid NOT NULL,
  secret_sha256 bytea NOT NULL UNIQUE CHECK (octet_length(secret_sha256) = 32),
  name text NOT NULL,
  scopes text[] NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz,
  PRIMARY KEY (company_id, id)
);

CREATE TABLE addresses (
  company_id uuid NOT NULL,
  case_id uuid NOT NULL,
  id uuid NOT NULL,
  address_1 text NOT NULL DEFAULT '',
  address_2 text NOT NULL DEFAULT '',
  address_3 text NOT NULL DEFAULT '',
  postcode text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (company_id, case_id, id),
  FOREIGN KEY (company_id, case_id) REFERENCES cases (company_id, id)
);

CREATE TABLE people (
  company_id uuid NOT NULL,
  case_id uuid NOT NULL,
  id uuid NOT NULL,
  address_id uuid NOT NULL,
  title text NOT NULL,
  first_names text NOT NULL,
  middle_names text,
  last_name text NOT NULL,
  known_as text,
  tel_1 text,
  tel_2 text,
  email text,
  gender text,
  dob date,
  marital_status text,
  occupation text,
  preferred_name text,
  alias text,
  them_pronoun text,
  they_pronoun text,
  their_pronoun text,
  tags text[] NOT NULL DEFAULT '{}',
  custom_tags text[] NOT NULL DEFAULT '{}',
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (company_id, case_id, id),
  UNIQUE (company_id, case_id, address_id),
  FOREIGN KEY (company_id, case_id) REFERENCES cases (company_id, id),
  FOREIGN KEY (company_id, case_id, address_id) REFERENCES addresses (company_id, case_id, id)
);

CREATE TABLE relationships (
  company_id uuid NOT NULL,
  case_id uuid NOT NULL,
  person_id uuid NOT NULL,
  customer_id uuid NOT NULL,
  word text NOT NULL,
  position integer NOT NULL,
  PRIMARY KEY (company_id, case_id, person_id, customer_id),
  FOREIGN KEY (company_id, case_id, person_id) REFERENCES people (company_id, case_id, id),
  FOREIGN KEY (company_id, case_id, customer_id) REFERENCES customers (company_id, case_id, id)
);

CREATE TABLE interactions (
  company_id uuid NOT NULL,
  case_id uuid NOT NULL,
  id uuid NOT NULL,
  type text NOT NULL,
  notes text NOT NULL,
  happened_at timestamptz NOT NULL,
  sender text,
  recipient text NOT NULL,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (company_id, case_id, id),
  FOREIGN KEY (company_id, case_id) REFERENCES cases (company_id, id)
);

CREATE TABLE invoices (
  company_id uuid NOT NULL,
  case_id uuid NOT NULL,
  id uuid NOT NULL,
  invoice_number text NOT NULL,
  sender_id uuid NOT NULL,
  date_created timestamptz NOT NULL,
  date_due timestamptz NOT NULL,
  date_sent timestamptz,
  date_paid timestamptz,
  vat numeric(14, 4) NOT NULL,
  sub_total numeric(12, 2) NOT NULL,
  vat_amount numeric(12, 2) NOT NULL,
  total numeric(12, 2) NOT NULL,
  terms text NOT NULL,
  payment_terms text NOT NULL,
  recipients_name text NOT NULL,
  status text NOT NULL DEFAULT 'Not Paid' CHECK (status IN ('Not Paid', 'Part Paid', 'Paid', 'Cancelled')),
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (company_id, case_id, id),
  CONSTRAINT invoices_number UNIQUE (company_id, case_id, invoice_number),
  FOREIGN KEY (company_id, case_id) REFERENCES cases (company_id, id)
);

CREATE TABLE invoice_items (
  company_id uuid NOT NULL,
  case_id uuid NOT NULL,
  invoice_id uuid NOT NULL,
  id uuid NOT NULL,
  position integer NOT NULL,
  description text NOT NULL,
  quantity numeric(10, 0) NOT NULL,
  rate numeric(14, 4) NOT NULL,
  amount numeric(12, 2) NOT NULL,
  subtotal numeric(12, 2) NOT NULL,
  vat_amount numeric(12, 2) NOT NULL,
  status text CHECK (status IN ('paid', 'cancelled')),
  paid_at timestamptz,
  PRIMARY KEY (company_id, case_id, invoice_id, id),
  FOREIGN KEY (company_id, case_id, invoice_id) REFERENCES invoices (company_id, case_id, id)
);

CREATE TABLE appointments (
  company_id uuid NOT NULL,
  case_id uuid NOT NULL,
  id uuid NOT NULL,
  adviser_id uuid NOT NULL,
  -- What was written down at booking; the adviser's own address may change later.
  adviser_email text NOT NULL,
  start_at timestamptz NOT NULL,
  end_at timestamptz NOT NULL CHECK (end_at > start_at),
  email_recipient text,
  sms_recipient text,
  email_reminder boolean NOT NULL,
  sms_reminder boolean NOT NULL,
  notes text,
  location text,
  type text,
  attended smallint NOT NULL DEFAULT 0 CHECK (attended IN (0, 1)),
  cancelled smallint NOT NULL DEFAULT 0 CHECK (cancelled IN (0, 1)),
  video_meeting boolean NOT NULL,
  video_id text,
  join_url text,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  deleted_at timestamptz,
  PRIMARY KEY (company_id, case_id, id),
  FOREIGN KEY (company_id, case_id) REFERENCES cases (company_id, id),
  FOREIGN KEY (company_id, adviser_id) REFERENCES advisers (company_id, id)
);

-- A message is its own job: it is due, it goes out or is withdrawn. Moving an appointment withdraws the reminder of
-- the old start and makes one for the new, so a reminder under way can never be taken for that of another time.
CREATE TABLE messages (
  company_id uuid NOT NULL,
  case_id uuid NOT NULL,
  appointment_id uuid NOT NULL,
  id uuid NOT NULL,
  channel text NOT NULL CHECK (channel IN ('email', 'sms')),
  kind text NOT NULL CHECK (kind IN ('confirmation', 'reminder')),
  -- The start that a reminder speaks of; a confirmation speaks of the present one.
  start_at timestamptz NOT NULL,
  state text NOT NULL CHECK (state IN ('scheduled', 'sent', 'failed', 'cancelled', 'skipped')),
  due_at timestamptz NOT NULL,
  -- Whether that is the day before the start on the company's calendar.
  day_before boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (company_id, case_id, appointment_id, id),
  FOREIGN KEY (company_id, case_id, appointment_id) REFERENCES appointments (company_id, case_id, id)
);
-- One reminder per channel and start, one confirmation waiting per channel: the database refuses a second.
CREATE UNIQUE INDEX messages_reminder ON messages (company_id, case_id, appointment_id, channel, start_at)
  WHERE kind = 'reminder';
CREATE UNIQUE INDEX messages_confirmation ON messages (company_id, case_id, appointment_id, channel)
  WHERE kind = 'confirmation' AND state = 'scheduled';
CREATE INDEX messages_due ON messages (due_at) WHERE state = 'scheduled';

INSERT INTO default_tags (tag) VALUES
  ('accountant'), ('attorney'), ('beneficiary'), ('certificate-provider'), ('charity'), ('child'), ('dependant'),
  ('doctor'), ('executor'), ('financial-adviser'), ('guardian'), ('joint-owner'), ('next-of-kin'), ('partner'),
  ('person-to-notify'), ('power-of-attorney'), ('replacement-attorney'), ('replacement-executor'), ('settlor'),
  ('solicitor'), ('spouse'), ('trustee'), ('witness');
