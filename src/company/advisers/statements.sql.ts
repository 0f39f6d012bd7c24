import { syncFromAdvisers } from '../../cases/appointments/meetings/desired-state.sql.ts';
import { isoTime, jsonObject } from '../../kernel/sql/json.ts';
import { read, rowLimit, write } from '../../kernel/sql/statement.ts';
import { anyContains, listStatements } from '../list.sql.ts';
import { adviserAudit, isOld, lockAdviser } from './audit.sql.ts';

/** The fields that a request can set. Columns and JSON fields have the same names. */
export const ADVISER_FIELDS = ['email', 'name', 'active', 'video_provider'] as const;

const columns = ADVISER_FIELDS.join(', ');

const record = jsonObject({
  id: 'a.id',
  ...Object.fromEntries(ADVISER_FIELDS.map((name) => [name, `a.${name}`])),
  created_at: isoTime('a.created_at'),
  updated_at: isoTime('a.updated_at'),
});

const isPresent = (input: { company_id: string }) => `a.company_id = ${input.company_id} AND a.removed_at IS NULL`;
const isRemoved = (input: { company_id: string }) => `a.company_id = ${input.company_id} AND a.removed_at IS NOT NULL`;

const adviserList = (name: string, where: (input: { company_id: string }) => string) =>
  listStatements(name, {
    inputs: { company_id: 'uuid' },
    table: 'advisers',
    alias: 'a',
    where,
    element: record,
    order: 'lower(a.name), a.id',
    matches: anyContains('lower(a.name)', 'lower(a.email)'),
  });

export const listAdvisers = adviserList('advisers', isPresent);
export const listRemovedAdvisers = adviserList('removed_advisers', isRemoved);

export const showAdviser = read('advisers.show', {
  inputs: { company_id: 'uuid', id: 'uuid' },
  sql: (input) => `SELECT ${record}::text FROM advisers a WHERE ${isPresent(input)} AND a.id = ${input.id}`,
});

/** Counts removed advisers too, because they can be restored. */
export const adviserLimit = rowLimit('advisers', 10_000, {
  inputs: { company_id: 'uuid' },
  rows: (input) => `FROM advisers WHERE company_id = ${input.company_id}`,
});

/** `fields` has every field. Returns no row if another adviser has the email. */
export const insertAdviser = write('advisers.insert', {
  inputs: { company_id: 'uuid', id: 'uuid', fields: 'json', now: 'timestamptz', origin: 'json' },
  sql: (input) => `
    WITH a AS (
      INSERT INTO advisers (company_id, id, ${columns}, created_at, updated_at)
      SELECT ${input.company_id}, ${input.id}, ${ADVISER_FIELDS.map((name) => `d.${name}`).join(', ')},
             ${input.now}, ${input.now}
        FROM json_populate_record(NULL::advisers, ${input.fields}) d
      ON CONFLICT (company_id, lower(email)) WHERE removed_at IS NULL DO NOTHING
      RETURNING *
    ), event AS (
      ${adviserAudit.insertEvent('created', { from: 'a', at: input.now, origin: input.origin })}
    )
    SELECT ${record}::text FROM a`,
});

const before = adviserAudit.snapshotOf('old');

const isZoom = (provider: string) => `${provider} IS NOT DISTINCT FROM 'zoom'`;

/**
 * `fields` has only those to change. Returns no row if the adviser does not exist, or if the provider would change to
 * or from Zoom, which needs credentials. An email that another adviser has violates `advisers_email`.
 */
export const updateAdviser = write('advisers.update', {
  inputs: { company_id: 'uuid', id: 'uuid', fields: 'json', now: 'timestamptz', origin: 'json' },
  sql: (input) => `
    WITH ${lockAdviser(`${isPresent(input)} AND a.id = ${input.id}`)}, d AS (
      UPDATE advisers a
         SET (${columns}) = (SELECT ${columns} FROM json_populate_record(a, ${input.fields})),
             updated_at = ${input.now}
        FROM old WHERE ${isOld}
         AND (SELECT (${isZoom('n.video_provider')}) = (${isZoom('a.video_provider')})
                FROM json_populate_record(a, ${input.fields}) n)
      RETURNING a.*
    ), meetings_scheduled AS (
      ${syncFromAdvisers(input.now)}
    ), event AS (
      ${adviserAudit.insertEvent('updated', { from: 'd a', at: input.now, origin: input.origin, before })}
    )
    SELECT ${record}::text FROM d a`,
});

/** Returns no row if the adviser does not exist. Appointments keep the adviser's id and email. */
export const removeAdviser = write('advisers.remove', {
  inputs: { company_id: 'uuid', id: 'uuid', now: 'timestamptz', origin: 'json' },
  sql: (input) => `
    WITH ${lockAdviser(`${isPresent(input)} AND a.id = ${input.id}`)}, a AS (
      UPDATE advisers a SET removed_at = ${input.now}, updated_at = ${input.now} FROM old WHERE ${isOld}
      RETURNING a.*
    ), event AS (
      ${adviserAudit.insertEvent('removed', { from: 'a', at: input.now, origin: input.origin, before })}
    )
    SELECT ${jsonObject({ id: 'a.id', removed_at: isoTime('a.removed_at') })}::text FROM a`,
});

/** Returns no row if the adviser is not removed. An email that another adviser has by now violates `advisers_email`. */
export const restoreAdviser = write('advisers.restore', {
  inputs: { company_id: 'uuid', id: 'uuid', now: 'timestamptz', origin: 'json' },
  sql: (input) => `
    WITH ${lockAdviser(`${isRemoved(input)} AND a.id = ${input.id}`)}, a AS (
      UPDATE advisers a SET removed_at = NULL, updated_at = ${input.now} FROM old WHERE ${isOld}
      RETURNING a.*
    ), event AS (
      ${adviserAudit.insertEvent('restored', { from: 'a', at: input.now, origin: input.origin, before })}
    )
    SELECT ${record}::text FROM a`,
});

/** Tells why an adviser was not restored. Returns no row if the adviser does not exist. */
export const explainRestoreRejection = read('advisers.explain_restore_rejection', {
  inputs: { company_id: 'uuid', id: 'uuid' },
  sql: (input) => `
    SELECT r.removed_at IS NOT NULL AS removed,
           EXISTS (SELECT 1 FROM advisers a
                    WHERE ${isPresent(input)} AND lower(a.email) = lower(r.email)) AS email_taken
      FROM advisers r WHERE r.company_id = ${input.company_id} AND r.id = ${input.id}`,
});

/** Tells why an adviser was not written. `id` is null for a new adviser. */
export const explainRejection = read('advisers.explain_rejection', {
  inputs: { company_id: 'uuid', id: 'uuid?', email: 'text?' },
  sql: (input) => `
    SELECT (${input.id} IS NULL
            OR EXISTS (SELECT 1 FROM advisers a WHERE ${isPresent(input)} AND a.id = ${input.id})) AS found,
           EXISTS (SELECT 1 FROM advisers a WHERE ${isPresent(input)} AND lower(a.email) = lower(${input.email})
                      AND a.id IS DISTINCT FROM ${input.id}) AS email_taken,
           EXISTS (SELECT 1 FROM advisers a
                    WHERE ${isPresent(input)} AND a.id = ${input.id} AND a.video_provider = 'zoom') AS uses_zoom`,
});
