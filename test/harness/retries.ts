import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { startBundledPostgres } from '../../src/postgres/bundled-postgres.ts';
import { commandOutput } from './command-line.ts';
import { caller } from './http.ts';
import { startProcess, temporaryDirectory, urlOf } from './service.ts';
import { until } from './until.ts';

/**
 * A caller on a bad line: every create is sent three times, at random to one of two service processes, and half of the
 * requests are cut off, before or in the middle of the answer. Then each is sent until it is answered.
 */

export type RetriesFound = { creates: number; sent: number; cut: number; underWay: number; records: number };

const AT_ONCE = 32;

export async function sendWithRetries(creates: number): Promise<RetriesFound> {
  const home = await temporaryDirectory();
  const server = await startBundledPostgres({ dataDir: join(home.path, 'database'), log: () => {} });
  const DATABASE_URL = urlOf(server.connection);
  const services = await Promise.all([1, 2].map(() => startProcess({ DATABASE_URL, WORKER_CONCURRENCY: '0' })));
  try {
    const type = (...args: string[]) => commandOutput({ DATABASE_URL }, ...args);
    await type('company', 'create', '--name', 'Retries');
    const caseId = await type('case', 'create', '--reference', 'Retries', '--only', 'id');
    const scopes = 'interactions:read,interactions:write';
    const token = await type('key', 'create', '--name', 'retries', '--scope', scopes, '--only', 'key');
    const path = `/cases/${caseId}/interactions`;

    const keys = Array.from({ length: creates }, () => randomUUID());
    const found = { creates, sent: 0, cut: 0, underWay: 0 };
    const ids = new Map<string, string>();
    const send = async (key: string, cut: boolean) => {
      const url = `${services[randomInt(services.length)]?.url}${path}`;
      const answer = await post(url, token, key, cut);
      found.sent++;
      if (answer === 'cut') found.cut++;
      else if (answer.status === 409) found.underWay++;
      else {
        assert.equal(answer.status, 200, answer.text);
        const { id } = JSON.parse(answer.text);
        assert.equal(ids.get(key) ?? id, id, 'one key, one record');
        ids.set(key, id);
        return true;
      }
      return false;
    };

    const storm = shuffled(keys.flatMap((key) => [0, 1, 2].map((i) => ({ key, cut: i % 2 === randomInt(2) }))));
    await atOnce(storm, ({ key, cut }) => send(key, cut));
    await atOnce(keys, async (key) => {
      await until(() => send(key, false));
    });

    const list = await caller(services[0]?.url ?? '', token).get(path);
    const notes: string[] = list.body.map((interaction: { notes: string }) => interaction.notes);
    assert.equal(new Set(notes).size, creates, 'every create is there');
    return { ...found, records: notes.length };
  } finally {
    for (const service of services) await service.stop();
    await server.stop();
    await home.remove();
  }
}

/** `cut`: the connection is broken at a random moment, or when the first bytes of the answer arrive. */
function post(
  url: string,
  token: string,
  key: string,
  cut: boolean,
): Promise<'cut' | { status: number; text: string }> {
  const body = JSON.stringify({ type: 'phone', notes: key });
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'idempotency-key': key,
  };
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method: 'POST', headers, agent: false }, (response) => {
      if (cut) return void request.destroy();
      let text = '';
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.on('error', reject);
    });
    request.on('error', (error) => !cut && reject(error));
    request.on('close', () => cut && resolve('cut'));
    request.end(body);
    if (cut && randomInt(2) === 0) setTimeout(() => request.destroy(), randomInt(30));
  });
}

async function atOnce<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const item of left) await work(item);
    }),
  );
}

function shuffled<T>(items: T[]): T[] {
  for (let i = items.length - 1; i > 0; i--) {
    const j = randomInt(i + 1);
    [items[i], items[j]] = [items[j] as T, items[i] as T];
  }
  return items;
}
