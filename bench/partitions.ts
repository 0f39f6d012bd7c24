import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { eventStatements, findLastPosition } from '../src/events/statements.sql.ts';
import { migrate, readMigrations } from '../src/kernel/schema/migrations.ts';
import type { Query } from '../src/kernel/sql/statement.ts';
import { startBundledPostgres } from '../src/postgres/bundled-postgres.ts';
import { AUDIT_LOGS } from '../src/server/audit-logs.ts';
import { formatLoad } from './report/machine.ts';
import { formatTable } from './report/table.ts';

/**
 * Measures how much disk an event takes, and how the time of the lists depends on the number of partitions. Each number
 * has a database with the same events: of a record there are five on average, spread over a tenth of the log.
 */

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '4000000' },
    partitions: { type: 'string', default: '1,10,40' },
    samples: { type: 'string', default: '60' },
  },
});
const events = Number(values.events);
const samples = Number(values.samples);
const COMPANIES = 50;
const RECORDS_PER_CASE = 20;
const RECORDS = Math.floor(events / 5);
const MAX_POSITION = String(2n ** 62n);

/** SQL: an identifier of version 7 in the order of the number. */
const id = (prefix: number, number: string) =>
  `(lpad(to_hex(1760000000000 + ${prefix} + (${number}) * 10), 12, '0') || '7' || substr(md5((${number})::text), 1, 3) || '8' || substr(md5((${number})::text), 4, 15))::uuid`;
const company = (record: string) => id(1, `(${record}) / ${RECORDS_PER_CASE} % ${COMPANIES}`);
const inCase = (record: string) => id(2, `(${record}) / ${RECORDS_PER_CASE}`);

const dataDir = await mkdtemp(join(tmpdir(), 'case-records-bench-'));
const postgres = await startBundledPostgres({ dataDir, log: () => {} });
const before = loadavg();
try {
  for (const partitions of values.partitions.split(',').map(Number)) await measurePartitions(partitions);
} finally {
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
}
console.log(`Load average before ${formatLoad(before)}, after ${formatLoad(loadavg())}.`);

