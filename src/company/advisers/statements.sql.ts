import { syncFromAdvisers } from '../../cases/appointments/meetings/desired-state.sql.ts';
import { isoTime, jsonObject, rowLimit, statement } from '../../kernel/sql/statement.ts';
import { listStatements, searchIn } from '../list.sql.ts';
import { adviserLog, isOld, lockAdviser } from './audit.sql.ts';

/** What a request can set; the names are the columns' and the wire's. */
export const ADVISER_FIELDS = ['email', 'name', 'active', 'video_provider'] as const;

const fields = ADVISER_FIELDS.join(', ');

const record = jsonObject({
  id: 'a.id',
  ...Object.fromEntries(ADVISER_FIELDS.map((name) => [name, `a.${name}`])),
  created_at: isoTime('a.created_at'),
  updated_at: isoTime('a.updated_at'),
});

const here = 'a.company_id = $1 AND a.removed_at IS NULL';

const removed = 'a.company_id = $1 AND a.removed_at IS NOT NULL';

const listOf = (name: string, which: string) =>
  listStatements(name, {
    scope: 1,
    from: `advisers a WHERE ${which}`,
    as: 'a',
    element: record,
    order: 'lower(a.name), a.id',
    matches: searchIn('lower(a.name)', 'lower(a.email)'),
  });

export const listAdvisers = listOf('advisers', here);
export const listRemovedAdvisers = listOf('removed_advisers', removed);

/** $1 company, $2 id */
export const showAdviser = statement(
  'advisers.show',
  `SELECT ${record}::text FROM advisers a WHERE ${here} AND a.id = $2`,
);

/** $1 company: removed ones too, which can be restored */
export const adviserLimit = rowLimit('advisers', 10_000, 'FROM advisers WHERE company_id = $1');

/** $1 company, $2 id, $3 the fields as JSON, all of them, $4 now, $5 origin. Nothing where the email is taken. */
export const insertAdviser = statement(
  'advisers.insert',
  `WITH a AS (
     INSERT INTO advisers (company_id, id, ${fields}, created_at, updated_at)
     SELECT $1, $2, ${ADVISER_FIELDS.map((name) => `d.${name}`).join(', ')}, $4, $4
       FROM json_populate_record(NULL::advisers, $3) d
     ON CONFLICT (company_id, lower(email)) WHERE removed_at IS NULL DO NOTHING
     RETURNING *
   ), e AS (
     ${adviserLog.insertEvent('created', { from: 'a', at: '$4', origin: '$5' })}
   )
   SELECT ${record}::text FROM a`,
);

const before = adviserLog.snapshotOf('old');

const isZoom = (provider: string) => `${provider} IS NOT DISTINCT FROM 'zoom'`;

/** As above; the JSON holds only what was sent. Nothing where Zoom would come or go, either: that takes credentials. */
export const updateAdviser = statement(
  'advisers.update',
  `WITH ${lockAdviser(`${here} AND a.id = $2`)}, d AS (
     UPDATE advisers a SET (${fields}) = (SELECT ${fields} FROM json_populate_record(a, $3)), updated_at = $4
       FROM old WHERE ${isOld}
        AND (SELECT (${isZoom('n.video_provider')}) = (${isZoom('a.video_provider')}) FROM json_populate_record(a, $3) n)
     RETURNING a.*
   ), g AS (
     ${syncFromAdvisers('$4')}
   ), e AS (
     ${adviserLog.insertEvent('updated', { from: 'd a', at: '$4', origin: '$5', before })}
   )
   SELECT ${record}::text FROM d a`,
);

/** $1 company, $2 id, $3 now, $4 origin. Appointments keep the adviser's id and what they have written down. */
export const removeAdviser = statement(
  'advisers.remove',
  `WITH ${lockAdviser(`${here} AND a.id = $2`)}, a AS (
     UPDATE advisers a SET removed_at = $3, updated_at = $3 FROM old WHERE ${isOld}
     RETURNING a.*
   ), e AS (
     ${adviserLog.insertEvent('removed', { from: 'a', at: '$3', origin: '$4', before })}
   )
   SELECT ${jsonObject({ id: 'a.id', removed_at: isoTime('a.removed_at') })}::text FROM a`,
);

/**
 * $1 company, $2 id, $3 now, $4 origin. Nothing where it is not removed; an email that another has now breaks
 * `advisers_email`.
 */
export const restoreAdviser = statement(
  'advisers.restore',
  `WITH ${lockAdviser(`${removed} AND a.id = $2`)}, a AS (
     UPDATE advisers a SET removed_at = NULL, updated_at = $3 FROM old WHERE ${isOld}
     RETURNING a.*
   ), e AS (
     ${adviserLog.insertEvent('restored', { from: 'a', at: '$3', origin: '$4', before })}
   )
   SELECT ${record}::text FROM a`,
);

/** $1 company, $2 id: what stands in the way of restoring it. */
export const judgeRemoved = statement(
  'advisers.judge_removed',
  `SELECT r.removed_at IS NOT NULL AS removed,
          EXISTS (SELECT 1 FROM advisers a WHERE ${here} AND lower(a.email) = lower(r.email)) AS taken
     FROM advisers r WHERE r.company_id = $1 AND r.id = $2`,
);

/**
 * $1 company, $2 the adviser that is being changed or null, $3 email or null: what stands in the way, and what is
 * there.
 */
export const judgeAdviser = statement(
  'advisers.judge',
  `SELECT ($2::uuid IS NULL OR EXISTS (SELECT 1 FROM advisers a WHERE ${here} AND a.id = $2)) AS found,
          EXISTS (SELECT 1 FROM advisers a WHERE ${here} AND lower(a.email) = lower($3)
                     AND a.id IS DISTINCT FROM $2) AS taken,
          EXISTS (SELECT 1 FROM advisers a WHERE ${here} AND a.id = $2 AND a.video_provider = 'zoom') AS zoom`,
);
