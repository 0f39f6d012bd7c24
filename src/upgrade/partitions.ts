import type pg from 'pg';
import { UpgradeError } from './upgrade-error.ts';

/** A partition as a statement that creates it, and the statements for what it has beside what its parent gives it. */
type Partition = { name: string; creation: string; additions: string[]; isNested: boolean };

/** The service may create partitions while it runs, so those of the migrations are replaced by those of the data. */
export async function copyPartitions(from: pg.Client, to: pg.Client): Promise<void> {
  for (const { name } of await listPartitions(to)) await to.query(`DROP TABLE ${name}`);
  for (const { name, creation, additions, isNested } of await listPartitions(from)) {
    if (isNested) throw new UpgradeError(`${name} is a partition with partitions of its own, which is not supported.`);
    for (const statement of [creation, ...additions]) await to.query(statement);
  }
}

async function listPartitions(client: pg.Client): Promise<Partition[]> {
  const { rows } = await client.query<Partition>(
    `SELECT t.name, c.relkind = 'p' AS "isNested",
            format('CREATE TABLE %s PARTITION OF %s %s%s', t.name, i.inhparent::regclass,
                   pg_get_expr(c.relpartbound, c.oid), ' WITH (' || array_to_string(c.reloptions, ', ') || ')') AS creation,
            ARRAY(
              SELECT format('ALTER TABLE %s ADD CONSTRAINT %I %s', t.name, k.conname, pg_get_constraintdef(k.oid))
                FROM pg_constraint k
               WHERE k.conrelid = c.oid AND k.contype <> 'n' AND k.conparentid = 0 AND k.coninhcount = 0
              UNION ALL
              SELECT pg_get_indexdef(x.indexrelid) FROM pg_index x JOIN pg_class ic ON ic.oid = x.indexrelid
               WHERE x.indrelid = c.oid AND NOT ic.relispartition
                 AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = x.indexrelid)
              UNION ALL
              SELECT pg_get_triggerdef(g.oid) FROM pg_trigger g
               WHERE g.tgrelid = c.oid AND NOT g.tgisinternal AND g.tgparentid = 0
              UNION ALL
              SELECT pg_get_statisticsobjdef(s.oid) FROM pg_statistic_ext s WHERE s.stxrelid = c.oid
            ) AS additions
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_inherits i ON i.inhrelid = c.oid,
            format('%I.%I', n.nspname, c.relname) AS t (name)
      WHERE c.relispartition AND c.relkind IN ('r', 'p') ORDER BY t.name`,
  );
  return rows;
}
