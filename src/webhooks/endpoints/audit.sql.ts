import { imageAuditLog } from '../../kernel/audit/audit-log.ts';
import { createdBy, credentialJson } from '../../kernel/credential.sql.ts';
import { isoTime, jsonObject } from '../../kernel/sql/json.ts';

const fields = {
  id: 'w.id',
  url: 'w.url',
  description: 'w.description',
  types: 'w.types',
  state: 'w.state',
  state_reason: 'w.state_reason',
  failing_since: isoTime('w.failing_since'),
  secret_rotated_at: isoTime('w.secret_rotated_at'),
  previous_secret_until: isoTime('w.previous_secret_until'),
  created_at: isoTime('w.created_at'),
  updated_at: isoTime('w.updated_at'),
  created_by: createdBy('w'),
  url_set_by: credentialJson('w', 'url_set_by'),
};

/** The endpoint as responses show it. */
export const endpointJson = jsonObject(fields);

/** Stores an image, so that no encrypted secret gets into the log, nor the position, which every fan-out changes. */
export const endpointAudit = imageAuditLog({
  record: 'webhook_endpoint',
  actions: ['created', 'updated', 'secret_rotated', 'marked_failing', 'disabled', 'resumed', 'removed'],
  path: '/webhooks/endpoints/{endpointId}',
  params: { endpointId: 'webhook endpoint' },
  access: 'webhooks',
  table: 'webhook_endpoints',
  as: 'w',
  image: jsonObject({ ...fields, removed_at: isoTime('w.removed_at') }),
});
