import { imageAuditLog } from '../../kernel/audit/audit-log.ts';
import { isoTime, jsonObject } from '../../kernel/sql/statement.ts';

const account = 'video_accounts v WHERE v.company_id = a.company_id AND v.id = a.video_account_id';

/** With the video account, as far as it never changes: other credentials are an entry, but nothing to be shown. */
export const adviserLog = imageAuditLog({
  record: 'adviser',
  verbs: ['created', 'updated', 'removed', 'restored', 'video_account_connected', 'video_account_disconnected'],
  path: '/manage/advisers/{adviserId}',
  params: { adviserId: 'adviser' },
  access: 'manage',
  table: 'advisers',
  as: 'a',
  image: jsonObject({
    id: 'a.id',
    email: 'a.email',
    name: 'a.name',
    active: 'a.active',
    video_provider: 'a.video_provider',
    video_account: `(SELECT ${jsonObject({ account_id: 'v.account_id', user: 'v.host' })} FROM ${account})`,
    created_at: isoTime('a.created_at'),
    updated_at: isoTime('a.updated_at'),
    removed_at: isoTime('a.removed_at'),
  }),
});

/**
 * As `old` the adviser `a` of the condition, locked. Nothing where it has an account that came after the statement
 * began, which cannot see it then: to be tried again.
 */
export const lockAdviser = (condition: string): string => `locked AS (
     SELECT a.* FROM advisers a WHERE ${condition} FOR NO KEY UPDATE
   ), old AS (
     SELECT * FROM locked a WHERE a.video_account_id IS NULL OR EXISTS (SELECT 1 FROM ${account})
   )`;

export const isOld = 'a.company_id = old.company_id AND a.id = old.id';
