import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { temporaryDataDirectory } from '../harness/data-directory.ts';
import { caller } from '../harness/http.ts';
import { isAlive, type Running, startProcess, writeWhileStopping } from '../harness/service.ts';
import { until } from '../harness/until.ts';

/** WEB_CONCURRENCY: several processes that answer requests on one port, with the bundled database. */

const data = await temporaryDataDirectory('started');
after(data.remove);
const settings = { DATA_DIR: data.path, WEB_CONCURRENCY: '2' };

async function childrenOf({ child }: Running): Promise<number[]> {
  const all = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    all.map(async (pid) => {
      const [stat, command] = await Promise.all(
        ['stat', 'cmdline'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')),
      );
      const parent = Number(stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      return parent === child.pid && command?.includes('web-process') ? Number(pid) : undefined;
    }),
  );
  return found.filter((pid) => pid !== undefined);
}

async function demo() {
  const { base_url, token, case_id } = JSON.parse(await readFile(join(data.path, 'demo.json'), 'utf8'));
  return { ...caller(base_url, token), path: `/cases/${case_id}`, base_url, token };
}

const sampleOf = (text: string, name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
const ANSWERED = 'http_requests_total\\{method="GET",route="/cases/:caseId/interactions",status="200"\\}';

let service: Running;

test('two processes answer on one port, and what they count is told as one', async () => {
  service = await startProcess(settings);
  assert.equal((await childrenOf(service)).length, 2);
  const company = await demo();
  assert.equal(company.base_url, service.url);
  await company.post(`${company.path}/interactions`, { type: 'phone', notes: 'seen by both' });
  // Each request has its own connection, so that both processes get some.
  for (let i = 0; i < 20; i++) assert.equal((await company.get(`${company.path}/interactions`)).body.length, 1);
  for (let i = 0; i < 4; i++) {
    const { text, status } = await company.get('/metrics');
    assert.equal(status, 200);
    assert.equal(sampleOf(text, ANSWERED), 20);
    assert.equal(text.match(/^meetings_due /gm)?.length, 1);
  }
});

test('a process that is killed is replaced, and the others answer meanwhile', async () => {
  const company = await demo();
  const [first = 0, second = 0] = await childrenOf(service);
  process.kill(first, 'SIGKILL');
  let answered = 0;
  await until(async () => {
    const status = await company.get(`${company.path}/interactions`).then(
      (answer) => answer.status,
      () => undefined,
    );
    if (status === 200) answered++;
    const now = await childrenOf(service);
    return now.length === 2 && !now.includes(first);
  });
  assert.ok(answered > 0);
  assert.ok(isAlive(second));
  await until(async () => (await company.get('/readyz')).status === 200);
});

test('a request that is in progress when the signal comes is answered, then all of them end', async () => {
  const { path, token } = await demo();
  const pids = await childrenOf(service);
  assert.equal(await writeWhileStopping(service, `${path}/interactions`, token), 200);
  assert.equal(await service.stop(), 0);
  assert.ok(!pids.some(isAlive));
});

test('if the first process is killed, the others end by themselves', async () => {
  service = await startProcess(settings);
  const pids = await childrenOf(service);
  await service.stop('SIGKILL');
  await until(() => !pids.some(isAlive));
  service = await startProcess(settings);
  assert.equal(await service.stop(), 0);
});
