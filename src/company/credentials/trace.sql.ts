import { read } from '../../kernel/sql/statement.ts';

/** Finds a key, a client or a user of any company. */
export const findCredential = read('credentials.find', {
  inputs: { id: 'uuid' },
  pool: 'search',
  sql: (input) => `
    SELECT company_id, 'key' AS type, id FROM tokens WHERE id = ${input.id} AND client_id IS NULL
    UNION ALL
    SELECT company_id, 'client', id FROM clients WHERE id = ${input.id}
    UNION ALL
    SELECT company_id, 'user', id FROM users WHERE id = ${input.id}`,
});

/** Finds the credential of a key, an access token or a client secret. An access token belongs to its client. */
export const findCredentialBySecret = read('credentials.find_by_secret', {
  inputs: { secret_sha256: 'bytea' },
  pool: 'search',
  sql: (input) => `
    SELECT company_id, CASE WHEN client_id IS NULL THEN 'key' ELSE 'client' END AS type, coalesce(client_id, id) AS id
      FROM tokens WHERE secret_sha256 = ${input.secret_sha256}
    UNION ALL
    SELECT company_id, 'client', id FROM clients WHERE secret_sha256 = ${input.secret_sha256}`,
});

/** An operator's key can create keys in other companies. */
export const findCompaniesWithCreatedKeys = read('credentials.find_companies_with_created_keys', {
  inputs: { created_by_type: 'text', created_by_id: 'uuid' },
  pool: 'search',
  sql: (input) => `
    SELECT DISTINCT company_id AS id FROM tokens
     WHERE created_by_type = ${input.created_by_type} AND created_by_id = ${input.created_by_id}
       AND client_id IS NULL`,
});
