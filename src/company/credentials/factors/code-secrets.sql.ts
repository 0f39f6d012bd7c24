import { read, write } from '../../../kernel/sql/statement.ts';

/** Of all companies, for the doctor and for a change of SECRETS_KEY. */
export const listCodeSecrets = read('account.list_code_secrets', {
  inputs: {},
  pool: 'search',
  sql: () => 'SELECT company_id, id, sealed_secret FROM users WHERE sealed_secret IS NOT NULL',
});

/** Writes nothing if the secret was replaced meanwhile. */
export const reencryptCodeSecret = write('account.reencrypt_code_secret', {
  inputs: { company_id: 'uuid', id: 'uuid', old_sealed_secret: 'text', new_sealed_secret: 'text' },
  sql: (input) => `
    UPDATE users SET sealed_secret = ${input.new_sealed_secret}
     WHERE company_id = ${input.company_id} AND id = ${input.id} AND sealed_secret = ${input.old_sealed_secret}
    RETURNING id`,
});
