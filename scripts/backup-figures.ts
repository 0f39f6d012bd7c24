import { readdir, stat } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { Deployment } from '../chaos/deployment.ts';
import { launch, type Settings, temporaryDirectory } from '../test/harness/service.ts';

/**
 * Measures the time and the disk space of backup, verify and restore for a large database. GB in the environment sets its
 * size, by default 10; TMPDIR needs some four times as much.
 */

const GIGABYTE = 1e9;
const size = Number(process.env.GB ?? 10) * GIGABYTE;
const ROWS_PER_BATCH = 200_000;
/** Random texts that a compressor does not find again: together they are far larger than its window. */
const TEXTS = 65_536;

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  let bytes = 0;
  for (const file of files) bytes += (await stat(file)).blocks * 512;
  return bytes;
}

async function timed(settings: Settings, ...command: string[]): Promise<number> {
  const startedAt = performance.now();
  const { output, child } = launch(settings, ...command);
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${command.join(' ')}: ${output.join('\n')}`);
  return Math.round((performance.now() - startedAt) / 1000);
}

async function fill(deployment: Deployment): Promise<void> {
  await deployment.sql(
    `CREATE TABLE texts AS SELECT n, (SELECT string_agg(md5(n::text || ':' || m), '') FROM generate_series(1, 35) m) AS text
       FROM generate_series(0, ${TEXTS - 1}) n`,
  );
  await deployment.sql('ALTER TABLE texts ADD PRIMARY KEY (n)');
  for (;;) {
    const [row] = await deployment.sql<{ bytes: string }>(`SELECT pg_database_size('case_records')::text AS bytes`);
    process.stderr.write(`${(Number(row?.bytes) / GIGABYTE).toFixed(1)} GB\n`);
    if (Number(row?.bytes) >= size) break;
    await deployment.sql(
      `INSERT INTO interactions (company_id, case_id, id, type, notes, happened_at, recipient, created_at, updated_at)
       SELECT c.company_id, c.id, gen_random_uuid(), 'phone', t.text, now(), '', now(), now()
         FROM (SELECT company_id, id FROM cases LIMIT 1) c,
              (SELECT floor(random() * ${TEXTS})::int AS n FROM generate_series(1, ${ROWS_PER_BATCH})) r
              JOIN texts t USING (n)`,
    );
  }
  await deployment.sql('CHECKPOINT');
}

const home = await temporaryDirectory();
const dataDir = join(home.path, 'data');
const folder = join(home.path, 'backups');
const restored = join(home.path, 'restored');
const deployment = await Deployment.open({ WORKER_CONCURRENCY: '0' }, dataDir);
try {
  await deployment.start();
  await fill(deployment);
  const rows: Record<string, unknown>[] = [];
  const measure = async (step: string, settings: Settings, command: string[], written: string) => {
    const seconds = await timed(settings, ...command);
    const gigabytes = (await bytesIn(written)) / GIGABYTE;
    rows.push({ step, seconds, 'GB on the disk': gigabytes.toFixed(1), load: loadavg()[0]?.toFixed(1) });
    console.table(rows);
  };
  rows.push({ step: 'database', 'GB on the disk': ((await bytesIn(dataDir)) / GIGABYTE).toFixed(1) });
  await measure('backup create', { DATA_DIR: dataDir }, ['backup', 'create', folder], folder);
  await deployment.stop();
  const [name = ''] = (await readdir(folder)).filter((entry) => /^\d/.test(entry));
  await measure('backup verify', { DATA_DIR: dataDir }, ['backup', 'verify', join(folder, name)], folder);
  await measure('restore', { DATA_DIR: restored }, ['restore', folder], restored);
} finally {
  await deployment.remove();
  await home.remove();
}
