import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { Context } from '../../../kernel/context.ts';
import { assertBelowLimit } from '../../../kernel/database/row-limit.ts';
import { invalidState, notFound, SignInFailedError } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import { toSql } from '../../../kernel/time/time.ts';
import type { Form } from '../../../kernel/validation/form.ts';
import { assertVisible } from '../../../kernel/validation/single-line.ts';
import { changeFactors, changeOf, type FactorRequest, findFactors } from '../factors/verbs.ts';
import { secretHash } from '../secrets.ts';
import { ownKeys } from '../sessions/verbs.ts';
import { beginSession, type SignedIn, type SignInContext } from '../sign-in/verbs.ts';
import type { ChallengePurpose, Challenges } from './challenges.ts';
import type { AddPasskeyBody, PasskeySignInBody } from './schema.ts';
import * as sql from './statements.sql.ts';

/** The site that passkeys are bound to. */
export type PasskeySite = { origin: string; rpId: string };

const TIMEOUT_MS = 5 * 60_000;
/** EdDSA, ES256 and RS256 of COSE. */
const ALGORITHMS = [-8, -7, -257];
// Loading it takes 30 MB, which a process without passkeys saves.
const library = () => import('@simplewebauthn/server');

/** The options for a sign-in: the authenticator offers the passkeys that it has, so nobody types an address. */
export async function signInOptions(challenges: Challenges, { rpId }: PasskeySite): Promise<string> {
  const challenge = await challenges.create('sign-in');
  const options = { challenge, rpId, timeout: TIMEOUT_MS, userVerification: 'required', allowCredentials: [] };
  return JSON.stringify({ options });
}

type PasskeyRow = {
  company_id: string;
  user_id: string;
  id: string;
  public_key: Buffer;
  counter: number;
  transports: string[];
};

const failed = () => new SignInFailedError('The passkey was not accepted.');

/** A passkey is enough: the device checks a finger, a face or a PIN, and the browser checks the origin. */
export async function signInWithPasskey(
  context: SignInContext,
  form: Form<PasskeySignInBody>,
  challenges: Challenges,
  site: PasskeySite,
): Promise<SignedIn> {
  form.check();
  const response = form.body.response as unknown as AuthenticationResponseJSON;
  const challenge = await validChallenge(challenges, response, 'sign-in');
  const passkey = await context.db.queryFirst<PasskeyRow>(sql.findPasskey({ credential_id: bytesOf(response.id) }));
  if (!challenge || !passkey || !namesUser(response, passkey.user_id)) throw failed();
  const { verifyAuthenticationResponse } = await library();
  const verified = await verifyAuthenticationResponse({
    response,
    expectedChallenge: challenge.text,
    expectedOrigin: site.origin,
    expectedRPID: site.rpId,
    requireUserVerification: true,
    credential: { id: response.id, publicKey: new Uint8Array(passkey.public_key), counter: passkey.counter },
  }).catch(() => undefined);
  if (!verified?.verified) throw failed();
  const { newCounter, credentialBackedUp } = verified.authenticationInfo;
  const { company_id, user_id, id } = passkey;
  const use = { ...challenge.use(context), company_id, id, counter: newCounter, backed_up: credentialBackedUp };
  const started = await beginSession(
    context,
    { company_id, user_id },
    'passkey',
    async ({ db }) => (await db.queryRows(sql.usePasskey(use))).length > 0,
  );
  if (!started) throw failed();
  return { company_id, user_id, started };
}

/** The options for another passkey of the signed-in user. */
export async function registrationOptions(context: Context, challenges: Challenges, { rpId }: PasskeySite) {
  const { company_id, user_id } = ownKeys(context);
  const { email, name } = await findFactors(context);
  const known = await context.db.queryRows<{ credential_id: Buffer }>(sql.listCredentialIds({ company_id, user_id }));
  const options = {
    challenge: await challenges.create(`register ${user_id}`),
    rp: { id: rpId, name: 'Case Records' },
    user: { id: handleOf(user_id).toString('base64url'), name: email, displayName: name },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    timeout: TIMEOUT_MS,
    attestation: 'none',
    excludeCredentials: known.map(({ credential_id }) => ({
      type: 'public-key',
      id: credential_id.toString('base64url'),
    })),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
  };
  return JSON.stringify({ options });
}

