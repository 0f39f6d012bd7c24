import type { SecretBox } from '../../../kernel/secret-box.ts';
import type { MeetingKey } from './meeting-queue.sql.ts';
import {
  type Account,
  type Meeting,
  MeetingError,
  MeetingGoneError,
  type MeetingProvider,
  type ProviderMeeting,
  type ProviderName,
} from './provider.ts';

export type ReconcileServices = { providers: Record<ProviderName, MeetingProvider>; secrets: SecretBox };

/** The next step towards the desired state, with everything that it needs. */
export type ReconcileStep = {
  step: 'lookup' | 'create' | 'update' | 'remove' | 'keep' | 'expired' | 'none';
  /** The adviser has connected another account, and the meeting is being recreated there. */
  changing_account: boolean;
  /** The generation of the desired state that the step is for. */
  generation: number;
  attempt: number;
  reference: string;
  provider: ProviderName | null;
  external_id: string | null;
  join_url: string | null;
  /** An earlier attempt may have created a meeting that is not recorded. */
  uncertain: boolean;
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

/** The actual state after a step. `pending` means that another step follows. */
export type ReconcileResult = {
  state: 'ready' | 'pending' | 'none' | 'failed';
  externalId: string | null;
  joinUrl: string | null;
  uncertain: boolean;
  /** The meeting that this step created. */
  created?: ProviderMeeting;
};

/** Takes one step: at most one change at the provider, except that a lookup also removes surplus meetings. */
export async function reconcile(
  { providers, secrets }: ReconcileServices,
  step: ReconcileStep,
  key: MeetingKey,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  if (step.step === 'none') return { ...NO_MEETING, state: 'none' };
  if (step.step === 'expired') return { ...NO_MEETING, state: 'failed' };
  if (step.step === 'keep') {
    return { state: 'ready', externalId: step.external_id, joinUrl: step.join_url, uncertain: false };
  }
  if (step.provider === null) throw new Error(`The step ${step.step} of a meeting has no provider.`);
  const provider = providers[step.provider];
  const account = openAccount(step, key, secrets);
  switch (step.step) {
    case 'lookup':
      return lookup(provider, account, step, signal);
    case 'create': {
      const created = await provider.create(account, meetingOf(step), signal);
      return { ...ready(created), created };
    }
    case 'update': {
      const existing = { id: step.external_id ?? '', joinUrl: step.join_url ?? '' };
      return provider.update(account, existing, meetingOf(step), signal).then(ready, (error) => {
        // The link that clients have is dead, so the next step creates another meeting immediately.
        if (error instanceof MeetingGoneError) return NO_MEETING;
        throw error;
      });
    }
    case 'remove':
      await provider.remove(account, step.external_id ?? '', signal);
      return NO_MEETING;
  }
}

const NO_MEETING: ReconcileResult = { state: 'pending', externalId: null, joinUrl: null, uncertain: false };

const ready = ({ id, joinUrl }: ProviderMeeting): ReconcileResult => ({
  state: 'ready',
  externalId: id,
  joinUrl,
  uncertain: false,
});

/** Keeps the recorded meeting, or the first one found if none is recorded, and removes the others. */
async function lookup(
  provider: MeetingProvider,
  account: Account | undefined,
  step: ReconcileStep,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const found = await provider.find(account, step.reference, signal);
  const recorded = found.find(({ id }) => id === step.external_id);
  const kept = recorded ?? (step.external_id === null ? found[0] : undefined);
  for (const { id } of found) if (id !== (kept?.id ?? step.external_id)) await provider.remove(account, id, signal);
  if (!kept) return { ...NO_MEETING, externalId: step.external_id, joinUrl: step.join_url };
  return { ...ready(kept), state: 'pending' };
}

const meetingOf = ({ reference, company, start, end, time_zone }: ReconcileStep): Meeting => ({
  reference,
  company,
  start: Temporal.Instant.from(start),
  end: Temporal.Instant.from(end),
  timeZone: time_zone,
});

/** Returns undefined for a provider without credentials, and for an account whose secret was deleted. */
function openAccount(step: ReconcileStep, { company_id }: MeetingKey, secrets: SecretBox): Account | undefined {
  const { video_account_id, adviser_id, account_id, client_id, host, sealed_secret } = step;
  // The statement waited for the adviser's row lock, so its snapshot is older than the account's row.
  if (video_account_id !== null && adviser_id === null) {
    throw new MeetingError('The account has only just been connected.', { permanent: false });
  }
  if (adviser_id === null || account_id === null || client_id === null || host === null) return undefined;
  if (sealed_secret === null) return undefined;
  const clientSecret = secrets.open(sealed_secret, [company_id, adviser_id]);
  if (clientSecret === undefined) {
    const reason = "SECRETS_KEY has changed: the account's secret cannot be decrypted.";
    const remedy = 'Restore the old key as a second one, or connect the account again.';
    throw new MeetingError(`${reason} ${remedy}`, { permanent: false });
  }
  return { accountId: account_id, clientId: client_id, clientSecret, host };
}
