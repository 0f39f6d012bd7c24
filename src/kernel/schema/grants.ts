import type pg from 'pg';

/** What the service's role may do with one object of the schema. */
export type Grant = {
  /** A table, or another object with its kind, such as `SEQUENCE event_positions`. */
  on: string;
  privileges: string;
};

export const readAndWrite = (...tables: string[]): Grant[] =>
  tables.map((table) => ({ on: table, privileges: 'SELECT, INSERT, UPDATE, DELETE' }));

export const readOnly = (...tables: string[]): Grant[] => tables.map((table) => ({ on: table, privileges: 'SELECT' }));

export const MIGRATION_GRANTS = readOnly('migrations');

/**
 * Gives the role exactly these privileges on the named objects, whatever it had before, and touches no other object of
 * the schema. Does nothing if the role owns the tables or is a member of the role that does.
 */
export async function grantPrivileges(client: pg.Client, role: string, grants: readonly Grant[]): Promise<void> {
  const { rows } = await client.query(
    `SELECT quote_ident(current_schema()) AS schema, pg_has_role($1, relowner, 'MEMBER') AS owns
       FROM pg_class WHERE oid = to_regclass('migrations')`,
    [role],
  );
  const { schema, owns } = rows[0];
  if (owns) return;
  const grantee = client.escapeIdentifier(role);
  await client.query(`GRANT USAGE ON SCHEMA ${schema} TO ${grantee}`);
  for (const { on, privileges } of grants) {
    // PostgreSQL lets every role execute a new function.
    if (on.startsWith('FUNCTION ')) await client.query(`REVOKE ALL ON ${on} FROM PUBLIC`);
    await client.query(`REVOKE ALL ON ${on} FROM ${grantee}`);
    await client.query(`GRANT ${privileges} ON ${on} TO ${grantee}`);
  }
}
