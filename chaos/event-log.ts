import { join } from 'node:path';
import { halfSent } from '../test/harness/half-sent.ts';
import { alone } from './alone.ts';
import type { Line } from './exchange.ts';
import { type Figures, fault, noFigures, type Proof, until } from './proof.ts';
import { kill, processesIn } from './site.ts';

/**
 * What can keep events from those who follow the log: a transaction whose line broke before its end, and a crash of the
 * database that gives a position a second time. The log moves on within the bound, and no event is missed.
 */

// Ten seconds until a half-sent transaction is ended, five until the next look, and some for a busy machine.
const BOUND_S = 20;
const READY_S = 30;

export const eventLog: Proof = {
  name: 'event-log',
  about: 'a transaction is left half sent; the database crashes behind an undone write',
  async run({ short, progress }): Promise<Figures> {
    const figures = noFigures();
    await alone(async ({ site, line, path }) => {
      const write = async (notes: string) => {
        figures.requests++;
        const answer = await line.send({ method: 'POST', path, body: { type: 'phone', notes } });
        if (answer.status === 200) figures.acknowledged++;
        else figures.errors++;
      };
      const connection = { host: join(site.dataDir, 'postgres'), database: 'case_records' };

      progress('a transaction is left half sent');
      const before = await nextOf(line, '/events?after=latest');
      await halfSent(connection);
      await write('behind a half-sent transaction');
      const begun = performance.now();
      await until('the log moves on', BOUND_S, async () => (await notesAfter(line, before)).length === 1);
      figures.notes.push(`the log moved on ${Math.round((performance.now() - begun) / 1000)} s after the line broke`);
      figures.rounds++;

      for (let round = 0; round < (short ? 1 : 10); round++) {
        progress(`the database crashes, round ${round + 1}`);
        await write(`before crash ${round}`);
        const pids = await processesIn(site.dataDir);
        const owner = await site.connect();
        // The sequence is logged ahead, 32 positions at a time, and an undone write makes nobody wait for the disk: what it
        // logged is lost if the crash comes before the next flush, 0.2 s later at most.
        await owner.query(`BEGIN; SELECT nextval('event_positions') FROM generate_series(1, 40); ROLLBACK`);
        const next = await nextOf(line, '/events?after=latest');
        for (const pid of pids) kill(pid);
        await owner.end().catch(() => {});
        await site.service?.stop('SIGKILL');
        await site.start();
        await until('the service is ready', READY_S, async () => {
          return (await line.send({ method: 'GET', path: '/readyz' })).status === 200;
        });
        await write(`after crash ${round}`);
        const seen = await notesAfter(line, next);
        if (!seen.includes(`after crash ${round}`)) figures.lost++;
        if (seen.length !== 1) fault(figures, `round ${round}: the follower was shown ${JSON.stringify(seen)}`);
        figures.rounds++;
      }
    });
    return figures;
  },
};

async function nextOf(line: Line, path: string): Promise<string> {
  const answer = await line.send({ method: 'GET', path });
  const link = 'headers' in answer ? /^<([^>]+)>/.exec(String(answer.headers.link))?.[1] : undefined;
  if (link === undefined) throw new Error(`There is no link behind ${path}: ${JSON.stringify(answer)}`);
  return link;
}

async function notesAfter(line: Line, next: string): Promise<string[]> {
  const answer = await line.send({ method: 'GET', path: next });
  if (answer.status !== 200 || !('text' in answer)) return [];
  return JSON.parse(answer.text).map(({ after }: { after: { notes: string } }) => after.notes);
}
