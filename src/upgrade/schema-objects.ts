import type pg from 'pg';
import { UpgradeError } from './upgrade-error.ts';

/**
 * Everything that a database contains beside its rows, one line for each object, in the same words on each server. The
 * new schema is made by the migrations, so what somebody has added to the old one by hand would be missing.
 */

// The first number of an object that is not PostgreSQL's own.
const USER_OBJECT = 16_384;
const RELATION = `format('%I.%I', n.nspname, c.relname)`;
/** Extensions bring objects of their own, and are lines themselves. */
const NOT_OF_EXTENSION = (catalog: string, alias: string) =>
  `NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = '${catalog}'::regclass AND d.objid = ${alias}.oid AND d.deptype = 'e')`;

/** Constraints and indexes that a partition has from its parent may have other names, so they are left out. */
const OBJECTS = `
  SELECT CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'table' WHEN 'S' THEN 'sequence' WHEN 'v' THEN 'view'
           WHEN 'm' THEN 'materialized view' ELSE 'relation' END || ' ' || ${RELATION} || ', persistence ' || c.relpersistence::text
         || ', owner ' || c.relowner::regrole || coalesce(' ' || pg_get_expr(c.relpartbound, c.oid), '')
         || coalesce(' partitioned by ' || pg_get_partkeydef(c.oid), '')
         || CASE WHEN c.relrowsecurity THEN ' row security' ELSE '' END || coalesce(' ' || c.reloptions::text, '')
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE c.oid >= ${USER_OBJECT} AND c.relkind NOT IN ('i', 'I', 't', 'c') AND ${NOT_OF_EXTENSION('pg_class', 'c')}
  UNION ALL
  SELECT 'column ' || ${RELATION} || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
         || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END || coalesce(' ' || a.attgenerated::text || a.attidentity::text
         || ' ' || pg_get_expr(f.adbin, f.adrelid), '')
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef f ON f.adrelid = c.oid AND f.adnum = a.attnum
   WHERE c.oid >= ${USER_OBJECT} AND c.relkind IN ('r', 'p', 'c') AND ${NOT_OF_EXTENSION('pg_class', 'c')}
  UNION ALL
  SELECT 'constraint ' || k.conname || ' on ' || ${RELATION} || ' ' || pg_get_constraintdef(k.oid)
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE k.oid >= ${USER_OBJECT} AND k.contype <> 'n' AND k.conparentid = 0 AND NOT (c.relispartition AND k.coninhcount > 0)
  UNION ALL
  SELECT 'index ' || pg_get_indexdef(x.indexrelid) || CASE WHEN x.indisvalid THEN '' ELSE ' invalid' END
    FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
   WHERE x.indexrelid >= ${USER_OBJECT} AND c.relkind IN ('r', 'p', 'm') AND NOT i.relispartition
     AND NOT (c.relispartition AND EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = x.indexrelid))
  UNION ALL
  SELECT 'trigger ' || pg_get_triggerdef(t.oid) || ' ' || t.tgenabled::text
    FROM pg_trigger t WHERE t.oid >= ${USER_OBJECT} AND NOT t.tgisinternal AND t.tgparentid = 0
  UNION ALL
  SELECT 'function ' || p.oid::regprocedure || ' ' || md5(coalesce(p.prosrc, '')) || ' ' || p.provolatile::text || p.prosecdef::text
         || ' ' || coalesce(p.proconfig::text, '') || ' owner ' || p.proowner::regrole
    FROM pg_proc p WHERE p.oid >= ${USER_OBJECT} AND ${NOT_OF_EXTENSION('pg_proc', 'p')}
  UNION ALL
  SELECT 'statistics ' || pg_get_statisticsobjdef(s.oid) FROM pg_statistic_ext s
  UNION ALL
  SELECT 'type ' || y.oid::regtype FROM pg_type y
   WHERE y.oid >= ${USER_OBJECT} AND y.typtype IN ('e', 'd', 'r', 'm') AND ${NOT_OF_EXTENSION('pg_type', 'y')}
  UNION ALL
  SELECT 'schema ' || nspname || ' owner ' || nspowner::regrole FROM pg_namespace WHERE oid >= ${USER_OBJECT}
     AND nspname !~ '^pg_(toast_)?temp_'
  UNION ALL SELECT 'extension ' || extname FROM pg_extension WHERE oid >= ${USER_OBJECT}
  UNION ALL SELECT 'policy ' || polname || ' on ' || polrelid::regclass FROM pg_policy
  UNION ALL SELECT 'rule ' || rulename || ' on ' || ev_class::regclass FROM pg_rewrite WHERE oid >= ${USER_OBJECT}
  UNION ALL SELECT 'publication ' || pubname FROM pg_publication
  UNION ALL SELECT 'event trigger ' || evtname FROM pg_event_trigger
  UNION ALL SELECT 'foreign server ' || srvname FROM pg_foreign_server
  UNION ALL SELECT 'operator ' || oid::regoperator FROM pg_operator WHERE oid >= ${USER_OBJECT}
  UNION ALL SELECT 'cast ' || castsource::regtype || ' to ' || casttarget::regtype FROM pg_cast WHERE oid >= ${USER_OBJECT}
  UNION ALL SELECT 'collation ' || collname FROM pg_collation WHERE oid >= ${USER_OBJECT}
  UNION ALL SELECT 'text search configuration ' || cfgname FROM pg_ts_config WHERE oid >= ${USER_OBJECT}
  UNION ALL SELECT 'default privileges of ' || defaclrole::regrole FROM pg_default_acl
  UNION ALL SELECT 'large object ' || oid FROM pg_largeobject_metadata
  UNION ALL SELECT 'database ' || datname FROM pg_database WHERE datname NOT IN (current_database(), 'postgres', 'template0', 'template1')
  UNION ALL SELECT 'tablespace ' || spcname FROM pg_tablespace WHERE oid >= ${USER_OBJECT}`;

const MAX_NAMED = 10;

/** Throws if the old database has an object that the new one lacks, or that differs there. */
export async function assertSameObjects(from: pg.Client, to: pg.Client): Promise<void> {
  const present = new Set(await listObjects(to));
  const missing = (await listObjects(from)).filter((line) => !present.has(line));
  if (missing.length === 0) return;
  const more = missing.length > MAX_NAMED ? `\nand ${missing.length - MAX_NAMED} more` : '';
  throw new UpgradeError(
    'The database contains what its migrations have not created, and the upgrade would lose it. Remove it with the old ' +
      `version, and create it again afterwards:\n${missing.slice(0, MAX_NAMED).join('\n')}${more}`,
  );
}

async function listObjects(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(
    `SELECT line FROM (${OBJECTS}) AS objects (line) ORDER BY line`,
  );
  return rows.map(({ line }) => line);
}
