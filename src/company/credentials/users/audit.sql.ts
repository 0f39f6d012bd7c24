import { imageAuditLog } from '../../../kernel/audit/audit-log.ts';
import { createdBy } from '../../../kernel/credential.sql.ts';
import { isoTime, jsonObject } from '../../../kernel/sql/json.ts';

/** The image has no factors: they are secrets, and the names of the events tell which of them changed. */
export const userAudit = imageAuditLog({
  record: 'user',
  actions: [
    ...(['created', 'updated', 'activated', 'disabled', 'enabled', 'sessions_ended', 'factors_reset'] as const),
    ...(['password_set', 'password_removed', 'codes_set', 'recovery_codes_created', 'recovery_code_used'] as const),
    ...(['passkey_added', 'passkey_removed'] as const),
  ],
  path: '/manage/users/{userId}',
  params: { userId: 'user' },
  access: 'users',
  table: 'users',
  as: 'u',
  image: jsonObject({
    id: 'u.id',
    email: 'u.email',
    name: 'u.name',
    role: 'u.role',
    adviser_id: 'u.adviser_id',
    state: 'u.state',
    created_at: isoTime('u.created_at'),
    updated_at: isoTime('u.updated_at'),
    created_by: createdBy('u'),
  }),
});
