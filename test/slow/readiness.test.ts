import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { childrenOf, commandOf, kill } from '../../chaos/deployment.ts';
import { freePort } from '../harness/free-port.ts';
import { caller } from '../harness/http.ts';
import { launch, MAX_START_MS, printed, temporaryDirectory } from '../harness/service.ts';

const POLL_MS = 10;

/** Polls from the beginning, each time on a new connection, which any of the processes may get. */
async function untilReady(base: string): Promise<void> {
  const deadline = performance.now() + MAX_START_MS;
  for (;;) {
    const status = await fetch(`${base}/readyz`, { headers: { connection: 'close' } }).then(
      (answer) => answer.status,
      () => undefined,
    );
    if (status === 200) return;
    assert.ok(status === undefined || status === 503, `status ${status}`);
    assert.ok(performance.now() < deadline, `not ready within ${MAX_START_MS} ms`);
    await pause(POLL_MS);
  }
}

for (const processes of ['1', '2']) {
  test(`when /readyz first answers 200, the demonstration company can be used (WEB_CONCURRENCY=${processes})`, async () => {
    const data = await temporaryDirectory();
    after(data.remove);
    const port = await freePort();
    const base = `http://127.0.0.1:${port}`;
    const service = launch({ DATA_DIR: data.path, PORT: String(port), WEB_CONCURRENCY: processes });
    try {
      const greeted = printed(service, /listens on/);
      await untilReady(base);
      const demo = JSON.parse(await readFile(join(data.path, 'demo.json'), 'utf8'));
      assert.equal(demo.base_url, base);
      const answer = await caller(demo.base_url, demo.token).get(`/cases/${demo.case_id}/interactions`);
      assert.equal(answer.status, 200, answer.text);
      await greeted;
      // A replacement process does not wait for the start, which was already complete.
      const children = await childrenOf(service.child.pid as number);
      const commands = await Promise.all(children.map(commandOf));
      const web = children.filter((_, i) => commands[i]?.includes('web-process'));
      assert.equal(web.length, processes === '1' ? 0 : 2);
      for (const pid of web) kill(pid);
      await untilReady(base);
    } finally {
      service.child.kill();
      await service.ended();
    }
  });
}
