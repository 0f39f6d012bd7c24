import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type pg from 'pg';
import { type Dataset, restoreAppointments, splitRecords } from '../dataset.ts';
import type { Environment } from '../environment.ts';
import type { DriveResult } from '../load/driver.ts';
import { openHttpSender } from '../load/sender.ts';
import { OPERATIONS, type Operation } from '../operations.ts';
import { type LoadGenerator, startService } from '../servers.ts';
import type { CapturedStatement } from './capture.ts';
import { type SampledStatement, sampleStatements, toPgbenchSql, toScript } from './scripts.ts';

/**
 * pgbench as a load generator: it sends the statements of the service to the database, without a server between. The
 * statements and their values are captured from a service that runs for this purpose.
 */

const CAPTURE_MODULE = new URL('./capture.ts', import.meta.url).href;
const run = promisify(execFile);
/** Statements are planned as in the service. */
const SESSION_OPTIONS = '-c plan_cache_mode=force_generic_plan -c jit=off';
/** Of each operation. No two clients send the same sample. */
const SAMPLES_PER_CONNECTION = 16;
/** Far above the numbers of all other requests, and with other times of appointments, which repeat every 500,000. */
const FIRST_REQUEST_NUMBER = 2_000_250_000;
/** Each sample can be deleted once per round. */
const MAX_CONSUMED_SAMPLES = 4_096;

/** Time for all clients to connect and to prepare their statements. */
const PREPARING_SECONDS = 1;

type PreparedScript = { file: string; samples: number };

export type Pgbench = LoadGenerator & {
  /** Sends one request, to check what it changes. */
  sendOne(operation: string): Promise<void>;
};

/** Returns undefined if pgbench is not installed. */
export async function startPgbench(
  environment: Environment,
  dataset: Dataset,
  { operations, connections }: { operations: readonly string[]; connections: number },
): Promise<Pgbench | undefined> {
  const isInstalled = await run('pgbench', ['--version']).then(
    () => true,
    () => false,
  );
  if (!isInstalled) return undefined;
  const { connection, dataDir, client } = environment;
  const folder = join(dataDir, 'pgbench');
  await mkdir(folder);
  const scripts = new Map<string, PreparedScript>();
  const captureFile = join(folder, 'captured.jsonl');
  const service = await startService(connection, {
    dataDir,
    flags: ['--import', CAPTURE_MODULE],
    settings: { BENCH_CAPTURE_FILE: captureFile },
  });
  try {
    // The records of requests with If-Match stay as they are.
    const [plainDataset] = splitRecords(dataset);
    for (const operation of OPERATIONS.filter(({ id }) => operations.includes(id))) {
      const startedAt = Date.now();
      const count = operation.consumes ? MAX_CONSUMED_SAMPLES : connections * SAMPLES_PER_CONNECTION;
      const requests = await capture(operation, plainDataset, count, service.port, captureFile);
      const sampled = sampleStatements(requests);
      const sql: string[] = [];
      for (const [i, statement] of sampled.entries()) {
        const table = `pgbench_${operation.id.toLowerCase()}_${i}`;
        await storeSamples(client, table, statement);
        sql.push(toPgbenchSql(statement, table, startedAt));
      }
      const file = join(folder, `${operation.id}.sql`);
      await writeFile(file, toScript(sql));
      scripts.set(operation.id, { file, samples: sampled[0]?.samples.length ?? 0 });
    }
  } finally {
    await service.stop();
  }
  await restoreAppointments(client);
  let drives = 0;
  const execute = async (id: string, connections: number, limit: string[]): Promise<DriveResult> => {
    const { file, samples } = scripts.get(id) as PreparedScript;
    const prefix = join(folder, `log-${drives++}`);
    const clients = Math.min(connections, samples);
    const perClient = Math.floor(samples / clients);
    const variables = { i: -1, clients, samples: perClient * clients, first_shift: drives * 1000 };
    const args = [
      ...['-n', '-M', 'prepared', '-c', String(clients), '-f', file, '-l', '--log-prefix', prefix],
      ...(limit.length > 0 ? limit : ['-t', String(perClient)]),
      ...Object.entries(variables).flatMap(([name, value]) => ['-D', `${name}=${value}`]),
    ];
    const { host, user, database } = connection;
    const env = { ...process.env, PGHOST: host, PGUSER: user, PGDATABASE: database, PGOPTIONS: SESSION_OPTIONS };
    const { stderr } = await run('pgbench', args, { env });
    // It ends a client whose statement failed, and goes on with the others.
    if (/aborted|ERROR/.test(stderr)) throw new Error(`pgbench failed: ${stderr.slice(0, 1000)}`);
    return readLog(folder, prefix);
  };
  return {
    pid: undefined,
    prepare: async () => {},
    drive: ({ operation: id, connections, seconds }) => {
      const { consumes } = OPERATIONS.find((operation) => operation.id === id) as Operation;
      const sendsEachOnce = consumes || seconds < 1;
      return execute(id, connections, sendsEachOnce ? [] : ['-T', String(Math.ceil(seconds) + PREPARING_SECONDS)]);
    },
    sendOne: async (id) => void (await execute(id, 1, ['-t', '1'])),
    stop: async () => {},
  };
}

