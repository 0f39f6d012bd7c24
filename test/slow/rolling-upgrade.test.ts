import assert from 'node:assert/strict';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { emptyResults, passed } from '../../chaos/chaos-test.ts';
import { type Demo, Deployment } from '../../chaos/deployment.ts';
import { HttpClient } from '../../chaos/http-client.ts';
import { WriteLoad } from '../../chaos/write-load.ts';
import { WriteVerifier } from '../../chaos/write-verifier.ts';
import { connectClient } from '../../src/kernel/database/connect.ts';
import type { Connection } from '../../src/kernel/database/database.ts';
import { startBundledPostgres } from '../../src/postgres/bundled-postgres.ts';
import { makeDataDirectory } from '../harness/data-directory.ts';
import { installRelease, launchRelease, PREVIOUS_RELEASE_COMMIT } from '../harness/earlier-release.ts';
import { freePort } from '../harness/free-port.ts';
import { launch, printed, temporaryDirectory, urlOf } from '../harness/service.ts';
import { randomFrom } from '../harness/simulated-year.ts';
import { converse, openSpeaker } from '../harness/specified-conversation.ts';
import { until } from '../harness/until.ts';

const CALLERS = 4;
const WRITES_PER_PHASE = 150;
const POLL_MS = 25;
/** Operations of management may answer 503 until the migrations of this release are applied. */
const MAY_WAIT = new Set(['customer', 'adviser', 'webhook_endpoint']);
const SEED = Number(process.env.SEED ?? 20261119);

/** The services end before their database, and that before its folder. */
const cleanups: (() => Promise<void>)[] = [];
after(async () => {
  for (const cleanUp of cleanups.reverse()) await cleanUp();
});

/** Polls `/readyz` of all services, and keeps every answer other than 200. */
async function watchReadiness(urls: readonly string[], faults: string[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const url of urls) {
      const answer = await fetch(`${url}/readyz`).catch((error: Error) => error.message);
      if (typeof answer === 'string' || answer.status !== 200) {
        faults.push(`${url}: ${typeof answer === 'string' ? answer : `${answer.status} ${await answer.text()}`}`);
      }
    }
    await pause(POLL_MS);
  }
}

