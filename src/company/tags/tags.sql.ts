import { iso, json, statement } from '../../kernel/sql.ts';
import { contains, lists } from '../listing.sql.ts';

const record = json({ tag: 't.tag', created_at: iso('t.created_at') });

export const listCustomTags = lists('custom_tags', {
  scope: 1,
  from: 'custom_tags t WHERE t.company_id = $1',
  as: 't',
  element: record,
  order: 't.tag',
  matches: contains('t.tag'),
});

/** They are everybody's. */
export const listDefaultTags = lists('default_tags', {
  scope: 0,
  from: 'default_tags t WHERE true',
  as: 't',
  element: json({ tag: 't.tag' }),
  order: 't.tag',
  matches: contains('t.tag'),
});

/** $1 company, $2 tag, $3 now. Nothing where it is taken. */
export const insertCustomTag = statement(
  'custom_tags.insert',
  `INSERT INTO custom_tags AS t (company_id, tag, created_at) VALUES ($1, $2, $3)
   ON CONFLICT (company_id, tag) DO NOTHING
   RETURNING ${record}::text`,
);

/** $1 company, $2 tag, $3 now. Entries keep the tag. */
export const removeCustomTag = statement(
  'custom_tags.remove',
  `DELETE FROM custom_tags t WHERE t.company_id = $1 AND t.tag = $2
   RETURNING ${json({ tag: 't.tag', removed_at: iso('$3::timestamptz') })}::text`,
);
