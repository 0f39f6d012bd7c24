import { join } from 'node:path';
import { halfSent } from '../test/harness/half-sent.ts';
import { addFault, type ChaosTest, emptyResults, type Results, waitUntil } from './chaos-test.ts';
import { kill, processesIn } from './deployment.ts';
import type { HttpClient } from './http-client.ts';
import { withSingleService } from './single-service.ts';

/**
 * Two faults could hide events from readers of the log: a transaction whose connection broke before its end, and a
 * crash of the database that assigns a position twice. The log must continue within the bound, and no event may be missed.
 */

// A half-sent transaction is ended after 10 s, checks run every 5 s, and a busy machine may need some more.
const MAX_STALL_S = 20;
const READY_TIMEOUT_S = 30;

export const eventLog: ChaosTest = {
  name: 'event-log',
  description: 'a transaction is left half sent; the database crashes after a rolled-back write',
  async run({ short, progress }): Promise<Results> {
    const results = emptyResults();
    await withSingleService(async ({ deployment, client, interactionsPath: path }) => {
      const write = async (notes: string) => {
        results.requests++;
        const answer = await client.send({ method: 'POST', path, body: { type: 'phone', notes } });
        if (answer.status === 200) results.acknowledged++;
        else results.serverErrors++;
      };
      const connection = { host: join(deployment.dataDir, 'postgres'), database: 'case_records' };

      progress('a transaction is left half sent');
      const before = await nextLink(client, '/events?after=latest');
      await halfSent(connection);
      await write('after a half-sent transaction');
      const startedAt = performance.now();
      await waitUntil('the log continues', MAX_STALL_S, async () => (await readNotes(client, before)).length === 1);
      results.notes.push(
        `the log continued ${Math.round((performance.now() - startedAt) / 1000)} s after the connection broke`,
      );
      results.rounds++;

      for (let round = 0; round < (short ? 1 : 10); round++) {
        progress(`the database crashes, round ${round + 1}`);
        await write(`before crash ${round}`);
        const pids = await processesIn(deployment.dataDir);
        const owner = await deployment.connect();
        // The sequence is logged 32 positions ahead, and a rollback does not flush the log. A crash before the next
        // flush, at most 0.2 s later, therefore loses the positions.
        await owner.query(`BEGIN; SELECT nextval('event_positions') FROM generate_series(1, 40); ROLLBACK`);
        const next = await nextLink(client, '/events?after=latest');
        for (const pid of pids) kill(pid);
        await owner.end().catch(() => {});
        await deployment.service?.stop('SIGKILL');
        await deployment.start();
        await waitUntil('the service is ready', READY_TIMEOUT_S, async () => {
          return (await client.send({ method: 'GET', path: '/readyz' })).status === 200;
        });
        await write(`after crash ${round}`);
        const notes = await readNotes(client, next);
        if (!notes.includes(`after crash ${round}`)) results.lost++;
        if (notes.length !== 1) addFault(results, `round ${round}: the reader got ${JSON.stringify(notes)}`);
        results.rounds++;
      }
    });
    return results;
  },
};

async function nextLink(client: HttpClient, path: string): Promise<string> {
  const answer = await client.send({ method: 'GET', path });
  const link = 'headers' in answer ? /^<([^>]+)>/.exec(String(answer.headers.link))?.[1] : undefined;
  if (link === undefined) throw new Error(`The response to ${path} has no link: ${JSON.stringify(answer)}`);
  return link;
}

async function readNotes(client: HttpClient, next: string): Promise<string[]> {
  const answer = await client.send({ method: 'GET', path: next });
  if (answer.status !== 200 || !('text' in answer)) return [];
  return JSON.parse(answer.text).map(({ after }: { after: { notes: string } }) => after.notes);
}
