import { existsSync, globSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startBundledPostgres } from '../src/postgres/bundled-postgres.ts';
import { commandOutput } from '../test/harness/command-line.ts';
import { type Running, startProcess, temporaryDirectory, urlOf } from '../test/harness/service.ts';
import { addFault, type ChaosTest, emptyResults, type Results, SkippedError, waitUntil } from './chaos-test.ts';
import { HttpClient, type HttpResponse } from './http-client.ts';

/**
 * The clock of the service jumps while that of the database does not. Writes must continue, an idempotency key must
 * still return its response, and the event log must keep its order. `messages` covers workers and DST changes.
 */

const JUMPS_HOURS = [0, 20, 0, -20, 0, 1, -1];
const WRITES_PER_JUMP = 20;

export const clock: ChaosTest = {
  name: 'clock',
  description: 'the clock of the service jumps forward and back',
  async run({ short, progress }): Promise<Results> {
    const [library] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1');
    if (library === undefined || !existsSync(library)) {
      throw new SkippedError('libfaketime is not installed; chaos/packages.sh installs it on Debian');
    }
    const results = emptyResults();
    const home = await temporaryDirectory();
    const server = await startBundledPostgres({ dataDir: join(home.path, 'database'), log: () => {} });
    const DATABASE_URL = urlOf(server.connection);
    const offset = join(home.path, 'offset');
    await writeFile(offset, '+0');
    let service: Running | undefined;
    try {
      service = await startProcess({
        DATABASE_URL,
        DATA_DIR: home.path,
        LD_PRELOAD: library,
        FAKETIME_TIMESTAMP_FILE: offset,
        FAKETIME_NO_CACHE: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      });
      const type = (...args: string[]) => commandOutput({ DATABASE_URL }, ...args);
      await type('company', 'create', '--name', 'Clock');
      const caseId = await type('case', 'create', '--reference', 'Clock', '--only', 'id');
      const scopes = 'interactions:read,interactions:write,events:read';
      const client = new HttpClient(
        service.url,
        await type('key', 'create', '--name', 'clock', '--scope', scopes, '--only', 'key'),
      );
      const path = `/cases/${caseId}/interactions`;
      const send = (key: string) =>
        client.send({ method: 'POST', path, body: { type: 'phone', notes: key }, headers: { 'idempotency-key': key } });
      const responses = new Map<string, string>();

      for (const hours of short ? JUMPS_HOURS.slice(0, 4) : JUMPS_HOURS) {
        progress(`the clock is ${hours} hours off`);
        await writeFile(offset, `${hours < 0 ? '' : '+'}${hours}h`);
        await waitUntil('the service has the new time', 10, async () => {
          const { headers } = (await client.send({ method: 'GET', path: '/healthz' })) as HttpResponse;
          return Math.abs(Date.parse(String(headers.date)) - Date.now() - hours * 3_600_000) < 10_000;
        });
        for (let i = 0; i < WRITES_PER_JUMP; i++) {
          const key = `c-${responses.size}`;
          const answer = await send(key);
          results.requests++;
          if (answer.status === 200) responses.set(key, (answer as HttpResponse).text);
          else addFault(results, `${hours} hours off: ${JSON.stringify(answer)}`);
        }
        for (const [key, text] of responses) {
          const again = (await send(key)) as HttpResponse;
          results.requests++;
          if (again.status !== 200 || again.text !== text) addFault(results, `${key} got another response than before`);
        }
        results.rounds++;
      }
      results.acknowledged = responses.size;
      const list: { notes: string }[] = await client.get(path);
      const events: { after: { notes: string } }[] = await client.get('/events?types=interaction.created&limit=500');
      const order = events.map(({ after }) => after.notes);
      results.lost = [...responses.keys()].filter((key) => !list.some(({ notes }) => notes === key)).length;
      results.duplicated = list.length - new Set(list.map(({ notes }) => notes)).size;
      results.halfWritten = Math.abs(list.length - order.length);
      if (order.join() !== [...responses.keys()].join())
        addFault(results, 'the event log is not in the order of the writes');
      client.close();
    } finally {
      await service?.stop();
      await server.stop();
      await home.remove();
    }
    return results;
  },
};
