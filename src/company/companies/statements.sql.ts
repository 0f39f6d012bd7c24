import { imageAuditLog } from '../../kernel/audit/audit-log.ts';
import { isoTime, jsonObject } from '../../kernel/sql/json.ts';
import { read, write } from '../../kernel/sql/statement.ts';
import { endDeadSessions } from '../credentials/sessions/statements.sql.ts';
import { anyContains, listStatements } from '../list.sql.ts';

/** The settings that a request can set. Columns and JSON fields have the same names. */
export const SETTINGS = [
  'name',
  'time_zone',
  'phone_region',
  'terms',
  'payment_terms',
  'reminder_lead_days',
  'sender_name',
  'sender_address',
  'contact_email',
  'client_contact_email',
  'client_contact_phone',
  'contact_line',
  'message_signature',
  'session_idle_minutes',
  'session_hours',
  'legal_name',
  'address',
  'company_number',
  'tax_number',
  'currency',
] as const;

const columns = SETTINGS.join(', ');

const record = jsonObject({
  id: 'c.id',
  ...Object.fromEntries(SETTINGS.map((name) => [name, `c.${name}`])),
  created_at: isoTime('c.created_at'),
  updated_at: isoTime('c.updated_at'),
});

export const companyAudit = imageAuditLog({
  record: 'company',
  actions: ['created', 'updated'],
  path: '/manage/company',
  access: 'manage',
  table: 'companies',
  as: 'c',
  key: { company: 'c.id' },
  image: record,
});

// An unknown zone raises an error (22023). pg_timezone_names would tell as well, but reads every zone file.
const isKnownZone = 'now() AT TIME ZONE d.time_zone IS NOT NULL';

/** `settings` has every setting. Raises 22023 if the time zone is unknown. */
export const insertCompany = write('companies.insert', {
  inputs: { company_id: 'uuid', settings: 'json', now: 'timestamptz', origin: 'json' },
  sql: (input) => `
    WITH c AS (
      INSERT INTO companies (id, ${columns}, created_at, updated_at)
      SELECT ${input.company_id}, ${SETTINGS.map((name) => `d.${name}`).join(', ')}, ${input.now}, ${input.now}
        FROM json_populate_record(NULL::companies, ${input.settings}) d WHERE ${isKnownZone}
      RETURNING *
    ), event AS (
      ${companyAudit.insertEvent('created', { from: 'c', at: input.now, origin: input.origin })}
    )
    SELECT ${record}::text FROM c`,
});

/**
 * `settings` has only those to change. Returns no row if the company does not exist; raises 22023 if the time zone is
 * unknown.
 */
export const updateCompany = write('companies.update', {
  inputs: { company_id: 'uuid', settings: 'json', now: 'timestamptz', origin: 'json' },
  sql: (input) => `
    WITH old AS (
      SELECT c.* FROM companies c WHERE c.id = ${input.company_id} FOR NO KEY UPDATE
    ), c AS (
      UPDATE companies c
         SET (${columns}) = (
               SELECT ${columns} FROM json_populate_record(c, ${input.settings}) d WHERE ${isKnownZone}),
             updated_at = ${input.now}
        FROM old WHERE c.id = old.id
      RETURNING c.*
    ), ${endDeadSessions(input.now)}, event AS (
      ${companyAudit.insertEvent('updated', {
        from: 'c',
        at: input.now,
        origin: input.origin,
        before: companyAudit.snapshotOf('old'),
      })}
    )
    SELECT ${record}::text FROM c`,
});

export const showCompany = read('companies.show', {
  inputs: { company_id: 'uuid' },
  sql: (input) => `SELECT ${record}::text FROM companies c WHERE c.id = ${input.company_id}`,
});

/** Tells why a company was not written. An input that is null is not checked. */
export const explainRejection = read('companies.explain_rejection', {
  inputs: { company_id: 'uuid?', time_zone: 'text?' },
  sql: (input) => `
    SELECT (${input.company_id} IS NULL
            OR EXISTS (SELECT 1 FROM companies WHERE id = ${input.company_id})) AS found,
           (${input.time_zone} IS NULL
            OR EXISTS (SELECT 1 FROM pg_timezone_names WHERE name = ${input.time_zone})) AS zone_known`,
});

/** Lists the companies of the whole installation. */
export const listCompanies = listStatements('companies', {
  inputs: {},
  table: 'companies',
  alias: 'c',
  element: record,
  order: 'lower(c.name), c.id',
  matches: anyContains('lower(c.name)'),
});

export const findAnyCompany = read('companies.any', { inputs: {}, sql: () => 'SELECT 1 FROM companies LIMIT 1' });