/** Sends requests one by one, and returns the statements of each. */
async function capture(
  operation: Operation,
  dataset: Dataset,
  maxCount: number,
  port: number,
  file: string,
): Promise<CapturedStatement[][]> {
  const count = Math.min(maxCount, operation.changes ? dataset[operation.changes].length : Infinity);
  const sender = await openHttpSender(port);
  const requests: CapturedStatement[][] = [];
  for (let n = 0; n < count; n++) {
    await writeFile(file, '');
    const { status, text } = await sender.send([
      { request: operation.request(dataset, FIRST_REQUEST_NUMBER + n), headers: {} },
    ]);
    if (status !== 200) throw new Error(`${operation.name}: the service answered ${status}: ${text()}`);
    const lines = (await readFile(file, 'utf8')).trim().split('\n');
    requests.push(lines.map((line) => JSON.parse(line) as CapturedStatement));
  }
  sender.close();
  return requests;
}

async function storeSamples(client: pg.Client, table: string, { samples }: SampledStatement): Promise<void> {
  const columns = samples[0]?.map((_value, i) => `v${i + 1}`) ?? [];
  await client.query(`CREATE TABLE ${table} (n int PRIMARY KEY, ${columns.map((name) => `${name} text`).join(', ')})`);
  await client.query(
    `INSERT INTO ${table}
     SELECT (s.n - 1)::int, ${columns.map((_name, i) => `s.row ->> ${i}`).join(', ')}
       FROM json_array_elements($1) WITH ORDINALITY AS s (row, n)`,
    [JSON.stringify(samples)],
  );
  await client.query(`VACUUM ANALYZE ${table}`);
}

/**
 * Reads the log of pgbench: a line per request with the client, its time in microseconds and when it ended. What counts
 * is the time in which all clients sent: each has prepared its statements, and none has ended.
 */
async function readLog(folder: string, prefix: string): Promise<DriveResult> {
  const files = (await readdir(folder))
    .map((name) => join(folder, name))
    .filter((path) => path.startsWith(`${prefix}.`));
  const texts = await Promise.all(files.map((path) => readFile(path, 'utf8')));
  await Promise.all(files.map((path) => rm(path)));
  const requests = texts
    .flatMap((text) => text.trim().split('\n'))
    .map((line) => line.split(' ').map(Number) as [number, number, number, number, number, number])
    .map(([client, , micros, , seconds, rest]) => ({ client, ms: micros / 1000, endedAt: seconds + rest / 1e6 }));
  const byClient = Map.groupBy(requests, ({ client }) => client).values();
  const bounds = [...byClient].map((own) => own.map(({ endedAt }) => endedAt).sort((a, b) => a - b));
  const from = Math.max(...bounds.map((ends) => ends[0] ?? 0));
  const to = Math.min(...bounds.map((ends) => ends.at(-1) ?? 0));
  const inAll = requests.filter(({ endedAt }) => endedAt > from && endedAt <= to);
  // In a very short run, one client may end before another has begun.
  const counted = inAll.length > 0 ? inAll : requests;
  const latencies = counted.map(({ ms }) => ms).sort((a, b) => a - b);
  const quantile = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  const ends = counted.map(({ endedAt }) => endedAt);
  const seconds = inAll.length > 0 ? to - from : Math.max(...ends) - Math.min(...ends) + (latencies[0] ?? 0) / 1000;
  return { requests: counted.length, seconds, p50: quantile(0.5), p99: quantile(0.99) };
}
