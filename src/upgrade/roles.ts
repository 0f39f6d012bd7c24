import type pg from 'pg';

/** Roles, their settings and their privileges. Objects themselves are made by the migrations. */

// The first number of an object that is not PostgreSQL's own.
const USER_OBJECT = 16_384;
/** Values of these settings are lists, which are quoted already. */
const LIST_SETTINGS = new Set([
  'local_preload_libraries',
  'search_path',
  'session_preload_libraries',
  'shared_preload_libraries',
  'temp_tablespaces',
]);

export async function copyRoles(from: pg.Client, to: pg.Client): Promise<void> {
  const { rows: roles } = await from.query(
    `SELECT format('%I WITH %s %s %s %s %s %s %s CONNECTION LIMIT %s%s%s', rolname,
                   CASE WHEN rolsuper THEN 'SUPERUSER' ELSE 'NOSUPERUSER' END,
                   CASE WHEN rolinherit THEN 'INHERIT' ELSE 'NOINHERIT' END,
                   CASE WHEN rolcreaterole THEN 'CREATEROLE' ELSE 'NOCREATEROLE' END,
                   CASE WHEN rolcreatedb THEN 'CREATEDB' ELSE 'NOCREATEDB' END,
                   CASE WHEN rolcanlogin THEN 'LOGIN' ELSE 'NOLOGIN' END,
                   CASE WHEN rolreplication THEN 'REPLICATION' ELSE 'NOREPLICATION' END,
                   CASE WHEN rolbypassrls THEN 'BYPASSRLS' ELSE 'NOBYPASSRLS' END, rolconnlimit,
                   ' PASSWORD ' || quote_literal(rolpassword), ' VALID UNTIL ' || quote_literal(rolvaliduntil)) AS role
       FROM pg_authid WHERE oid >= ${USER_OBJECT} ORDER BY oid`,
  );
  for (const { role } of roles) await to.query(`CREATE ROLE ${role}`);
  const { rows: members } = await from.query(
    `SELECT format('%s TO %s%s', m.roleid::regrole, m.member::regrole, CASE WHEN m.admin_option THEN ' WITH ADMIN OPTION' ELSE '' END)
              AS membership
       FROM pg_auth_members m WHERE m.member >= ${USER_OBJECT} OR m.roleid >= ${USER_OBJECT}`,
  );
  for (const { membership } of members) await to.query(`GRANT ${membership}`);
}

/** Copies `ALTER SYSTEM`, and settings of roles and databases. Returns those that the new version does not accept. */
export async function copySettings(from: pg.Client, to: pg.Client): Promise<string[]> {
  const { rows: system } = await from.query<{ name: string; value: string }>(
    `SELECT name, setting AS value FROM pg_file_settings WHERE sourcefile LIKE '%/postgresql.auto.conf' AND setting IS NOT NULL`,
  );
  const { rows: roles } = await from.query<{ owner: string; setting: string }>(
    `SELECT CASE WHEN s.setrole = 0 THEN 'DATABASE ' || quote_ident(d.datname)
                 ELSE 'ROLE ' || s.setrole::regrole || coalesce(' IN DATABASE ' || quote_ident(d.datname), '') END AS owner,
            unnest(s.setconfig) AS setting
       FROM pg_db_role_setting s LEFT JOIN pg_database d ON d.oid = s.setdatabase`,
  );
  const wanted = [
    ...system.map(({ name, value }) => ({ owner: 'SYSTEM', name, value })),
    ...roles.map(({ owner, setting }) => {
      const [name = '', ...value] = setting.split('=');
      return { owner, name, value: value.join('=') };
    }),
  ];
  const refused: string[] = [];
  for (const { owner, name, value } of wanted) {
    const quoted = LIST_SETTINGS.has(name) && value !== '' ? value : to.escapeLiteral(value);
    const identifier = name
      .split('.')
      .map((part) => to.escapeIdentifier(part))
      .join('.');
    await to.query(`ALTER ${owner} SET ${identifier} = ${quoted}`).catch((error: Error) => {
      refused.push(`${owner}: ${name} = ${value} (${error.message})`);
    });
  }
  return refused;
}

/** Every privilege on an object of the schema, except those of its owner, which an owner always has. */
const PRIVILEGES = `
  WITH objects AS (
    SELECT CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END || ' ' || format('%I.%I', n.nspname, c.relname) AS object,
           NULL AS part, c.relowner AS owner,
           coalesce(c.relacl, acldefault((CASE c.relkind WHEN 'S' THEN 's' ELSE 'r' END)::"char", c.relowner)) AS acl
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.oid >= ${USER_OBJECT} AND c.relkind IN ('r', 'p', 'S', 'v')
    UNION ALL
    SELECT 'TABLE ' || format('%I.%I', n.nspname, c.relname), quote_ident(a.attname), c.relowner, a.attacl
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.oid >= ${USER_OBJECT} AND a.attacl IS NOT NULL AND NOT a.attisdropped
    UNION ALL
    SELECT 'FUNCTION ' || p.oid::regprocedure, NULL, p.proowner, coalesce(p.proacl, acldefault('f', p.proowner))
      FROM pg_proc p WHERE p.oid >= ${USER_OBJECT}
    UNION ALL
    SELECT 'SCHEMA ' || quote_ident(nspname), NULL, nspowner, coalesce(nspacl, acldefault('n', nspowner))
      FROM pg_namespace WHERE oid >= ${USER_OBJECT} OR nspname = 'public'
    UNION ALL
    SELECT 'DATABASE ' || quote_ident(datname), NULL, datdba, coalesce(datacl, acldefault('d', datdba))
      FROM pg_database WHERE datname = current_database()
  )
  SELECT o.object, format('%s%s', x.privilege_type, ' (' || o.part || ')') AS privilege,
         CASE WHEN x.grantee = 0 THEN 'PUBLIC' ELSE x.grantee::regrole::text END AS grantee, x.is_grantable
    FROM objects o, aclexplode(o.acl) x WHERE x.grantee <> o.owner`;

type Privilege = { object: string; privilege: string; grantee: string; is_grantable: boolean };

/** Gives every role on the new server exactly the privileges that it had on the old one. */
export async function copyPrivileges(from: pg.Client, to: pg.Client): Promise<void> {
  const list = async (client: pg.Client) => (await client.query<Privilege>(PRIVILEGES)).rows;
  const [wanted, present] = [await list(from), await list(to)];
  const key = (privilege: Privilege) => JSON.stringify(privilege);
  const [wantedKeys, presentKeys] = [new Set(wanted.map(key)), new Set(present.map(key))];
  for (const privilege of present) {
    if (wantedKeys.has(key(privilege))) continue;
    await to.query(`REVOKE ${privilege.privilege} ON ${privilege.object} FROM ${privilege.grantee}`);
  }
  for (const privilege of wanted) {
    if (presentKeys.has(key(privilege))) continue;
    const option = privilege.is_grantable ? ' WITH GRANT OPTION' : '';
    await to.query(`GRANT ${privilege.privilege} ON ${privilege.object} TO ${privilege.grantee}${option}`);
  }
}
