import { imageAuditLog } from '../../../kernel/audit/audit-log.ts';
import { createdBy, credentialJson } from '../../../kernel/credential.sql.ts';
import { isoTime, jsonObject } from '../../../kernel/sql/json.ts';
import { read, rowLimit, write } from '../../../kernel/sql/statement.ts';
import { anyContains, listStatements } from '../../list.sql.ts';

const record = jsonObject({
  id: 'k.id',
  name: 'k.name',
  scopes: 'k.scopes',
  created_at: isoTime('k.created_at'),
  updated_at: isoTime('k.updated_at'),
  rotated_at: isoTime('k.rotated_at'),
  disabled_at: isoTime('k.disabled_at'),
  created_by: createdBy('k'),
  rotated_by: credentialJson('k', 'rotated_by'),
});

export const clientAudit = imageAuditLog({
  record: 'api_client',
  actions: ['created', 'updated', 'rotated', 'disabled', 'enabled'],
  path: '/manage/clients/{clientId}',
  params: { clientId: 'client' },
  access: 'manage',
  table: 'clients',
  as: 'k',
  image: record,
});

type ClientInput = { company_id: string; id: string };

const isClient = (input: ClientInput) => `k.company_id = ${input.company_id} AND k.id = ${input.id}`;

export const listClients = listStatements('clients', {
  inputs: { company_id: 'uuid' },
  table: 'clients',
  alias: 'k',
  where: (input) => `k.company_id = ${input.company_id}`,
  element: record,
  order: 'k.created_at DESC, k.id DESC',
  matches: anyContains('lower(k.name)'),
});

export const showClient = read('clients.show', {
  inputs: { company_id: 'uuid', id: 'uuid' },
  sql: (input) => `SELECT ${record}::text FROM clients k WHERE ${isClient(input)}`,
});

export const clientLimit = rowLimit('clients', 1_000, {
  inputs: { company_id: 'uuid' },
  rows: (input) => `FROM clients WHERE company_id = ${input.company_id}`,
});

export const insertClient = write('clients.insert', {
  inputs: {
    company_id: 'uuid',
    id: 'uuid',
    name: 'text',
    scopes: 'text[]',
    secret_sha256: 'bytea',
    created_by_type: 'text?',
    created_by_id: 'uuid?',
    created_by_name: 'text?',
    now: 'timestamptz',
    origin: 'json',
  },
  sql: (input) => `
    WITH k AS (
      INSERT INTO clients (company_id, id, name, scopes, secret_sha256, created_at, updated_at,
                           created_by_type, created_by_id, created_by_name)
      VALUES (${input.company_id}, ${input.id}, ${input.name}, ${input.scopes}, ${input.secret_sha256},
              ${input.now}, ${input.now},
              ${input.created_by_type}, ${input.created_by_id}, ${input.created_by_name})
      RETURNING *
    ), event AS (
      ${clientAudit.insertEvent('created', { from: 'k', at: input.now, origin: input.origin })}
    )
    SELECT ${record}::text FROM k`,
});

const lockClient = (input: ClientInput) =>
  `old AS (SELECT k.* FROM clients k WHERE ${isClient(input)} FOR NO KEY UPDATE)`;
const isOld = 'k.company_id = old.company_id AND k.id = old.id';
const before = clientAudit.snapshotOf('old');

/**
 * Null leaves the name or the scopes as they are; null for `grantable_scopes` allows every scope. Returns no row if the
 * client does not exist, or if a scope is neither its own nor grantable.
 */
export const updateClient = write('clients.update', {
  inputs: {
    company_id: 'uuid',
    id: 'uuid',
    name: 'text?',
    scopes: 'text[]?',
    grantable_scopes: 'text[]?',
    now: 'timestamptz',
    origin: 'json',
  },
  sql: (input) => `
    WITH ${lockClient(input)}, k AS (
      UPDATE clients k
         SET name = coalesce(${input.name}, k.name), scopes = coalesce(${input.scopes}, k.scopes),
             updated_at = ${input.now}
        FROM old
       WHERE ${isOld}
         AND (${input.scopes} IS NULL OR ${input.grantable_scopes} IS NULL
              OR ${input.scopes} <@ (old.scopes || ${input.grantable_scopes}))
      RETURNING k.*
    ), event AS (
      ${clientAudit.insertEvent('updated', { from: 'k', at: input.now, origin: input.origin, before })}
    )
    SELECT ${record}::text FROM k`,
});

