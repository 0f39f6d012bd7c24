import { lockCredentials, withCredentialLock } from '../../company/credentials/credential-lock.ts';
import { expandTypes } from '../../events/event-types.ts';
import { readWatermark } from '../../events/watermark.ts';
import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import type { Context } from '../../kernel/context.ts';
import { credentialValues } from '../../kernel/credential-columns.ts';
import { retryOnConflict } from '../../kernel/database/optimistic-retry.ts';
import { InvalidValue, invalidRequest, invalidState, notFound } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { notifyWorkers } from '../../kernel/jobs/notify-workers.ts';
import { type DecimalInput, parseInteger } from '../../kernel/money.ts';
import type { SecretBox } from '../../kernel/secret-box.ts';
import { toSql } from '../../kernel/time/time.ts';
import type { Form } from '../../kernel/validation/form.ts';
import { type ListRequest, likePattern, type PageOfJson } from '../../kernel/validation/paging.ts';
import { parseEndpointUrl } from './endpoint-url.ts';
import type { CreateEndpointBody, EndpointBody, RotateBody } from './schema.ts';
import { newSecret, secretOwner } from './secrets.ts';
import * as sql from './statements.sql.ts';

/** The lock that writes to an endpoint take first. */
export const lockCompanyEndpoints = lockCredentials;

/** What the verbs must know of the service. */
export type WebhookSettings = {
  /** Undefined where the service has no key to keep secrets with. */
  secrets: SecretBox | undefined;
  /** Whether endpoints may be at private addresses and speak plain http. */
  allowPrivateAddresses: boolean;
  /** Every type of event that there is. */
  eventTypes: readonly string[];
};

const MAX_ENDPOINTS = 50;
// While nothing is queued for it, as while it is disabled, each of them is kept.
const MAX_TYPE_CHANGES = 100;
const DEFAULT_OVERLAP_HOURS = 24n;
const MAX_OVERLAP_HOURS = 168n;

export async function listEndpoints({ db, company }: Context, listing: ListRequest): Promise<PageOfJson> {
  const { limit, offset, search } = listing;
  const values = [company.id, limit, offset, search === null ? null : likePattern(search)];
  return (await db.queryFirst<PageOfJson>(sql.listEndpoints, values)) ?? { json: '[]', total: 0 };
}

export async function showEndpoint({ db, company }: Context, id: string): Promise<string> {
  const record = await db.queryJson(sql.showEndpoint, [company.id, id]);
  if (record === undefined) throw notFound('webhook endpoint');
  return record;
}

export async function createEndpoint(
  context: Context,
  form: Form<CreateEndpointBody>,
  settings: WebhookSettings,
): Promise<string> {
  const { db, company, clock, credential } = context;
  const url = parseEndpoint(context, form, settings);
  const id = newId();
  const secret = newSecret();
  const sealed = sealSecret(context, form, id, secret, settings);
  form.check();
  const { description = null, types } = form.body;
  const { position: settled } = await readWatermark(db);
  const values = [company.id, id, url, description, types, sealed, toSql(clock()), auditOrigin(context)];
  const all = [...values, settled.toString(), MAX_ENDPOINTS, ...credentialValues(credential)];
  const record = await withCredentialLock(context, (held) => held.db.queryJson(sql.insertEndpoint, all));
  if (record === undefined) throw tooManyEndpoints();
  return withSecret(record, secret);
}

const tooManyEndpoints = () =>
  invalidRequest([{ field: 'url', code: 'too_many', message: `a company has at most ${MAX_ENDPOINTS} endpoints` }]);

/** What is not sent stays. */
export async function updateEndpoint(
  context: Context,
  id: string,
  form: Form<EndpointBody>,
  settings: WebhookSettings,
): Promise<string> {
  const { db, company, clock, credential } = context;
  const { description = null, types = null, state = null } = form.body;
  const url = parseEndpoint(context, form, settings) ?? null;
  const now = toSql(clock());
  const values = [company.id, id, now, auditOrigin(context), url, description, types, state];
  const all = [...values, form.has('description'), MAX_TYPE_CHANGES, ...credentialValues(credential)];
  const record = await retryOnConflict(
    async () => form.ok && withCredentialLock(context, (held) => held.db.queryJson(sql.updateEndpoint, all)),
    async () => {
      await showEndpoint(context, id);
      form.check();
      if (types && (await db.queryFirst(sql.hasTooManyTypeChanges, [company.id, id, types, MAX_TYPE_CHANGES]))) {
        throw invalidState('types', `have been changed ${MAX_TYPE_CHANGES} times since events were last queued`);
      }
    },
  );
  if (state === 'active') notifyWorkers(db);
  return record;
}

