import { longStatement } from '../../kernel/sql/statement.ts';

/** $1 id of a key or a client, of any company */
export const findCredential = longStatement(
  'credentials.find',
  `SELECT company_id, 'key' AS type, id FROM tokens WHERE id = $1 AND client_id IS NULL
   UNION ALL
   SELECT company_id, 'client', id FROM clients WHERE id = $1`,
);

/** $1 hash of a key, an access token or a client secret. Of an access token it is the client. */
export const findCredentialBySecret = longStatement(
  'credentials.find_by_secret',
  `SELECT company_id, CASE WHEN client_id IS NULL THEN 'key' ELSE 'client' END AS type, coalesce(client_id, id) AS id
     FROM tokens WHERE secret_sha256 = $1
   UNION ALL
   SELECT company_id, 'client', id FROM clients WHERE secret_sha256 = $1`,
);

/** $1 type, $2 id: the companies for which an operator's key made keys. */
export const findCompaniesWithCreatedKeys = longStatement(
  'credentials.companies_of_made_keys',
  'SELECT DISTINCT company_id AS id FROM tokens WHERE created_by_type = $1 AND created_by_id = $2 AND client_id IS NULL',
);
