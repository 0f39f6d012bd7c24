import { lockCredentials, withCredentialLock } from '../../company/credentials/credential-lock.ts';
import { expandTypes } from '../../events/event-types.ts';
import { readWatermark } from '../../events/watermark.ts';
import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import type { Context } from '../../kernel/context.ts';
import { credentialValues } from '../../kernel/credential-columns.ts';
import type { Executor } from '../../kernel/database/database.ts';
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

/** Every write to an endpoint takes this lock first, so that the limit of endpoints and the credential's state hold. */
export const lockCompanyEndpoints = lockCredentials;

/** Settings of the service that the verbs depend on. */
export type WebhookSettings = {
  /** Undefined if SECRETS_KEY is not set. */
  secrets: SecretBox | undefined;
  /** Whether an endpoint may have a private address and plain http. */
  allowPrivateAddresses: boolean;
  /** Every type of event that exists. */
  eventTypes: readonly string[];
};

const MAX_ENDPOINTS = 50;
// While an endpoint is disabled, each change of its types is stored until the events before it have been queued.
const MAX_TYPE_CHANGES = 100;
const DEFAULT_OVERLAP_HOURS = 24n;
const MAX_OVERLAP_HOURS = 168n;

export async function listEndpoints({ db, company }: Context, list: ListRequest): Promise<PageOfJson> {
  const { limit, offset, search } = list;
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
  const { position: watermark } = await readWatermark(db);
  const values = [company.id, id, url, description, types, sealed, toSql(clock()), auditOrigin(context)];
  const all = [...values, watermark.toString(), MAX_ENDPOINTS, ...credentialValues(credential)];
  const record = await withCredentialLock(context, (locked) => locked.db.queryJson(sql.insertEndpoint, all));
  if (record === undefined) throw tooManyEndpoints();
  return withSecret(record, secret);
}

const tooManyEndpoints = () =>
  invalidRequest([
    {
      field: 'url',
      code: 'too_many',
      message: `a company can have at most ${MAX_ENDPOINTS} endpoints; remove one first`,
    },
  ]);

/** Fields that are not sent stay as they are. */
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
    async () => form.ok && withCredentialLock(context, (locked) => locked.db.queryJson(sql.updateEndpoint, all)),
    async () => {
      await showEndpoint(context, id);
      form.check();
      if (types && (await db.queryFirst(sql.hasTooManyTypeChanges, [company.id, id, types, MAX_TYPE_CHANGES]))) {
        throw invalidState(
          'types',
          `have been changed ${MAX_TYPE_CHANGES} times since events were last queued; resume the endpoint first`,
        );
      }
    },
  );
  if (state === 'active') notifyWorkers(db);
  return record;
}

/** All waiting events are then sent, each record's in order. */
export async function resumeEndpoint(context: Context, id: string): Promise<string> {
  const { db, company, clock } = context;
  await assertMayReadEvents(context, id);
  const values = [company.id, id, toSql(clock()), auditOrigin(context)];
  const record = await retryOnConflict(
    () => withCredentialLock(context, (locked) => locked.db.queryJson(sql.resumeEndpoint, values)),
    async () => {
      const { state } = JSON.parse(await showEndpoint(context, id));
      if (state === 'active') throw invalidState('state', 'the endpoint is already active');
    },
  );
  notifyWorkers(db);
  return record;
}

/** Deliveries are signed with the new secret, and until the overlap ends also with the old one. */
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
    async () => form.ok && withCredentialLock(context, (locked) => locked.db.queryJson(sql.rotateSecret, values)),
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
    () => withCredentialLock(context, (locked) => locked.db.queryJson(sql.removeEndpoint, values)),
    async () => {
      await showEndpoint(context, id);
    },
  );
  notifyWorkers(db);
  return record;
}

/** Counts the failing endpoints of all companies, for the doctor. */
export async function countFailingEndpoints({ db }: { db: Executor }): Promise<number> {
  return (await db.queryFirst<{ count: number }>(sql.countFailingEndpoints, []))?.count ?? 0;
}

const NOT_ALLOWED = {
  field: 'scopes',
  code: 'not_allowed',
  message: 'must include events:read, because the endpoint receives events',
} as const;

/** An endpoint receives events, so the caller must be allowed to read them. An unknown endpoint is reported first. */
export async function assertMayReadEvents(context: Context, id: string): Promise<void> {
  const { scopes } = context;
  if (!scopes || scopes.has('events:read')) return;
  await showEndpoint(context, id);
  throw invalidRequest([NOT_ALLOWED]);
}

/** Returns the URL as it is stored. */
function parseEndpoint(
  { scopes }: Context,
  form: Form<EndpointBody>,
  { allowPrivateAddresses, eventTypes }: WebhookSettings,
): string | undefined {
  const { types } = form.body;
  if (scopes && !scopes.has('events:read')) {
    form.addFault(NOT_ALLOWED.field, NOT_ALLOWED.code, NOT_ALLOWED.message);
  }
  if (types?.length === 0) form.addFault('types', 'too_short', 'must name at least one type');
  for (const [i, name] of (form.hasFault('types') ? [] : (types ?? [])).entries()) {
    form.read(`types[${i}]`, name, () => expandTypes(eventTypes, [name]));
  }
  return form.read('url', form.body.url, (text) => parseEndpointUrl(text, allowPrivateAddresses));
}

function sealSecret<T>(
  { company }: Context,
  form: Form<T>,
  id: string,
  secret: string,
  { secrets }: WebhookSettings,
): string | undefined {
  if (!secrets) form.addFault('secret', 'invalid_state', 'cannot be stored: the setting SECRETS_KEY is not set');
  return secrets?.seal(secret, secretOwner(company.id, id));
}

/** The secret is added here and not in the statement, so that it reaches neither the database nor its logs. */
const withSecret = (record: string, secret: string): string => `${record.slice(0, -1)}, "secret" : "${secret}"}`;

function parseOverlap(hours: DecimalInput): bigint {
  const { units } = parseInteger(hours);
  if (units < 0n || units > MAX_OVERLAP_HOURS) {
    throw new InvalidValue('out_of_range', `must be between 0 and ${MAX_OVERLAP_HOURS}`);
  }
  return units;
}
