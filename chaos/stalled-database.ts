import { setTimeout as pause } from 'node:timers/promises';
import { alone } from './alone.ts';
import type { Answered, Line } from './exchange.ts';
import { type Figures, fault, noFigures, type Proof, until } from './proof.ts';
import { kill, processesIn } from './site.ts';

/** A database that answers slowly or not at all: every request ends in bounded time, and it recovers by itself. */

// Five seconds for a connection, fifteen for a statement, twenty for a server that is silent, and one more try of reads.
const BOUND_MS = 45_000;
const CALLERS = 100;
const RECOVERY_S = 10;

export const stalledDatabase: Proof = {
  name: 'stalled-database',
  about: 'everything is locked, the pool is used up, the database stands still',
  async run({ short, progress }): Promise<Figures> {
    const figures = noFigures();
    await alone(async ({ site, line, path }) => {
      const stamps: { stamp: string; done: boolean }[] = [];
      const send = async (keyed: boolean) => {
        const write = { stamp: `s-${stamps.length}`, done: false };
        stamps.push(write);
        const headers = keyed ? { 'idempotency-key': write.stamp } : {};
        const body = { type: 'phone', notes: write.stamp };
        const outcome = await line.send({ method: 'POST', path, body, headers });
        write.done = outcome.status === 200;
        judge(figures, outcome);
        return outcome;
      };
      const storm = () => Array.from({ length: CALLERS }, (_, i) => send(i % 2 === 0));
      await Promise.all(storm());

      progress('a table is locked for some seconds');
      const owner = await site.connect();
      await owner.query('BEGIN; LOCK TABLE interactions IN ACCESS EXCLUSIVE MODE');
      const locked = storm();
      await pause(short ? 2_000 : 12_000);
      const others = await line.send({ method: 'GET', path: '/manage/company' });
      judge(figures, others);
      await owner.query('ROLLBACK');
      await owner.end();
      const afterLock = await longest(locked);
      await recovered(line, path);
      figures.rounds++;

      if (!short) {
        progress('a table is locked for longer than a statement may take');
        const long = await site.connect();
        await long.query('BEGIN; LOCK TABLE interactions IN ACCESS EXCLUSIVE MODE');
        const given = await longest(storm());
        if (given > BOUND_MS) figures.late.push(`behind a lock a request took ${given} ms`);
        await long.query('ROLLBACK');
        await long.end();
        await recovered(line, path);
        figures.rounds++;
        figures.notes.push(`behind a lock that stays: the longest answer took ${given} ms`);
      }

      progress('the database stands still');
      const pids = await processesIn(site.dataDir);
      for (const pid of pids) kill(pid, 'SIGSTOP');
      const read = line.send({ method: 'GET', path });
      const still = [...storm(), read];
      const health = await line.send({ method: 'GET', path: '/healthz' });
      if (health.status !== 200 || health.ms > 1_000) figures.late.push(`/healthz: ${JSON.stringify(health)}`);
      await (short ? pause(3_000) : Promise.all(still));
      for (const pid of pids) kill(pid, 'SIGCONT');
      const stood = await longest(still);
      judge(figures, await read);
      if (stood > BOUND_MS) figures.late.push(`a request took ${stood} ms while the database stood still`);
      const begun = performance.now();
      await recovered(line, path);
      figures.rounds++;
      figures.notes.push(
        `a lock of ${short ? 2 : 12} s: the longest answer took ${afterLock} ms; a database that stands still: ${stood} ms, then answered again after ${Math.round(performance.now() - begun)} ms`,
      );

      await until('no statement is left', RECOVERY_S * 2, async () => {
        const asked = `SELECT count(*)::int FROM pg_stat_activity WHERE application_name = 'case-records' AND state <> 'idle'`;
        return (await site.sql<{ count: number }>(asked))[0]?.count === 0;
      }).catch((error) => fault(figures, error.message));
      const rows = await site.sql<{ notes: string }>(`SELECT notes FROM interactions`);
      const there = rows.map(({ notes }) => notes);
      figures.twice = there.length - new Set(there).size;
      figures.lost = stamps.filter(({ stamp, done }) => done && !there.includes(stamp)).length;
      figures.requests = stamps.length;
      figures.acknowledged = stamps.filter(({ done }) => done).length;
      if (site.service?.child.exitCode !== null) fault(figures, 'the service has ended');
    });
    return figures;
  },
};

function judge(figures: Figures, outcome: Awaited<ReturnType<Line['send']>>): void {
  if (outcome.status === 200) return;
  if (outcome.status === 503 && (outcome as Answered).headers['retry-after'] !== undefined) return;
  if (outcome.status === 500) figures.errors++;
  fault(figures, `the answer was ${JSON.stringify(outcome)}`);
}

const longest = async (outcomes: Promise<{ ms: number }>[]): Promise<number> =>
  Math.round(Math.max(0, ...(await Promise.all(outcomes)).map(({ ms }) => ms)));

const recovered = (line: Line, path: string): Promise<void> =>
  until('it answers again', RECOVERY_S, async () => (await line.send({ method: 'GET', path })).status === 200);
