import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { connectClient } from '../../src/kernel/database/connect.ts';
import { startBundledPostgres } from '../../src/postgres/bundled-postgres.ts';
import { FILL_INTERACTIONS } from '../harness/bodies.ts';
import { commandOutput } from '../harness/command-line.ts';
import { makeDataDirectory } from '../harness/data-directory.ts';
import { caller } from '../harness/http.ts';
import { startProcess, temporaryDirectory, urlOf } from '../harness/service.ts';

test('100,000 interactions in one case do not move the process by more than 50 MB', async () => {
  const home = await temporaryDirectory();
  const dataDir = join(home.path, 'database');
  await makeDataDirectory('migrated', dataDir);
  const server = await startBundledPostgres({ dataDir, log: () => {} });
  const service = await startProcess({ DATABASE_URL: urlOf(server.connection), WORKER_CONCURRENCY: '0' });
  try {
    const DATABASE_URL = urlOf(server.connection);
    const companyId = await commandOutput({ DATABASE_URL }, 'company', 'create', '--name', 'Long', '--only', 'id');
    const caseId = await commandOutput({ DATABASE_URL }, 'case', 'create', '--reference', 'Long', '--only', 'id');
    const scope = ['--scope', 'interactions:read', '--only', 'key'];
    const token = await commandOutput({ DATABASE_URL }, 'key', 'create', '--name', 'reader', ...scope);
    const client = await connectClient(server.connection, 'test');
    await client.query(FILL_INTERACTIONS, [companyId, caseId, 100_000]);
    await client.end();
    const company = caller(service.url, token);
    const memory = async () =>
      Number(/^process_resident_memory_bytes (\S+)/m.exec((await company.get('/metrics')).text)?.[1]);
    // The first read loads what every list needs.
    await drain(`${service.url}/cases/${caseId}/interactions?to=2020-01-03%2000:00`, token);
    const before = await memory();
    let most = before;
    const watch = new AbortController();
    const watching = (async () => {
      while (!watch.signal.aborted) {
        most = Math.max(most, await memory());
        await delay(20, undefined, { signal: watch.signal }).catch(() => {});
      }
    })();
    const bytes = await drain(`${service.url}/cases/${caseId}/interactions`, token);
    watch.abort();
    await watching;
    assert.ok(bytes > 20_000_000, `${bytes} bytes`);
    assert.ok(most - before < 50_000_000, `${Math.round((most - before) / 1e6)} MB`);
  } finally {
    await service.stop();
    await server.stop();
    await home.remove();
  }
});

/** Reads and discards, so that the memory of the reader is not measured. */
function drain(url: string, token: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    httpRequest(url, { headers, agent: false }, (response) => {
      let bytes = 0;
      response.on('data', (part: Buffer) => {
        bytes += part.length;
      });
      response.on('end', () => resolve(bytes)).on('error', reject);
    })
      .on('error', reject)
      .end();
  });
}
