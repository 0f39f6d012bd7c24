import { imageAuditLog } from '../../kernel/audit/audit-log.ts';
import { isoTime, jsonObject } from '../../kernel/sql/json.ts';
import { rowLimit, write } from '../../kernel/sql/statement.ts';
import { anyContains, listStatements } from '../list.sql.ts';

const record = jsonObject({ tag: 't.tag', created_at: isoTime('t.created_at') });

/** A tag has no id, but an event needs one, so it is derived from the tag. */
export const tagAudit = imageAuditLog({
  record: 'tag',
  actions: ['created', 'removed'],
  access: 'manage',
  table: 'custom_tags',
  as: 't',
  key: { id: 'md5(t.tag)::uuid' },
  image: record,
});

export const listCustomTags = listStatements('custom_tags', {
  inputs: { company_id: 'uuid' },
  table: 'custom_tags',
  alias: 't',
  where: (input) => `t.company_id = ${input.company_id}`,
  element: record,
  order: 't.tag',
  matches: anyContains('t.tag'),
});

/** The default tags are the same for every company. */
export const listDefaultTags = listStatements('default_tags', {
  inputs: {},
  table: 'default_tags',
  alias: 't',
  element: jsonObject({ tag: 't.tag' }),
  order: 't.tag',
  matches: anyContains('t.tag'),
});

export const customTagLimit = rowLimit('custom tags', 1_000, {
  inputs: { company_id: 'uuid' },
  rows: (input) => `FROM custom_tags WHERE company_id = ${input.company_id}`,
});

/** Returns no row if the company already has the tag. */
export const insertCustomTag = write('custom_tags.insert', {
  inputs: { company_id: 'uuid', tag: 'text', now: 'timestamptz', origin: 'json' },
  sql: (input) => `
    WITH t AS (
      INSERT INTO custom_tags (company_id, tag, created_at) VALUES (${input.company_id}, ${input.tag}, ${input.now})
      ON CONFLICT (company_id, tag) DO NOTHING
      RETURNING *
    ), event AS (
      ${tagAudit.insertEvent('created', { from: 't', at: input.now, origin: input.origin })}
    )
    SELECT ${record}::text FROM t`,
});

/** Returns no row if the company does not have the tag. Address book entries keep it. */
export const removeCustomTag = write('custom_tags.remove', {
  inputs: { company_id: 'uuid', tag: 'text', now: 'timestamptz', origin: 'json' },
  sql: (input) => `
    WITH t AS (
      DELETE FROM custom_tags t WHERE t.company_id = ${input.company_id} AND t.tag = ${input.tag} RETURNING *
    ), event AS (
      ${tagAudit.insertEvent('removed', { from: 't', at: input.now, origin: input.origin, before: tagAudit.image })}
    )
    SELECT ${jsonObject({ tag: 't.tag', removed_at: isoTime(input.now) })}::text FROM t`,
});
