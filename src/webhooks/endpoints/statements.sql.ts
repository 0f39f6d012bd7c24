import { NIL_CASE_ID } from '../../kernel/audit/audit-log.ts';
import { isoTime, jsonObject } from '../../kernel/sql/json.ts';
import { read, write } from '../../kernel/sql/statement.ts';
import { endpointAudit, endpointJson } from './audit.sql.ts';
import { BACKLOG_ACTIONS } from './backlog.sql.ts';

const KEY_INPUTS = { company_id: 'uuid', id: 'uuid' } as const;
type KeyInput = Record<keyof typeof KEY_INPUTS, string>;
/** The inputs of every change: its time and who made it. */
const CHANGE_INPUTS = { ...KEY_INPUTS, now: 'timestamptz', origin: 'json' } as const;
type ChangeInput = Record<keyof typeof CHANGE_INPUTS, string>;

/** The credential of the caller; all null for the command line. */
const CREDENTIAL_INPUTS = { credential_type: 'text?', credential_id: 'uuid?', credential_name: 'text?' } as const;

const hasKey = (input: KeyInput) => `w.company_id = ${input.company_id} AND w.id = ${input.id}`;
const exists = (input: KeyInput) => `${hasKey(input)} AND w.removed_at IS NULL`;

/** Newest first. */
export const listEndpoints = read('webhook_endpoints.list', {
  inputs: { company_id: 'uuid', limit: 'int', offset: 'int', pattern: 'text?' },
  sql: (input) => `
    WITH listed AS (
      SELECT w.* FROM webhook_endpoints w
       WHERE w.company_id = ${input.company_id} AND w.removed_at IS NULL
         AND (${input.pattern} IS NULL OR lower(w.url) LIKE lower(${input.pattern})
              OR lower(w.description) LIKE lower(${input.pattern}))
    )
    SELECT (SELECT count(*)::int FROM listed) AS total,
           (SELECT coalesce(json_agg(${endpointJson} ORDER BY w.created_at DESC, w.id DESC), '[]')::text
              FROM (SELECT * FROM listed ORDER BY created_at DESC, id DESC
                     LIMIT ${input.limit} OFFSET ${input.offset}) w) AS json`,
});

export const showEndpoint = read('webhook_endpoints.show', {
  inputs: KEY_INPUTS,
  sql: (input) => `SELECT ${endpointJson}::text FROM webhook_endpoints w WHERE ${exists(input)}`,
});

/**
 * The endpoint receives the events after the watermark. Runs under the lock of the company's credentials, so the count
 * is exact. Returns no row if the company has `max_endpoints` already.
 */
export const insertEndpoint = write('webhook_endpoints.insert', {
  inputs: {
    ...CHANGE_INPUTS,
    url: 'text',
    description: 'text?',
    types: 'text[]',
    sealed_secret: 'text',
    watermark: 'bigint',
    max_endpoints: 'int',
    ...CREDENTIAL_INPUTS,
  },
  sql: (input) => `
    WITH w AS (
      INSERT INTO webhook_endpoints (company_id, id, url, description, types, state, sealed_secret, position,
                                     created_at, updated_at, created_by_type, created_by_id, created_by_name,
                                     url_set_by_type, url_set_by_id, url_set_by_name)
      SELECT ${input.company_id}, ${input.id}, ${input.url}, ${input.description}, ${input.types}, 'active',
             ${input.sealed_secret}, ${input.watermark}, ${input.now}, ${input.now},
             ${input.credential_type}, ${input.credential_id}, ${input.credential_name},
             ${input.credential_type}, ${input.credential_id}, ${input.credential_name}
       WHERE (SELECT count(*) FROM webhook_endpoints
               WHERE company_id = ${input.company_id} AND removed_at IS NULL) < ${input.max_endpoints}
      RETURNING *
    ), event AS (
      ${endpointAudit.insertEvent('created', { from: 'w', at: input.now, origin: input.origin })}
    )
    SELECT ${endpointJson}::text FROM w`,
});

/** The endpoint at the start of the statement. A concurrent change increments its version; then nothing is written. */
const seen = (input: KeyInput) => `seen AS MATERIALIZED (
      SELECT w.version, w.state, ${endpointAudit.image} AS before
        FROM webhook_endpoints w WHERE ${exists(input)}
    )`;