async function measurePartitions(partitions: number): Promise<void> {
  const admin = await connect(postgres.connection.database);
  await admin.query(`CREATE DATABASE partitions_${partitions}`);
  await migrate({ ...postgres.connection, database: `partitions_${partitions}` }, await readMigrations());
  const client = await connect(`partitions_${partitions}`);
  await client.query(`SET synchronous_commit = off; SELECT setseed(0.5)`);
  for (let i = 0; i < partitions; i++) {
    if (i > 0) await client.query('SELECT close_event_partition(0)');
    await client.query(
      `INSERT INTO events (company_id, case_id, record_id, type, at, origin, was)
       SELECT ${company('r')}, ${inCase('r')}, ${id(3, 'r')}, 'interaction.updated', now() - make_interval(secs => ${events} - n),
              '{"actor":{"type":"key","id":"01a1e009-459b-7000-86b6-68cb082b9ab1","name":"Reception"},"request_id":"2089cade-8dd9-4084-861d-ef5456facf44"}',
              json_build_object('interactions', json_build_object('id', ${id(3, 'r')}, 'case_id', ${inCase('r')},
                'company_id', ${company('r')}, 'type', 'phone', 'notes', repeat(md5(n::text), 12), 'sender', null, 'recipient', null,
                'happened_at', now(), 'created_at', now(), 'updated_at', now(), 'deleted_at', null, 'version', 1))
         FROM (SELECT n, least(${RECORDS} - 1, floor((n + random() * ${events / 10}) / 5))::bigint AS r
                 FROM generate_series(${Math.floor((events * i) / partitions)}, ${Math.floor((events * (i + 1)) / partitions) - 1}) n) x`,
    );
  }
  await client.query('VACUUM ANALYZE');
  const { rows: sizes } = await client.query(
    `SELECT sum(pg_table_size(partition)) / $1 AS heap, sum(pg_indexes_size(partition)) / $1 AS indexes,
            sum(pg_relation_size(replace(partition::text, '"', '') || '_pkey')) / $1 AS key FROM event_partitions()`,
    [events],
  );
  const [size] = sizes;
  console.log(
    `\n${partitions} partitions, ${events} events: ${Math.round(size.heap)} bytes of heap and ${Math.round(size.indexes)} of indexes per event (key ${Math.round(size.key)})`,
  );
  const statements = eventStatements(AUDIT_LOGS);
  const { rows: picks } = await client.query(
    `SELECT share, ${company('r')} AS company_id, ${inCase('r')} AS case_id, ${id(3, 'r')} AS record_id,
            (SELECT position::text FROM events WHERE company_id = ${company('r')} AND case_id = ${inCase('r')}
                AND record_id = ${id(3, 'r')} ORDER BY position LIMIT 1) AS position
       FROM unnest(ARRAY[0.02, 0.5, 0.95]) share, generate_series(1, ${samples}) i,
            LATERAL (SELECT (share * ${RECORDS} + i * 20)::bigint AS r) x`,
  );
  const page = { bound: MAX_POSITION, limit: 100, types: null };
  const kinds: Record<string, (pick: Pick) => Query> = {
    'events of the company, from the event': (p) =>
      statements.ofCompany({ ...page, company_id: p.company_id, after: p.position }),
    'history of the record': (p) =>
      statements.ofRecord({
        ...page,
        company_id: p.company_id,
        after: '0',
        case_id: p.case_id,
        id: p.record_id,
        record_type: 'interaction',
      }),
    'events of the case': (p) =>
      statements.ofCase({ ...page, company_id: p.company_id, after: '0', case_id: p.case_id }),
    'one event': (p) => statements.one({ company_id: p.company_id, position: p.position }),
    'position of the last event': (p) => findLastPosition({ company_id: p.company_id, bound: MAX_POSITION }),
  };
  const table: string[][] = [];
  for (const [kind, queryOf] of Object.entries(kinds)) {
    for (const share of ['0.02', '0.5', '0.95']) {
      const times: number[] = [];
      let buffers = 0;
      let touched = 0;
      const chosen = picks.filter((p) => p.share === share && p.position !== null);
      for (const pick of chosen) {
        const { statement, values } = queryOf(pick);
        // As the service has its connections.
        await client.query(`SET plan_cache_mode = ${statement.pool === 'search' ? 'auto' : 'force_generic_plan'}`);
        const startedAt = performance.now();
        await client.query({ name: statement.name, text: statement.text, values });
        times.push(performance.now() - startedAt);
      }
      for (const pick of chosen.slice(0, 5)) {
        const { statement, values } = queryOf(pick);
        const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement.text}`, values);
        const plan = rows[0]['QUERY PLAN'][0].Plan;
        buffers += (plan['Shared Hit Blocks'] + plan['Shared Read Blocks']) / 5;
        touched += probes(plan) / 5;
      }
      times.sort((a, b) => a - b);
      const ms = (part: number) => (times[Math.floor(times.length * part)] ?? Number.NaN).toFixed(2);
      table.push([kind, share, ms(0.5), ms(0.95), buffers.toFixed(0), touched.toFixed(0)]);
    }
  }
  console.log(formatTable(['Statement', 'age', 'p50 ms', 'p95 ms', 'pages', 'index scans'], table));
  await client.end();
  await admin.query(`DROP DATABASE partitions_${partitions}`);
  await admin.end();
}

type Pick = { share: string; company_id: string; case_id: string; record_id: string; position: string };
type Plan = { 'Actual Loops': number; 'Node Type': string; 'Relation Name'?: string; Plans?: Plan[] };

/** How many index scans of partitions the plan has made. */
function probes(plan: Plan): number {
  const own = plan['Relation Name']?.startsWith('events') ? plan['Actual Loops'] : 0;
  return (plan.Plans ?? []).reduce((sum, part) => sum + probes(part), own);
}

async function connect(database: string): Promise<pg.Client> {
  const client = new pg.Client({ ...postgres.connection, database });
  await client.connect();
  return client;
}