export const findScopes = read('clients.find_scopes', {
  inputs: { company_id: 'uuid', id: 'uuid' },
  sql: (input) => `SELECT k.scopes FROM clients k WHERE ${isClient(input)}`,
});

/**
 * Replaces the secret and records the credential that did. Returns no row if the client does not exist or has a scope
 * that is not grantable; null for `grantable_scopes` allows every scope.
 */
export const rotateClient = write('clients.rotate', {
  inputs: {
    company_id: 'uuid',
    id: 'uuid',
    secret_sha256: 'bytea',
    grantable_scopes: 'text[]?',
    rotated_by_type: 'text?',
    rotated_by_id: 'uuid?',
    rotated_by_name: 'text?',
    now: 'timestamptz',
    origin: 'json',
  },
  sql: (input) => `
    WITH ${lockClient(input)}, k AS (
      UPDATE clients k
         SET secret_sha256 = ${input.secret_sha256}, rotated_at = ${input.now}, updated_at = ${input.now},
             rotated_by_type = ${input.rotated_by_type}, rotated_by_id = ${input.rotated_by_id},
             rotated_by_name = ${input.rotated_by_name}
        FROM old
       WHERE ${isOld} AND (${input.grantable_scopes} IS NULL OR old.scopes <@ ${input.grantable_scopes})
      RETURNING k.*
    ), rotation AS (
      INSERT INTO client_rotations (company_id, client_id, rotated_by_type, rotated_by_id)
      SELECT k.company_id, k.id, ${input.rotated_by_type}, ${input.rotated_by_id}
        FROM k WHERE ${input.rotated_by_id} IS NOT NULL
      ON CONFLICT DO NOTHING
    ), event AS (
      ${clientAudit.insertEvent('rotated', { from: 'k', at: input.now, origin: input.origin, before })}
    )
    SELECT ${record}::text FROM k`,
});

/** SQL: the updated client, or the old one if it was in the wanted state before. */
const updatedOr = (unchanged: string) => `(SELECT * FROM k UNION ALL SELECT * FROM old WHERE ${unchanged}) k`;

/** Returns no row if the client does not exist. The tokens of a disabled client are no longer found. */
export const disableClient = write('clients.disable', {
  inputs: { company_id: 'uuid', id: 'uuid', now: 'timestamptz', origin: 'json' },
  sql: (input) => `
    WITH ${lockClient(input)}, k AS (
      UPDATE clients k SET disabled_at = ${input.now}, updated_at = ${input.now}
        FROM old WHERE ${isOld} AND old.disabled_at IS NULL
      RETURNING k.*
    ), event AS (
      ${clientAudit.insertEvent('disabled', { from: 'k', at: input.now, origin: input.origin, before })}
    )
    SELECT ${record}::text FROM ${updatedOr('old.disabled_at IS NOT NULL')}`,
});

/**
 * Returns no row if the client does not exist. Tokens from before it was disabled must not work again, so the client
 * gets a new generation. That also covers tokens that this statement, if it waited for a lock, cannot see.
 */
export const enableClient = write('clients.enable', {
  inputs: { company_id: 'uuid', id: 'uuid', now: 'timestamptz', origin: 'json' },
  sql: (input) => `
    WITH ${lockClient(input)}, k AS (
      UPDATE clients k SET disabled_at = NULL, updated_at = ${input.now}, generation = k.generation + 1
        FROM old WHERE ${isOld} AND old.disabled_at IS NOT NULL
      RETURNING k.*
    ), event AS (
      ${clientAudit.insertEvent('enabled', { from: 'k', at: input.now, origin: input.origin, before })}
    )
    SELECT ${record}::text FROM ${updatedOr('old.disabled_at IS NULL')}`,
});
