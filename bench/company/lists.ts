import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { pino } from 'pino';
import { keepInvoiceSums } from '../../src/cases/invoices/sums/keeping.ts';
import { Database } from '../../src/kernel/database/database.ts';
import { systemClock } from '../../src/kernel/time/time.ts';
import type { ServerConnection } from '../../src/postgres/bundled-postgres.ts';
import { openEnvironment } from '../environment.ts';
import { formatLoad } from '../report/machine.ts';
import { Progress } from '../report/progress.ts';
import { toSpread } from '../report/summary.ts';
import { formatTable } from '../report/table.ts';
import { type Server, startService } from '../servers.ts';
import { cpuSecondsOfTree } from '../usage.ts';
import { COMPANIES, seedLargeCompany, sizeAt } from './seed.ts';

/** Measures the lists of a large company, and of the same company with a hundredth of the records, in turns. */

const MAX_RATIO = 1.5;
const SMALLER = 0.01;

const { values } = parseArgs({
  options: {
    scale: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '7' },
    requests: { type: 'string', default: '20' },
    /** Only the lists whose names begin with this. */
    only: { type: 'string', default: '' },
  },
});
const [scale, rounds, requests] = [Number(values.scale), Number(values.rounds), Number(values.requests)];

const REQUESTS: Readonly<Record<string, string>> = {
  cases: '/cases?limit=20',
  'cases by last update': '/cases?sort=-updated_at&limit=20',
  'open cases': '/cases?state=open&limit=20',
  interactions: '/interactions',
  'interactions, oldest first': '/interactions?sort=when',
  'interactions of a type': '/interactions?type=letter',
  'interactions of a month': '/interactions?from=2025-01-01%2000:00&to=2026-01-01%2000:00',
  invoices: '/invoices',
  'invoices by creation': '/invoices?sort=-date_created',
  'invoices in part paid': '/invoices?status=Part%20Paid&limit=20',
  'overdue invoices': '/invoices?overdue=true&sort=date_due',
  appointments: '/appointments',
  'appointments, cancelled': '/appointments?outcome=cancelled&sort=-start_time',
  'appointments of an adviser': '/appointments?adviser_email=adviser-3@company.example&limit=20',
  'address book': '/address-book',
  'address book by name': '/address-book?name=smi',
  'address book by email': '/address-book?email=john.&limit=10',
  'address book by phone': '/address-book?phone=07400%20123456',
  'address book by tag': '/address-book?tag=vip-client',
  'sums of invoices': '/invoices/sums',
};
const measured = Object.entries(REQUESTS).filter(([name]) => name.startsWith(values.only));

type Cost = { cpuMs: number; ms: number };

const progress = new Progress(measured.length * rounds);
const before = loadavg();
const clients: pg.Client[] = [];
const environment = await openEnvironment({
  companies: COMPANIES,
  seed: async (client, companies) => {
    await client.query('CREATE DATABASE large TEMPLATE case_records');
    const large = new pg.Client({ host: client.host, user: client.user ?? '', database: 'large' });
    await large.connect();
    clients.push(large);
    await seedLargeCompany(client, companies, sizeAt(scale * SMALLER), () => {});
    await seedLargeCompany(large, companies, sizeAt(scale), (step) => progress.say(`Seeding ${step} …`));
  },
});
try {
  const { connection, dataDir, databasePid, companies } = environment;
  const start = async (database: string) => {
    await keepSums({ ...connection, database });
    return environment.use(await startService({ ...connection, database }, { dataDir }));
  };
  const [small, large] = [await start(connection.database), await start('large')];
  const headers = { authorization: `Bearer ${companies[0]?.token}` };
  const measure = async ({ pid, port }: Server, path: string): Promise<Cost> => {
    const cpuSeconds = () => (cpuSecondsOfTree(pid) ?? Number.NaN) + (cpuSecondsOfTree(databasePid) ?? Number.NaN);
    const [cpu, startedAt] = [cpuSeconds(), performance.now()];
    for (let i = 0; i < requests; i++) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
      const text = await response.text();
      if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    }
    return { cpuMs: ((cpuSeconds() - cpu) * 1000) / requests, ms: (performance.now() - startedAt) / requests };
  };
  const rows: string[][] = [];
  for (const [name, path] of measured) {
    const costs: { small: Cost; large: Cost }[] = [];
    for (const server of [small, large]) await measure(server, path);
    for (let round = 1; round <= rounds; round++) {
      progress.step(name, `round ${round}`);
      const first = await measure(round % 2 === 0 ? small : large, path);
      const second = await measure(round % 2 === 0 ? large : small, path);
      costs.push(round % 2 === 0 ? { small: first, large: second } : { small: second, large: first });
    }
    const median = (of: (cost: (typeof costs)[number]) => number) => toSpread(costs.map(of)).median;
    const ratio = median((cost) => cost.large.cpuMs / cost.small.cpuMs);
    const misses = ratio > MAX_RATIO;
    if (misses) process.exitCode = 1;
    rows.push([
      name,
      `${ratio.toFixed(2)}${misses ? ' *' : ''}`,
      median((cost) => cost.large.ms / cost.small.ms).toFixed(2),
      median((cost) => cost.large.cpuMs).toFixed(1),
      median((cost) => cost.small.cpuMs).toFixed(1),
      median((cost) => cost.large.ms).toFixed(1),
      median((cost) => cost.small.ms).toFixed(1),
    ]);
  }
  progress.end();
  console.log(formatTable(['List', 'CPU ratio', 'time ratio', 'CPU ms', 'a hundredth', 'ms', 'a hundredth'], rows));
  console.log(`\n* more than ${MAX_RATIO}. Load average before ${formatLoad(before)}, after ${formatLoad(loadavg())}.`);
} finally {
  for (const client of clients) await client.end();
  await environment.close();
}

/** Does what a worker does, which the services of the bench lack. */
async function keepSums(connection: ServerConnection): Promise<void> {
  const db = new Database({ connection, poolSize: 1 });
  const startedAt = performance.now();
  await keepInvoiceSums({ db, clock: systemClock, logger: pino({ level: 'silent' }) });
  progress.say(`Building the sums of invoices took ${Math.round(performance.now() - startedAt)} ms.`);
  await db.close();
}
