import { alone } from './alone.ts';
import { type Driven, drive } from './drive.ts';
import { type Figures, fault, noFigures, type Proof } from './proof.ts';
import { memoryOf } from './site.ts';

/** First what it carries, then ten times as many callers, none of whom waits before asking again; then as at first. */

const CALLERS = 100;
const TIMES = 10;
const BOUND_MS = 10_000;
const MOST_MB = 400;
const MOST_GROWTH = 1.5;
const LEAST_PACE = 0.8;
const RECOVERY_S = 2;

export const overload: Proof = {
  name: 'overload',
  about: 'ten times as many callers as it can carry',
  async run({ short, progress }): Promise<Figures> {
    const figures = noFigures();
    await alone(async ({ site, line, pid, path }) => {
      let n = 0;
      const request = () => ({ method: 'POST', path, body: { type: 'phone', notes: `${n++}` } });
      const offer = (callers: number, seconds: number) => drive(line, figures, { callers, seconds, request });

      progress('warming up');
      // As many as later: what a process keeps for a thousand connections is no growth.
      await offer(CALLERS * TIMES, short ? 2 : 5);
      await offer(CALLERS, 2);
      progress('measuring what it carries');
      const before = await offer(CALLERS, short ? 3 : 10);
      const memory = await memoryOf(pid);
      progress(`${before.perSecond} per second; now ${CALLERS * TIMES} callers`);
      const during = await offer(CALLERS * TIMES, short ? 4 : 30);
      const grown = await memoryOf(pid);
      const recovery = await offer(CALLERS, RECOVERY_S);
      const after = await offer(CALLERS, short ? 3 : 10);
      figures.rounds = 1;

      const [{ rows = 0, stamps = 0 } = {}] = await site.sql<{ rows: number; stamps: number }>(
        'SELECT count(*)::int AS rows, count(DISTINCT notes)::int AS stamps FROM interactions',
      );
      figures.lost = Math.max(0, figures.acknowledged - stamps);
      figures.twice = rows - stamps;
      // What was refused, and is there all the same.
      figures.halfWritten = Math.max(0, stamps - figures.acknowledged);
      if (during.longest > BOUND_MS) figures.late.push(`an answer took ${during.longest} ms`);
      if (during.refused === 0) fault(figures, 'nothing was refused');
      if (grown > memory * MOST_GROWTH || grown > MOST_MB) fault(figures, `memory went from ${memory} to ${grown} MB`);
      if (recovery.refused + after.refused > 0) figures.late.push('requests were refused afterwards');
      const best = Math.max(recovery.perSecond, after.perSecond);
      if (best < before.perSecond * LEAST_PACE) figures.late.push(`afterwards ${best} per second`);
      figures.notes.push(
        `before ${shown(before)}`,
        `${TIMES} times the callers ${shown(during)}, memory ${memory} to ${grown} MB`,
        `the ${RECOVERY_S} s after ${shown(recovery)}, then ${shown(after)}`,
      );
    });
    return figures;
  },
};

const shown = ({ perSecond, refused, p50, p99, longest }: Driven) =>
  `${perSecond}/s done, ${refused} refused, p50 ${p50} ms, p99 ${p99} ms, longest ${longest} ms`;
