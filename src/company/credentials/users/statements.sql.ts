import { createdBy } from '../../../kernel/credential.sql.ts';
import { isoTime, jsonObject } from '../../../kernel/sql/json.ts';
import { read, rowLimit, write } from '../../../kernel/sql/statement.ts';
import { anyContains, listStatements } from '../../list.sql.ts';
import { userAudit } from './audit.sql.ts';

const record = jsonObject({
  id: 'u.id',
  email: 'u.email',
  name: 'u.name',
  role: 'u.role',
  adviser_id: 'u.adviser_id',
  state: 'u.state',
  created_at: isoTime('u.created_at'),
  updated_at: isoTime('u.updated_at'),
  created_by: createdBy('u'),
});

const KEY_INPUTS = { company_id: 'uuid', id: 'uuid' } as const;
const CHANGE_INPUTS = { ...KEY_INPUTS, now: 'timestamptz', origin: 'json' } as const;
const hasKey = (input: Record<keyof typeof KEY_INPUTS, string>) =>
  `u.company_id = ${input.company_id} AND u.id = ${input.id}`;
const isOld = 'u.company_id = old.company_id AND u.id = old.id';
const before = userAudit.snapshotOf('old');

export const listUsers = listStatements('users', {
  inputs: { company_id: 'uuid' },
  table: 'users',
  alias: 'u',
  where: (input) => `u.company_id = ${input.company_id}`,
  element: record,
  order: 'lower(u.name), u.id',
  matches: anyContains('lower(u.name)', 'lower(u.email)'),
});

export const showUser = read('users.show', {
  inputs: KEY_INPUTS,
  sql: (input) => `SELECT ${record}::text FROM users u WHERE ${hasKey(input)}`,
});

/** Counts disabled users too, because they can be enabled. */
export const userLimit = rowLimit('users', 10_000, {
  inputs: { company_id: 'uuid' },
  rows: (input) => `FROM users WHERE company_id = ${input.company_id}`,
});

const isAdviser = (company: string, id: string) =>
  `EXISTS (SELECT 1 FROM advisers a WHERE a.company_id = ${company} AND a.id = ${id} AND a.removed_at IS NULL)`;

/** Returns no row if another user has the email, or if there is no such adviser. */
export const insertUser = write('users.insert', {
  inputs: {
    ...CHANGE_INPUTS,
    email: 'text',
    name: 'text',
    role: 'text',
    adviser_id: 'uuid?',
    created_by_type: 'text?',
    created_by_id: 'uuid?',
    created_by_name: 'text?',
  },
  sql: (input) => `
    WITH u AS (
      INSERT INTO users (company_id, id, email, name, role, adviser_id, state, created_at, updated_at,
                         created_by_type, created_by_id, created_by_name)
      SELECT ${input.company_id}, ${input.id}, ${input.email}, ${input.name}, ${input.role}, ${input.adviser_id},
             'invited', ${input.now}, ${input.now},
             ${input.created_by_type}, ${input.created_by_id}, ${input.created_by_name}
       WHERE ${input.adviser_id} IS NULL OR ${isAdviser(input.company_id, input.adviser_id)}
      ON CONFLICT (company_id, lower(email)) DO NOTHING
      RETURNING *
    ), event AS (
      ${userAudit.insertEvent('created', { from: 'u', at: input.now, origin: input.origin })}
    )
    SELECT ${record}::text FROM u`,
});

/** A field that is null stays unchanged, except the adviser if `set_adviser` is true. */
export const updateUser = write('users.update', {
  inputs: { ...CHANGE_INPUTS, name: 'text?', role: 'text?', set_adviser: 'boolean', adviser_id: 'uuid?' },
  sql: (input) => `
    WITH old AS (
      SELECT u.* FROM users u WHERE ${hasKey(input)} FOR NO KEY UPDATE
    ), u AS (
      UPDATE users u
         SET name = coalesce(${input.name}, u.name), role = coalesce(${input.role}, u.role),
             adviser_id = CASE WHEN ${input.set_adviser} THEN ${input.adviser_id} ELSE u.adviser_id END,
             updated_at = ${input.now}
        FROM old WHERE ${isOld}
      RETURNING u.*
    ), event AS (
      ${userAudit.insertEvent('updated', { from: 'u', at: input.now, origin: input.origin, before })}
    )
    SELECT ${record}::text FROM u`,
});

/** Ends the sessions of the user. A user that was disabled before stays unchanged. */
export const disableUser = write('users.disable', {
  inputs: CHANGE_INPUTS,
  sql: (input) => `
    WITH old AS (
      SELECT u.* FROM users u WHERE ${hasKey(input)} FOR NO KEY UPDATE
    ), u AS (
      UPDATE users u SET state = 'disabled', updated_at = ${input.now}
        FROM old WHERE ${isOld} AND old.state <> 'disabled'
      RETURNING u.*
    ), ended AS (
      UPDATE sessions s SET ended_at = ${input.now} FROM u
       WHERE s.company_id = u.company_id AND s.user_id = u.id AND s.ended_at IS NULL
    ), event AS (
      ${userAudit.insertEvent('disabled', { from: 'u', at: input.now, origin: input.origin, before })}
    )
    SELECT ${record}::text FROM (SELECT * FROM u UNION ALL SELECT * FROM old WHERE old.state = 'disabled') u`,
});

export const enableUser = write('users.enable', {
  inputs: CHANGE_INPUTS,
  sql: (input) => `
    WITH old AS (
      SELECT u.* FROM users u WHERE ${hasKey(input)} FOR NO KEY UPDATE
    ), u AS (
      UPDATE users u
         SET state = CASE WHEN old.activated_at IS NULL THEN 'invited' ELSE 'active' END, updated_at = ${input.now}
        FROM old WHERE ${isOld} AND old.state = 'disabled'
      RETURNING u.*
    ), event AS (
      ${userAudit.insertEvent('enabled', { from: 'u', at: input.now, origin: input.origin, before })}
    )
    SELECT ${record}::text FROM (SELECT * FROM u UNION ALL SELECT * FROM old WHERE old.state <> 'disabled') u`,
});

/**
 * What a change of the user depends on: the role, the state, whether the company would still have an owner without this
 * one, and whether an address or an adviser can be used.
 */
export const explain = read('users.explain', {
  inputs: { company_id: 'uuid', id: 'uuid?', email: 'text?', adviser_id: 'uuid?' },
  sql: (input) => `
    SELECT u.role, u.state,
           EXISTS (SELECT 1 FROM users o
                    WHERE o.company_id = ${input.company_id} AND o.id IS DISTINCT FROM ${input.id} AND o.role = 'owner'
                      AND (o.state = 'active' OR (u.state = 'invited' AND o.state = 'invited'))) AS has_other_owner,
           EXISTS (SELECT 1 FROM users o
                    WHERE o.company_id = ${input.company_id} AND lower(o.email) = lower(${input.email})) AS email_taken,
           (${input.adviser_id} IS NULL OR ${isAdviser(input.company_id, input.adviser_id)}) AS adviser_found
      FROM (SELECT 1) one LEFT JOIN users u ON u.company_id = ${input.company_id} AND u.id = ${input.id}`,
});
