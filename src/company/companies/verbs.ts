import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import { InvalidValue, notFound } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { type DecimalInput, parseInteger } from '../../kernel/money.ts';
import { assertRecentSignIn } from '../../kernel/recent-sign-in.ts';
import { toSql } from '../../kernel/time/time.ts';
import { requireEmail } from '../../kernel/validation/email.ts';
import type { Form } from '../../kernel/validation/form.ts';
import type { ListRequest, PageOfJson } from '../../kernel/validation/paging.ts';
import { isPhoneRegion } from '../../kernel/validation/phone.ts';
import { assertPrintable, assertSingleLine, assertVisible } from '../../kernel/validation/single-line.ts';
import type { AdminContext } from '../admin-context.ts';
import { readListPage } from '../list.ts';
import type { CompanyBody } from './schema.ts';
import * as sql from './statements.sql.ts';

const DEFAULTS: Record<string, unknown> = {
  time_zone: 'Europe/London',
  phone_region: 'GB',
  terms: '',
  payment_terms: '30 days',
  reminder_lead_days: 1,
  sender_name: null,
  sender_address: null,
  contact_email: null,
  client_contact_email: null,
  client_contact_phone: null,
  contact_line: null,
  message_signature: null,
  session_idle_minutes: 30,
  session_hours: 12,
  legal_name: null,
  address: null,
  company_number: null,
  tax_number: null,
  currency: null,
};

const SESSION_SETTINGS = ['session_idle_minutes', 'session_hours'] as const;

export async function createCompany(context: AdminContext, form: Form<CompanyBody>): Promise<string> {
  const { db, clock } = context;
  const settings = { ...DEFAULTS, ...readSettings(form) };
  const insert = () =>
    db.queryJson(
      sql.insertCompany({
        company_id: newId(),
        settings: JSON.stringify(settings),
        now: toSql(clock()),
        origin: auditOrigin(context),
      }),
    );
  const record = form.ok && (await insert().catch(rethrowUnlessUnknownZone));
  return record || explainRejection(context, null, form);
}

export async function updateCompany(context: AdminContext, id: string, form: Form<CompanyBody>): Promise<string> {
  const { db, clock } = context;
  // With a stolen session, the sessions of everybody could be made to last longer.
  if (SESSION_SETTINGS.some((name) => form.body[name] !== undefined)) assertRecentSignIn(context.session, clock);
  const settings = readSettings(form);
  const update = () =>
    db.queryJson(
      sql.updateCompany({
        company_id: id,
        settings: JSON.stringify(settings),
        now: toSql(clock()),
        origin: auditOrigin(context),
      }),
    );
  const record = form.ok && (await update().catch(rethrowUnlessUnknownZone));
  return record || explainRejection(context, id, form);
}

export async function showCompany({ db }: Pick<AdminContext, 'db'>, id: string): Promise<string> {
  const record = await db.queryJson(sql.showCompany({ company_id: id }));
  if (record === undefined) throw notFound('company');
  return record;
}

export async function listCompanies({ db }: Pick<AdminContext, 'db'>, request: ListRequest): Promise<PageOfJson> {
  return readListPage(db, sql.listCompanies, {}, request);
}

export async function hasCompanies({ db }: Pick<AdminContext, 'db'>): Promise<boolean> {
  return (await db.queryFirst(sql.findAnyCompany({}))) !== undefined;
}

/** Returns the sent settings as column values; null is replaced by the default. */
function readSettings(form: Form<CompanyBody>): Record<string, unknown> {
  const { body } = form;
  const settings: Record<string, unknown> = {};
  for (const name of sql.SETTINGS) if (body[name] !== undefined) settings[name] = body[name] ?? DEFAULTS[name];
  const zone = form.read('time_zone', body.time_zone, parseZone);
  if (zone) settings.time_zone = zone;
  for (const [name, [min, max]] of Object.entries(WHOLE_NUMBERS) as [keyof typeof WHOLE_NUMBERS, [bigint, bigint]][]) {
    const number = form.read(name, body[name], (value) => parseBetween(value, min, max));
    if (number) settings[name] = number;
  }
  form.read('name', body.name, assertVisible);
  form.read('phone_region', body.phone_region, assertRegion);
  form.read('sender_name', body.sender_name, assertSingleLine);
  form.read('sender_address', body.sender_address, requireEmail);
  form.read('contact_email', body.contact_email, requireEmail);
  form.read('client_contact_email', body.client_contact_email, requireEmail);
  form.read('client_contact_phone', body.client_contact_phone, assertShownPhone);
  form.read('contact_line', body.contact_line, assertSingleLine);
  form.read('message_signature', body.message_signature, assertPrintable);
  form.read('legal_name', body.legal_name, assertVisible);
  form.read('address', body.address, assertPrintable);
  form.read('company_number', body.company_number, assertVisible);
  form.read('tax_number', body.tax_number, assertVisible);
  form.read('currency', body.currency, assertCurrency);
  return settings;
}

// PostgreSQL reads "CET" as a fixed offset and inverts the sign of "+01:00". Names with an area mean the same to
// PostgreSQL and to Temporal.
const ZONE_PATTERN = /^(UTC|[A-Za-z]+(\/[\w+-]+)+)$/;

/** Returns the zone in the spelling of the zone database; letter case does not matter in the request. */
function parseZone(name: string): string {
  try {
    if (ZONE_PATTERN.test(name)) return Temporal.Now.zonedDateTimeISO(name).timeZoneId;
  } catch {
    // An unknown zone: reported below.
  }
  throw new InvalidValue(...UNKNOWN_ZONE);
}

const UNKNOWN_ZONE = ['unknown', 'must be a time zone such as Europe/London'] as const;

const WHOLE_NUMBERS = {
  reminder_lead_days: [1n, 30n],
  session_idle_minutes: [5n, 120n],
  session_hours: [1n, 24n],
} as const;

function parseBetween(number: DecimalInput, min: bigint, max: bigint): string {
  const { units } = parseInteger(number);
  if (units < min || units > max) throw new InvalidValue('out_of_range', `must lie between ${min} and ${max}`);
  return units.toString();
}

/** Clients see the number as it is written, so it may have a remark such as an extension. */
function assertShownPhone(text: string): void {
  assertSingleLine(text);
  if (text.replace(/\D/g, '').length < 3) throw new InvalidValue('format', 'must have at least three digits');
}

function assertRegion(region: string): void {
  if (!isPhoneRegion(region)) throw new InvalidValue('unknown', 'must be a region such as GB');
}

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

function assertCurrency(code: string): void {
  if (!CURRENCIES.has(code)) throw new InvalidValue('unknown', 'must be a currency such as GBP');
}

/** PostgreSQL may not know a zone that Temporal knows; `explainRejection` reports it. */
function rethrowUnlessUnknownZone(error: unknown): undefined {
  if ((error as { code?: string }).code !== '22023') throw error;
}

/** Throws the reason why no company was written. */
async function explainRejection({ db }: AdminContext, id: string | null, form: Form<CompanyBody>): Promise<never> {
  const zone = form.hasFault('time_zone') ? null : (form.body.time_zone && parseZone(form.body.time_zone)) || null;
  const rejection = await db.queryFirst<{ found: boolean; zone_known: boolean }>(
    sql.explainRejection({ company_id: id, time_zone: zone }),
  );
  if (!rejection?.found) throw notFound('company');
  if (!rejection.zone_known) form.addFault('time_zone', ...UNKNOWN_ZONE);
  form.check();
  throw new Error('The company was not written, and no reason was found.');
}
