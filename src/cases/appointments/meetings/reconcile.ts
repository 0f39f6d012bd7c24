import type { JobKey } from '../../../kernel/jobs/job-queue.ts';
import type { SecretBox } from '../../../kernel/secret-box.ts';
import {
  type Account,
  type Made,
  type Meeting,
  MeetingFault,
  MeetingGone,
  type MeetingProvider,
  type ProviderName,
} from './provider.ts';

export type MeetingSteps = { providers: Record<ProviderName, MeetingProvider>; secrets: SecretBox };

/** What a step is to do, with everything that it needs to know. */
export type StepRow = {
  step: 'look' | 'create' | 'update' | 'remove' | 'keep' | 'late' | 'nothing';
  /** The adviser has another account by now, and the meeting goes there. */
  moving: boolean;
  wanted: number;
  attempt: number;
  reference: string;
  provider: ProviderName | null;
  external_id: string | null;
  join_url: string | null;
  doubtful: boolean;
  last_error: string | null;
  start: string;
  end: string;
  deadline: string;
  company: string;
  time_zone: string;
  video_account_id: string | null;
  adviser_id: string | null;
  account_id: string | null;
  client_id: string | null;
  host: string | null;
  sealed_secret: string | null;
};

/** What there is after a step. `pending`: another step says what comes next. */
export type Done = {
  state: 'ready' | 'pending' | 'none' | 'failed';
  externalId: string | null;
  joinUrl: string | null;
  doubtful: boolean;
  /** Only of a step that has just made it. */
  made?: Made;
};

/** One step: at most one change at the provider, but for what a look finds superfluous. */
export async function takeStep(
  { providers, secrets }: MeetingSteps,
  row: StepRow,
  key: JobKey,
  signal: AbortSignal,
): Promise<Done> {
  const there = { externalId: row.external_id, joinUrl: row.join_url, doubtful: false };
  if (row.step === 'nothing') return { ...NOTHING, state: 'none' };
  if (row.step === 'late') return { ...NOTHING, state: 'failed' };
  if (row.step === 'keep') return { ...there, state: 'ready' };
  if (row.provider === null) throw new Error('A step of a meeting has no provider.');
  const provider = providers[row.provider];
  const account = accountOf(row, key, secrets);
  switch (row.step) {
    case 'look':
      return look(provider, account, row, signal);
    case 'create': {
      const made = await provider.create(account, meetingOf(row), signal);
      return { ...ready(made), made };
    }
    case 'update': {
      const made = { id: row.external_id ?? '', joinUrl: row.join_url ?? '' };
      return provider.update(account, made, meetingOf(row), signal).then(ready, (error) => {
        // The link that was sent is dead; another is made at once.
        if (error instanceof MeetingGone) return NOTHING;
        throw error;
      });
    }
    case 'remove':
      await provider.remove(account, row.external_id ?? '', signal);
      return NOTHING;
  }
}

const NOTHING: Done = { state: 'pending', externalId: null, joinUrl: null, doubtful: false };

const ready = ({ id, joinUrl }: Made): Done => ({ state: 'ready', externalId: id, joinUrl, doubtful: false });

/** Keeps the one that is written down, or else the first that is found; the others are nobody's. */
async function look(
  provider: MeetingProvider,
  account: Account | undefined,
  row: StepRow,
  signal: AbortSignal,
): Promise<Done> {
  const found = await provider.find(account, row.reference, signal);
  const kept = found.find(({ id }) => id === row.external_id) ?? (row.external_id === null ? found[0] : undefined);
  for (const { id } of found) if (id !== (kept?.id ?? row.external_id)) await provider.remove(account, id, signal);
  if (!kept) return { ...NOTHING, externalId: row.external_id, joinUrl: row.join_url };
  return { ...ready(kept), state: 'pending' };
}

const meetingOf = ({ reference, company, start, end, time_zone }: StepRow): Meeting => ({
  reference,
  company,
  start: Temporal.Instant.from(start),
  end: Temporal.Instant.from(end),
  timeZone: time_zone,
});

/** Undefined for a provider without credentials, and for an account whose secret has been forgotten. */
function accountOf(row: StepRow, { company_id }: JobKey, secrets: SecretBox): Account | undefined {
  const { video_account_id, adviser_id, account_id, client_id, host, sealed_secret } = row;
  // Its row is younger than the step, which had to wait for the adviser's.
  if (video_account_id !== null && adviser_id === null) {
    throw new MeetingFault('The account has only just been connected.', { permanent: false });
  }
  if (adviser_id === null || account_id === null || client_id === null || host === null) return undefined;
  if (sealed_secret === null) return undefined;
  const clientSecret = secrets.open(sealed_secret, [company_id, adviser_id]);
  if (clientSecret === undefined) {
    throw new MeetingFault("The account's secret cannot be opened with SECRETS_KEY.", { permanent: false });
  }
  return { accountId: account_id, clientId: client_id, clientSecret, host };
}
