import { lockCredentials, withCredentialLock } from '../../company/credentials/credential-lock.ts';
import { expandTypes } from '../../events/event-types.ts';
import { readWatermark } from '../../events/watermark.ts';
import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import type { Context } from '../../kernel/context.ts';
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
  const pattern = search === null ? null : likePattern(search);
  const query = sql.listEndpoints({ company_id: company.id, limit, offset, pattern });
  return (await db.queryFirst<PageOfJson>(query)) ?? { json: '[]', total: 0 };
}

export async function showEndpoint({ db, company }: Context, id: string): Promise<string> {
  const record = await db.queryJson(sql.showEndpoint({ company_id: company.id, id }));
  if (record === undefined) throw notFound('webhook endpoint');
  return record;
}

export async function createEndpoint(
  context: Context,
  form: Form<CreateEndpointBody>,
  settings: WebhookSettings,
): Promise<string> {
  const { db, company, clock } = context;
  const url = parseEndpoint(context, form, settings);
  const id = newId();
  const secret = newSecret();
  const sealed = sealSecret(context, form, id, secret, settings);
  form.check();
  const { description, types } = form.body;
  const { position: watermark } = await readWatermark(db);
  const insert = sql.insertEndpoint({
    company_id: company.id,
    id,
    // `check` has rejected a form without a valid URL.
    url: url as string,
    description,
    types,
    sealed_secret: sealed,
    watermark: watermark.toString(),
    max_endpoints: MAX_ENDPOINTS,
    ...credentialInputs(context),
    now: toSql(clock()),
    origin: auditOrigin(context),
  });
  const record = await withCredentialLock(context, (locked) => locked.db.queryJson(insert));
  if (record === undefined) throw tooManyEndpoints();
  return withSecret(record, secret);
}

const credentialInputs = ({ credential }: Context) => ({
  credential_type: credential?.type,
  credential_id: credential?.id,
  credential_name: credential?.name,
});

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
  const { db, company, clock } = context;
  const { description, types, state } = form.body;
  const url = parseEndpoint(context, form, settings);
  const update = sql.updateEndpoint({
    company_id: company.id,
    id,
    url,
    description,
    set_description: form.has('description'),
    types,
    state,
    max_type_changes: MAX_TYPE_CHANGES,
    ...credentialInputs(context),
    now: toSql(clock()),
    origin: auditOrigin(context),
  });
  const record = await retryOnConflict(
    async () => form.ok && withCredentialLock(context, (locked) => locked.db.queryJson(update)),
    async () => {
      await showEndpoint(context, id);
      form.check();
      const limit = types && { company_id: company.id, id, types, max_type_changes: MAX_TYPE_CHANGES };
      if (limit && (await db.queryFirst(sql.hasTooManyTypeChanges(limit)))) {
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
  const change = { company_id: company.id, id, now: toSql(clock()), origin: auditOrigin(context) };
  const record = await retryOnConflict(
    () => withCredentialLock(context, (locked) => locked.db.queryJson(sql.resumeEndpoint(change))),
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
  const rotate = sql.rotateSecret({
    company_id: company.id,
    id,
    sealed_secret: sealed,
    previous_secret_until: toSql(now.add({ hours: Number(hours) })),
    now: toSql(now),
    origin: auditOrigin(context),
  });
  const record = await retryOnConflict(
    async () => form.ok && withCredentialLock(context, (locked) => locked.db.queryJson(rotate)),
    async () => {
      await showEndpoint(context, id);
      form.check();
    },
  );
  return withSecret(record, secret);
}

export async function removeEndpoint(context: Context, id: string): Promise<string> {
  const { db, company, clock } = context;
  const change = { company_id: company.id, id, now: toSql(clock()), origin: auditOrigin(context) };
  const record = await retryOnConflict(
    () => withCredentialLock(context, (locked) => locked.db.queryJson(sql.removeEndpoint(change))),
    async () => {
      await showEndpoint(context, id);
    },
  );
  notifyWorkers(db);
  return record;
}

/** Counts the failing endpoints of all companies, for the doctor. */
export async function countFailingEndpoints({ db }: { db: Executor }): Promise<number> {
  return (await db.queryFirst<{ count: number }>(sql.countFailingEndpoints({})))?.count ?? 0;
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

/** Without SECRETS_KEY the form gets a fault, so the empty text that is returned is never stored. */
function sealSecret<T>(
  { company }: Context,
  form: Form<T>,
  id: string,
  secret: string,
  { secrets }: WebhookSettings,
): string {
  if (secrets) return secrets.seal(secret, secretOwner(company.id, id));
  form.addFault('secret', 'invalid_state', 'cannot be stored: the setting SECRETS_KEY is not set');
  return '';
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