export async function addPasskey(
  context: Context,
  form: Form<AddPasskeyBody>,
  challenges: Challenges,
  { site, request }: { site: PasskeySite; request: FactorRequest },
) {
  form.read('name', form.body.name, assertVisible);
  const { company_id, user_id } = ownKeys(context);
  const response = form.body.response as unknown as RegistrationResponseJSON;
  const challenge = form.ok ? await validChallenge(challenges, response, `register ${user_id}`) : undefined;
  const registered = challenge && (await verifyRegistration(response, challenge.text, site));
  if (form.ok && !registered)
    form.addFault('response', 'not_allowed', 'is not the answer to the options, or is too old');
  form.check();
  if (!challenge || !registered) throw new Error('The form has a fault that was not reported.');
  const { credential, credentialBackedUp } = registered;
  await assertBelowLimit(context.db, sql.passkeyLimit, { company_id, user_id });
  return changeFactors(context, request, 'passkey', async (locked) => {
    const [used] = await locked.db.queryRows(sql.rememberChallenge(challenge.use(context)));
    if (!used) throw invalidState('response', 'was sent before');
    const [added] = await locked.db.queryRows(
      sql.insertPasskey({
        ...changeOf(locked),
        id: newId(),
        name: form.body.name,
        credential_id: bytesOf(credential.id),
        public_key: Buffer.from(credential.publicKey),
        counter: credential.counter,
        transports: transportsOf(credential.transports),
        backed_up: credentialBackedUp,
      }),
    );
    if (!added) throw invalidState('response', 'this passkey is registered already');
    return undefined;
  });
}

/** The library passes on what the browser has sent, whatever its type. */
const transportsOf = (sent: unknown): string[] =>
  (Array.isArray(sent) ? sent : [])
    .filter((word): word is string => typeof word === 'string' && /^[a-z-]{1,20}$/.test(word))
    .slice(0, 10);

async function verifyRegistration(response: RegistrationResponseJSON, challenge: string, site: PasskeySite) {
  const { verifyRegistrationResponse } = await library();
  const verified = await verifyRegistrationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: site.origin,
    expectedRPID: site.rpId,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch(() => undefined);
  const registered = verified?.verified ? verified.registrationInfo : undefined;
  if (!registered) return undefined;
  const { length } = bytesOf(registered.credential.id);
  return length >= MIN_ID_BYTES && length <= MAX_ID_BYTES ? registered : undefined;
}

export const removePasskey = (context: Context, id: string, request: FactorRequest) =>
  changeFactors(context, request, 'passkey', async (locked) => {
    const [removed] = await locked.db.queryRows(sql.removePasskey({ ...changeOf(locked), id }));
    if (!removed) throw notFound('passkey');
    const { passkeys, has_password } = await findFactors(locked);
    if (passkeys > 0 || has_password) return undefined;
    throw invalidState('passkeys', 'the last one cannot be removed: nothing would be left to sign in with');
  });

/** WebAuthn's name of a user. It says nothing about the person. */
const handleOf = (userId: string): Buffer => Buffer.from(userId.replaceAll('-', ''), 'hex');

/** An authenticator names the user to whom it thinks that the passkey belongs. */
function namesUser({ response }: AuthenticationResponseJSON, userId: string): boolean {
  const handle = response?.userHandle;
  return handle === undefined || handle === null || bytesOf(handle).equals(handleOf(userId));
}

/** The lengths of the name of a credential that WebAuthn allows. */
const MIN_ID_BYTES = 16;
const MAX_ID_BYTES = 1_023;
const MAX_ID_LENGTH = 1_400;
const bytesOf = (text: unknown): Buffer =>
  typeof text === 'string' && text.length <= MAX_ID_LENGTH ? Buffer.from(text, 'base64url') : Buffer.alloc(0);

/** Returns the challenge that the response answers; undefined if the service did not make it for this purpose. */
async function validChallenge(
  challenges: Challenges,
  { response }: { response?: { clientDataJSON?: unknown } },
  purpose: ChallengePurpose,
) {
  let text: unknown;
  try {
    text = JSON.parse(Buffer.from(String(response?.clientDataJSON), 'base64url').toString()).challenge;
  } catch {
    return undefined;
  }
  const expiry = typeof text === 'string' ? await challenges.expiryOf(text, purpose) : undefined;
  if (typeof text !== 'string' || !expiry) return undefined;
  const use = ({ clock }: Pick<Context, 'clock'>) => ({
    challenge_sha256: secretHash(text),
    expires_at: toSql(expiry),
    now: toSql(clock()),
  });
  return { text, use };
}

/** Throws if browsers create no passkeys for this address. */
export function requirePasskeySite(canHavePasskeys: boolean): void {
  if (canHavePasskeys) return;
  throw invalidState('body', 'passkeys need a name instead of an IP address: use localhost, or set PUBLIC_URL');
}