const isSeen = (input: KeyInput) => `${hasKey(input)} AND w.version = seen.version`;

const insertEvent = (action: (typeof endpointAudit.actions)[number], input: ChangeInput) =>
  endpointAudit.insertEvent(action, { from: 'w, seen', at: input.now, origin: input.origin, before: 'seen.before' });

/** Records the caller as the one who set the URL, if it changes. */
const setCredential = (condition: string, input: Record<keyof typeof CREDENTIAL_INPUTS, string>) =>
  `url_set_by_type = CASE WHEN ${condition} THEN ${input.credential_type} ELSE w.url_set_by_type END,
   url_set_by_id = CASE WHEN ${condition} THEN ${input.credential_id} ELSE w.url_set_by_id END,
   url_set_by_name = CASE WHEN ${condition} THEN ${input.credential_name} ELSE w.url_set_by_name END`;

/** A new epoch resets the attempts of every waiting delivery, and a worker makes them due immediately. */
const resumeIf = (condition: string) =>
  `failing_since = CASE WHEN NOT (${condition}) THEN w.failing_since END,
   paused_until = CASE WHEN NOT (${condition}) THEN w.paused_until END,
   faltering = w.faltering AND NOT (${condition}), epoch = w.epoch + (${condition})::int,
   backlog = CASE WHEN ${condition} THEN '${BACKLOG_ACTIONS.expedite}' ELSE w.backlog END`;

/** Whether a change of the types would exceed the number of earlier types that are stored until fan-out needs them. */
const exceedsTypeChanges = (types: string, max: string) =>
  `(${types} <> w.types AND jsonb_array_length(w.earlier_types) >= ${max})`;

/** Returns a row if the types cannot be changed, because they were changed too often since events were last queued. */
export const hasTooManyTypeChanges = read('webhook_endpoints.has_too_many_type_changes', {
  inputs: { ...KEY_INPUTS, types: 'text[]', max_type_changes: 'int' },
  sql: (input) => `
    SELECT 1 FROM webhook_endpoints w
     WHERE ${exists(input)} AND ${exceedsTypeChanges(input.types, input.max_type_changes)}`,
});

/**
 * Fields that are null stay as they are, except a description that was sent. Earlier events keep the earlier types.
 * Returns no row if a concurrent change won, or if the types were changed too often.
 */
export const updateEndpoint = write('webhook_endpoints.update', {
  inputs: {
    ...CHANGE_INPUTS,
    url: 'text?',
    description: 'text?',
    set_description: 'boolean',
    types: 'text[]?',
    state: 'text?',
    max_type_changes: 'int',
    ...CREDENTIAL_INPUTS,
  },
  sql: (input) => `
    WITH ${seen(input)}, w AS (
      UPDATE webhook_endpoints w
         SET ${setCredential(`${input.url} <> w.url`, input)}, url = coalesce(${input.url}, w.url),
             description = CASE WHEN ${input.set_description} THEN ${input.description} ELSE w.description END,
             types = coalesce(${input.types}, w.types), state = coalesce(${input.state}, w.state),
             earlier_types = CASE WHEN ${input.types} <> w.types THEN w.earlier_types || jsonb_build_object(
                                    'until', (SELECT last_value FROM event_positions), 'types', w.types)
                                  ELSE w.earlier_types END,
             state_reason = CASE WHEN ${input.state} IS NULL THEN w.state_reason END,
             ${resumeIf(`coalesce(${input.state}, '') = 'active' AND seen.state <> 'active'`)},
             updated_at = ${input.now}, version = w.version + 1
        FROM seen WHERE ${isSeen(input)}
         AND (${input.types} IS NULL OR NOT ${exceedsTypeChanges(input.types, input.max_type_changes)})
      RETURNING w.*
    ), event AS (
      ${insertEvent('updated', input)}
    )
    SELECT ${endpointJson}::text FROM w`,
});