/** Everything that has waited is sent, in its order. */
export async function resumeEndpoint(context: Context, id: string): Promise<string> {
  const { db, company, clock } = context;
  await assertMayReadEvents(context, id);
  const values = [company.id, id, toSql(clock()), auditOrigin(context)];
  const record = await retryOnConflict(
    () => withCredentialLock(context, (held) => held.db.queryJson(sql.resumeEndpoint, values)),
    async () => {
      const { state } = JSON.parse(await showEndpoint(context, id));
      if (state === 'active') throw invalidState('state', 'the endpoint is active');
    },
  );
  notifyWorkers(db);
  return record;
}

/** The new secret signs from now on, the old one beside it for a while. */
export async function rotateSecret(
  context: Context,
  id: string,
  form: Form<RotateBody>,
  settings: WebhookSettings,
): Promise<string> {
  const { company, clock } = context;
  await assertMayReadEvents(context, id);
  const hours = form.read('overlap_hours', form.body.overlap_hours, parseOverlap) ?? DEFAULT_OVERLAP_HOURS;
  const secret = newSecret();
  const sealed = sealSecret(context, form, id, secret, settings);
  const now = clock();
  const values = [company.id, id, toSql(now), auditOrigin(context), sealed, toSql(now.add({ hours: Number(hours) }))];
  const record = await retryOnConflict(
    async () => form.ok && withCredentialLock(context, (held) => held.db.queryJson(sql.rotateSecret, values)),
    async () => {
      await showEndpoint(context, id);
      form.check();
    },
  );
  return withSecret(record, secret);
}

export async function removeEndpoint(context: Context, id: string): Promise<string> {
  const { db, company, clock } = context;
  const values = [company.id, id, toSql(clock()), auditOrigin(context)];
  const record = await retryOnConflict(
    () => withCredentialLock(context, (held) => held.db.queryJson(sql.removeEndpoint, values)),
    async () => {
      await showEndpoint(context, id);
    },
  );
  notifyWorkers(db);
  return record;
}

const NOT_ALLOWED = {
  field: 'scopes',
  code: 'not_allowed',
  message: 'only a token with events:read can have events sent',
} as const;

/** Whoever has events sent somewhere could as well read them. That there is no such endpoint comes first. */
export async function assertMayReadEvents(context: Context, id: string): Promise<void> {
  const { scopes } = context;
  if (!scopes || scopes.has('events:read')) return;
  await showEndpoint(context, id);
  throw invalidRequest([NOT_ALLOWED]);
}

/** Gives the address as it is kept. */
function parseEndpoint(
  { scopes }: Context,
  form: Form<EndpointBody>,
  { allowPrivateAddresses: privateAddresses, eventTypes: known }: WebhookSettings,
): string | undefined {
  const { types } = form.body;
  if (scopes && !scopes.has('events:read')) {
    form.addFault(NOT_ALLOWED.field, NOT_ALLOWED.code, NOT_ALLOWED.message);
  }
  if (types?.length === 0) form.addFault('types', 'too_short', 'must name at least one type');
  for (const [i, name] of (form.hasFault('types') ? [] : (types ?? [])).entries()) {
    form.read(`types[${i}]`, name, () => expandTypes(known, [name]));
  }
  return form.read('url', form.body.url, (text) => parseEndpointUrl(text, privateAddresses));
}

function sealSecret<T>(
  { company }: Context,
  form: Form<T>,
  id: string,
  secret: string,
  { secrets }: WebhookSettings,
): string | undefined {
  if (!secrets) form.addFault('secret', 'invalid_state', 'cannot be kept: the setting SECRETS_KEY is not set');
  return secrets?.seal(secret, secretOwner(company.id, id));
}

/** Adds the secret here rather than in the statement: the database, and whatever it logs, never sees it. */
const withSecret = (record: string, secret: string): string => `${record.slice(0, -1)}, "secret" : "${secret}"}`;

function parseOverlap(hours: DecimalInput): bigint {
  const { units } = parseInteger(hours);
  if (units < 0n || units > MAX_OVERLAP_HOURS) {
    throw new InvalidValue('out_of_range', `must lie between 0 and ${MAX_OVERLAP_HOURS}`);
  }
  return units;
}
