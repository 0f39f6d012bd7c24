import { imageAuditLog } from '../../kernel/audit/audit-log.ts';
import { isoTime, jsonObject } from '../../kernel/sql/json.ts';

const account = 'video_accounts v WHERE v.company_id = a.company_id AND v.id = a.video_account_id';

/** The image has the video account without its credentials: replacing them is an event, but nothing to show. */
export const adviserAudit = imageAuditLog({
  record: 'adviser',
  actions: ['created', 'updated', 'removed', 'restored', 'video_account_connected', 'video_account_disconnected'],
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
 * SQL: the table expression `old` with the locked adviser that meets the condition on `a`. It is empty if the adviser's
 * video account was connected after the statement began, because the statement cannot see that account; retry then.
 */
export const lockAdviser = (condition: string): string => `locked AS (
     SELECT a.* FROM advisers a WHERE ${condition} FOR NO KEY UPDATE
   ), old AS (
     SELECT * FROM locked a WHERE a.video_account_id IS NULL OR EXISTS (SELECT 1 FROM ${account})
   )`;

/** SQL: whether the row `a` is the locked adviser. */
export const isOld = 'a.company_id = old.company_id AND a.id = old.id';