/** Returns no row if the endpoint is active, or if a concurrent change won. */
export const resumeEndpoint = write('webhook_endpoints.resume', {
  inputs: CHANGE_INPUTS,
  sql: (input) => `
    WITH ${seen(input)}, w AS (
      UPDATE webhook_endpoints w
         SET state = 'active', state_reason = NULL, ${resumeIf('true')}, updated_at = ${input.now},
             version = w.version + 1
        FROM seen WHERE ${isSeen(input)} AND seen.state <> 'active'
      RETURNING w.*
    ), event AS (
      ${insertEvent('resumed', input)}
    )
    SELECT ${endpointJson}::text FROM w`,
});

/** Returns no row if a concurrent change won. */
export const rotateSecret = write('webhook_endpoints.rotate', {
  inputs: { ...CHANGE_INPUTS, sealed_secret: 'text', previous_secret_until: 'timestamptz' },
  sql: (input) => `
    WITH ${seen(input)}, w AS (
      UPDATE webhook_endpoints w
         SET sealed_secret = ${input.sealed_secret},
             sealed_previous_secret = CASE WHEN ${input.previous_secret_until} > ${input.now} THEN w.sealed_secret END,
             secret_rotated_at = ${input.now}, previous_secret_until = ${input.previous_secret_until},
             updated_at = ${input.now}, version = w.version + 1
        FROM seen WHERE ${isSeen(input)}
      RETURNING w.*
    ), event AS (
      ${insertEvent('secret_rotated', input)}
    )
    SELECT ${endpointJson}::text FROM w`,
});

/** Deletes the secrets. A worker drops the waiting deliveries. Returns no row if a concurrent change won. */
export const removeEndpoint = write('webhook_endpoints.remove', {
  inputs: CHANGE_INPUTS,
  sql: (input) => `
    WITH ${seen(input)}, w AS (
      UPDATE webhook_endpoints w
         SET removed_at = ${input.now}, backlog = '${BACKLOG_ACTIONS.discard}', sealed_secret = NULL,
             sealed_previous_secret = NULL, updated_at = ${input.now}, version = w.version + 1
        FROM seen WHERE ${isSeen(input)}
      RETURNING w.*
    ), event AS (
      ${insertEvent('removed', input)}
    )
    SELECT ${jsonObject({ id: 'w.id', removed_at: isoTime('w.removed_at') })}::text FROM w`,
});

/** Runs in a transaction that has locked the endpoint. */
const stopStatement = (action: 'marked_failing' | 'disabled', changes: (input: ChangeInput) => string) =>
  write(`webhook_endpoints.${action}`, {
    inputs: { ...CHANGE_INPUTS, reason: 'text' },
    sql: (input) => `
      WITH ${seen(input)}, w AS (
        UPDATE webhook_endpoints w
           SET ${changes(input)}, state_reason = ${input.reason}, updated_at = ${input.now}, version = w.version + 1
          FROM seen WHERE ${isSeen(input)}
        RETURNING w.*
      ), event AS (
        ${insertEvent(action, input)}
      )
      SELECT 1 FROM w`,
  });
export const markFailing = stopStatement(
  'marked_failing',
  (input) => `state = 'failing', failing_since = ${input.now}`,
);
export const disableEndpoint = stopStatement('disabled', () => `state = 'disabled'`);

/**
 * Deletes removed endpoints without deliveries, alerts and events: the event log shows the current state of a record as
 * long as it has events of it.
 */
export const purgeEndpoints = write('webhook_endpoints.purge', {
  inputs: {},
  pool: 'search',
  sql: () => `
    DELETE FROM webhook_endpoints w
     WHERE w.removed_at IS NOT NULL AND w.backlog IS NULL
       AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.company_id = w.company_id AND d.endpoint_id = w.id)
       AND NOT EXISTS (SELECT 1 FROM webhook_notices n WHERE n.company_id = w.company_id AND n.endpoint_id = w.id)
       AND NOT EXISTS (SELECT 1 FROM events e
                        WHERE e.company_id = w.company_id AND e.case_id = '${NIL_CASE_ID}' AND e.record_id = w.id)`,
});

/** Counts the failing endpoints of all companies. */
export const countFailingEndpoints = read('webhook_endpoints.count_failing', {
  inputs: {},
  sql: () => `SELECT count(*)::int AS count FROM webhook_endpoints WHERE state = 'failing' AND removed_at IS NULL`,
});