test('the previous release and this one work side by side before, during and after the migrations', async (t) => {
  const home = await temporaryDirectory();
  cleanups.push(home.remove);
  const [release, oldData, newData] = ['release', 'old', 'new'].map((name) => join(home.path, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [release, oldData, newData]) await mkdir(folder);
  // It works on the PostgreSQL of this release.
  const obstacle = await installRelease(PREVIOUS_RELEASE_COMMIT, release, '--omit=optional');
  if (obstacle) return t.skip(obstacle);

  const dataDir = join(home.path, 'database');
  await makeDataDirectory('initialised', dataDir);
  const server = await startBundledPostgres({ dataDir, log: () => {} });
  cleanups.push(() => server.stop());
  const owner = await connectClient(server.connection, 'test');
  await owner.query('CREATE ROLE records_service LOGIN');
  await owner.end();
  const service = urlOf({ ...server.connection, user: 'records_service' });
  const roles = { DATABASE_OWNER_URL: urlOf(server.connection), DATABASE_URL: service };
  const oldPort = String(await freePort());
  const oldSettings = { DATABASE_URL: service, DATA_DIR: oldData, PORT: oldPort, WORKER_CONCURRENCY: '8' };

  const firstMigration = launchRelease(release, roles, 'migrate');
  assert.equal(await firstMigration.ended(), 0, firstMigration.output.join('\n'));
  const old = launchRelease(release, oldSettings, 'serve');
  cleanups.push(async () => void old.child.kill('SIGKILL'));
  await printed(old, /listens on/);
  const demos = ['demo.json', 'one.json', 'other.json'].map((name) => join(oldData, name));
  for (const file of demos) {
    const demoed = launchRelease(release, oldSettings, 'demo', '--file', file);
    assert.equal(await demoed.ended(), 0, demoed.output.join('\n'));
  }

  // Without the owner's rights, so that it meets the schema as the previous release left it.
  const today = await Deployment.open({ DATABASE_URL: service, WORKER_CONCURRENCY: '8' }, newData);
  cleanups.push(() => today.remove());
  await today.start();

  const urls = [`http://127.0.0.1:${oldPort}`, today.url];
  const faults: string[] = [];
  const watching = new AbortController();
  const watched = watchReadiness(urls, faults, watching.signal);
  const oldDeployment = await Deployment.open({ DATABASE_URL: service }, oldData);
  const demo = await oldDeployment.readDemo();
  const client = new HttpClient(urls, demo.token);
  const results = emptyResults();
  const load = new WriteLoad(client, demo, results, randomFrom(SEED), 'roll-');
  load.start(CALLERS);
  const acknowledgeMore = () => {
    const enough = load.acknowledgedAt.length + WRITES_PER_PHASE;
    return until(() => load.acknowledgedAt.length >= enough || undefined, 'more writes to be acknowledged', 60_000);
  };

  const companies = await Promise.all(demos.slice(1).map(async (file) => JSON.parse(await readFile(file, 'utf8'))));
  const compare = (conversation: 0 | 1, when: string) =>
    t.test(`the twelve operations answer byte for byte as in the previous release, ${when}`, async () => {
      const agent = new Agent({ keepAlive: true });
      const [before, now] = await Promise.all(
        companies.map(async ({ token, advisers }: Demo, i) => {
          const adviser = advisers[1]?.email ?? '';
          const foreignCase = companies[1 - i].case_id;
          const speaker = await openSpeaker({ url: urls[0] ?? '', agent, token, adviser }, foreignCase);
          return converse({ ...speaker, url: urls[i] ?? '' }, conversation);
        }),
      );
      agent.destroy();
      const differences = now?.flatMap((exchange, i) =>
        isDeepStrictEqual(exchange, before?.[i]) ? [] : [exchange, before?.[i]],
      );
      assert.deepEqual(differences, []);
      t.diagnostic(`${now?.length} requests to each, ${when}`);
    });

  await acknowledgeMore();
  await compare(0, 'before the migrations');
  const migration = launch(roles, 'migrate');
  assert.equal(await migration.ended(), 0, migration.output.join('\n'));
  t.diagnostic(migration.output.join(', '));
  await compare(1, 'after the migrations');
  await acknowledgeMore();

  const writes = await load.stop();
  watching.abort();
  await watched;
  assert.deepEqual(faults, [], '/readyz of both is always 200');
  const unanswered = writes.filter(({ response, kind }) => response === undefined && !MAY_WAIT.has(kind.record));
  assert.deepEqual(
    unanswered.map(({ kind, stamp }) => `${kind.name} ${stamp}`),
    [],
    'every write of a record of a case is answered with 200',
  );
  await new WriteVerifier(today, client, demo, results).check(load);
  client.close();
  const failures = [old, today.service]
    .flatMap((process) => process?.output ?? [])
    .filter((line) => line.includes('"err"'));
  assert.ok(passed({ ...results, timingFaults: [] }), JSON.stringify({ ...results, failures }, null, 2));

  old.child.kill('SIGTERM');
  assert.equal(await old.ended(), 0, old.output.join('\n'));
  assert.equal(await today.stop(), 0);
  const outboxes = await Promise.all(
    [oldData, newData].map((folder) => readdir(join(folder, 'outbox')).catch(() => [])),
  );
  const sent = outboxes.flat();
  assert.equal(new Set(sent).size, sent.length, 'no message went out twice');
  assert.equal(sent.length, await countSent(server.connection), 'every message that counts as sent went out');
  t.diagnostic(
    `${writes.length} writes, ${sent.length} messages: ${outboxes.map(({ length }) => length).join(' and ')}`,
  );
});

async function countSent(connection: Connection): Promise<number> {
  const client = await connectClient(connection, 'test');
  try {
    const { rows } = await client.query(`SELECT count(*)::int AS sent FROM messages WHERE state = 'sent'`);
    return rows[0].sent;
  } finally {
    await client.end();
  }
}
