import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../prove/site.ts';
import { caller } from './harness/http.ts';
import { launch, printed, temporaryDirectory } from './harness/service.ts';

const POLL_MS = 2;
const START_MS = 60_000;

for (const processes of ['1', '2']) {
  test(`when /readyz first answers 200, the demonstration company can be used (WEB_CONCURRENCY=${processes})`, async () => {
    const data = await temporaryDirectory();
    after(data.remove);
    const port = await freePort();
    const base = `http://127.0.0.1:${port}`;
    const service = launch({ DATA_DIR: data.path, PORT: String(port), WEB_CONCURRENCY: processes });
    try {
      const greeted = printed(service, /listens on/);
      const seen = new Set<number>();
      const deadline = performance.now() + START_MS;
      for (;;) {
        // Each on a connection of its own, so that it comes to any of the processes.
        const status = await fetch(`${base}/readyz`, { headers: { connection: 'close' } }).then(
          (answer) => answer.status,
          () => 0,
        );
        seen.add(status);
        if (status === 200) break;
        assert.ok(performance.now() < deadline, service.output.join('\n'));
        await pause(POLL_MS);
      }
      const demo = JSON.parse(await readFile(join(data.path, 'demo.json'), 'utf8'));
      assert.equal(demo.base_url, base);
      const answer = await caller(demo.base_url, demo.token).get(`/cases/${demo.case_id}/interactions`);
      assert.equal(answer.status, 200, answer.text);
      // No connection, then not ready.
      assert.deepEqual(
        [...seen].filter((status) => ![0, 503, 200].includes(status)),
        [],
      );
      await greeted;
    } finally {
      service.child.kill();
      await service.ended;
    }
  });
}
