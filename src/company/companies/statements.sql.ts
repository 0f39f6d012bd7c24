import { imageAuditLog } from '../../kernel/audit/audit-log.ts';
import { isoTime, jsonObject, statement } from '../../kernel/sql/statement.ts';
import { listStatements, searchIn } from '../list.sql.ts';

/** What a request can set; the names are the columns' and the wire's. */
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
] as const;

const settings = SETTINGS.join(', ');

const record = jsonObject({
  id: 'c.id',
  ...Object.fromEntries(SETTINGS.map((name) => [name, `c.${name}`])),
  created_at: isoTime('c.created_at'),
  updated_at: isoTime('c.updated_at'),
});

export const companyLog = imageAuditLog({
  record: 'company',
  verbs: ['created', 'updated'],
  path: '/manage/company',
  access: 'manage',
  table: 'companies',
  as: 'c',
  key: { company: 'c.id' },
  image: record,
});

// An unknown zone raises an error (22023). pg_timezone_names would say the same, but reads every zone file for it.
const zoneIsKnown = 'now() AT TIME ZONE d.time_zone IS NOT NULL';

/** $1 company, $2 its settings as JSON, all of them, $3 now, $4 origin */
export const insertCompany = statement(
  'companies.insert',
  `WITH c AS (
     INSERT INTO companies (id, ${settings}, created_at, updated_at)
     SELECT $1, ${SETTINGS.map((name) => `d.${name}`).join(', ')}, $3, $3
       FROM json_populate_record(NULL::companies, $2) d WHERE ${zoneIsKnown}
     RETURNING *
   ), e AS (
     ${companyLog.insertEvent('created', { from: 'c', at: '$3', origin: '$4' })}
   )
   SELECT ${record}::text FROM c`,
);

/** As above; the JSON holds only what was sent. */
export const updateCompany = statement(
  'companies.update',
  `WITH old AS (
     SELECT c.* FROM companies c WHERE c.id = $1 FOR NO KEY UPDATE
   ), c AS (
     UPDATE companies c
        SET (${settings}) = (SELECT ${settings} FROM json_populate_record(c, $2) d WHERE ${zoneIsKnown}), updated_at = $3
       FROM old WHERE c.id = old.id
     RETURNING c.*
   ), e AS (
     ${companyLog.insertEvent('updated', { from: 'c', at: '$3', origin: '$4', before: companyLog.snapshotOf('old') })}
   )
   SELECT ${record}::text FROM c`,
);

/** $1 company */
export const showCompany = statement('companies.show', `SELECT ${record}::text FROM companies c WHERE c.id = $1`);

/** $1 company or null, $2 zone or null: what stands in the way. */
export const judgeCompany = statement(
  'companies.judge',
  `SELECT ($1::uuid IS NULL OR EXISTS (SELECT 1 FROM companies WHERE id = $1)) AS found,
          ($2::text IS NULL OR EXISTS (SELECT 1 FROM pg_timezone_names WHERE name = $2)) AS zone_known`,
);

/** Of the whole installation. */
export const listCompanies = listStatements('companies', {
  scope: 0,
  from: 'companies c WHERE true',
  as: 'c',
  element: record,
  order: 'lower(c.name), c.id',
  matches: searchIn('lower(c.name)'),
});

export const anyCompany = statement('companies.any', 'SELECT 1 FROM companies LIMIT 1');
