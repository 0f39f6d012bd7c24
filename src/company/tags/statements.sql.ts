import { imageAuditLog } from '../../kernel/audit/audit-log.ts';
import { isoTime, jsonObject, rowLimit, statement } from '../../kernel/sql/statement.ts';
import { listStatements, searchIn } from '../list.sql.ts';

const record = jsonObject({ tag: 't.tag', created_at: isoTime('t.created_at') });

/** A tag has no identifier but itself, and the log wants one. */
export const tagLog = imageAuditLog({
  record: 'tag',
  verbs: ['created', 'removed'],
  access: 'manage',
  table: 'custom_tags',
  as: 't',
  key: { id: 'md5(t.tag)::uuid' },
  image: record,
});

export const listCustomTags = listStatements('custom_tags', {
  scope: 1,
  from: 'custom_tags t WHERE t.company_id = $1',
  as: 't',
  element: record,
  order: 't.tag',
  matches: searchIn('t.tag'),
});

/** They are everybody's. */
export const listDefaultTags = listStatements('default_tags', {
  scope: 0,
  from: 'default_tags t WHERE true',
  as: 't',
  element: jsonObject({ tag: 't.tag' }),
  order: 't.tag',
  matches: searchIn('t.tag'),
});

/** $1 company */
export const customTagLimit = rowLimit('custom tags', 1_000, 'FROM custom_tags WHERE company_id = $1');

/** $1 company, $2 tag, $3 now, $4 origin. Nothing where it is taken. */
export const insertCustomTag = statement(
  'custom_tags.insert',
  `WITH t AS (
     INSERT INTO custom_tags (company_id, tag, created_at) VALUES ($1, $2, $3)
     ON CONFLICT (company_id, tag) DO NOTHING
     RETURNING *
   ), e AS (
     ${tagLog.insertEvent('created', { from: 't', at: '$3', origin: '$4' })}
   )
   SELECT ${record}::text FROM t`,
);

/** $1 company, $2 tag, $3 now, $4 origin. Entries keep the tag. */
export const removeCustomTag = statement(
  'custom_tags.remove',
  `WITH t AS (
     DELETE FROM custom_tags t WHERE t.company_id = $1 AND t.tag = $2 RETURNING *
   ), e AS (
     ${tagLog.insertEvent('removed', { from: 't', at: '$3', origin: '$4', before: tagLog.image })}
   )
   SELECT ${jsonObject({ tag: 't.tag', removed_at: isoTime('$3::timestamptz') })}::text FROM t`,
);
