-- An account with a provider that asks for credentials. One that an adviser no longer has stays for as long as meetings
-- have to be taken down with it; then its secret goes.
CREATE TABLE video_accounts (
  company_id uuid NOT NULL,
  id uuid NOT NULL,
  adviser_id uuid NOT NULL,
  account_id text NOT NULL,
  client_id text NOT NULL,
  host text NOT NULL,
  -- Under SECRETS_KEY; never the secret itself.
  sealed_secret text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (company_id, id),
  UNIQUE (company_id, adviser_id, id),
  FOREIGN KEY (company_id, adviser_id) REFERENCES advisers (company_id, id)
);

ALTER TABLE advisers
  ADD video_account_id uuid,
  ADD FOREIGN KEY (company_id, id, video_account_id) REFERENCES video_accounts (company_id, adviser_id, id),
  ADD CONSTRAINT advisers_video_provider CHECK (video_provider IN ('jitsi', 'zoom')),
  ADD CONSTRAINT advisers_video_account CHECK ((video_provider IS NOT DISTINCT FROM 'zoom') = (video_account_id IS NOT NULL));

-- One row per appointment that was ever to have a meeting: what is wished (start, end, whether at all), what there is
-- at the provider, and the work between the two. `wanted` rises with every change of the wish: a step that began on an
-- older one is followed by another.
CREATE TABLE meetings (
  company_id uuid NOT NULL,
  case_id uuid NOT NULL,
  appointment_id uuid NOT NULL,
  start_at timestamptz NOT NULL,
  end_at timestamptz NOT NULL,
  wished boolean NOT NULL,
  wanted integer NOT NULL DEFAULT 1,
  -- By which a meeting is found at the provider when the answer to its making was lost.
  reference uuid NOT NULL DEFAULT gen_random_uuid(),
  -- Where it is, or where it is about to be made.
  provider text CHECK (provider IN ('jitsi', 'zoom')),
  account_id uuid,
  external_id text,
  join_url text,
  -- There may be meetings at the provider that are not written down here.
  doubtful boolean NOT NULL DEFAULT false,
  state text NOT NULL CHECK (state IN ('pending', 'ready', 'failed', 'none')),
  due_at timestamptz NOT NULL,
  lease_until timestamptz,
  lease_by uuid,
  claim_at timestamptz NOT NULL GENERATED ALWAYS AS (greatest(due_at, lease_until)) STORED,
  -- Since the wish last changed.
  attempts integer NOT NULL DEFAULT 0,
  last_error text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (company_id, case_id, appointment_id),
  FOREIGN KEY (company_id, case_id, appointment_id) REFERENCES appointments (company_id, case_id, id),
  FOREIGN KEY (company_id, account_id) REFERENCES video_accounts (company_id, id)
);
CREATE INDEX meetings_open ON meetings (company_id, claim_at) WHERE state = 'pending';

-- Wishes that were written down before meetings were made.
INSERT INTO meetings (company_id, case_id, appointment_id, start_at, end_at, wished, state, due_at, created_at, updated_at)
SELECT a.company_id, a.case_id, a.id, a.start_at, a.end_at, a.deleted_at IS NULL AND a.cancelled = 0,
       CASE WHEN a.deleted_at IS NULL AND a.cancelled = 0 AND a.end_at > now() THEN 'pending' ELSE 'none' END,
       now(), now(), now()
  FROM appointments a WHERE a.video_meeting;
