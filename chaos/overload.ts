import { addFault, type ChaosTest, emptyResults, type Results } from './chaos-test.ts';
import { readMemoryMegabytes } from './deployment.ts';
import { type LoadResult, sendLoad } from './request-load.ts';
import { withSingleService } from './single-service.ts';

/**
 * Measures the throughput with a normal number of callers, then with ten times as many, then with the first again. The
 * short form sends so little that it shows faults only: nobody checks its times.
 */

const CALLERS = 100;
const OVERLOAD_FACTOR = 10;
const MAX_LATENCY_MS = 10_000;
const MAX_MEMORY_MEGABYTES = 400;
const MAX_MEMORY_RATIO = 1.5;
const MIN_THROUGHPUT_RATIO = 0.8;
const RECOVERY_S = 2;

export const overload: ChaosTest = {
  name: 'overload',
  description: 'ten times as many callers as it can serve',
  async run({ short, progress }): Promise<Results> {
    const results = emptyResults();
    await withSingleService(async ({ deployment, client, servicePid, interactionsPath: path }) => {
      let n = 0;
      const request = () => ({ method: 'POST', path, body: { type: 'phone', notes: `${n++}` } });
      const load = (callers: number, seconds: number) => sendLoad(client, results, { callers, seconds, request });

      progress('warming up');
      // The warm-up has as many callers as the overload, so that memory per connection does not count as growth.
      await load(CALLERS * OVERLOAD_FACTOR, short ? 0.5 : 5);
      await load(CALLERS, short ? 0.5 : 2);
      progress('measuring the normal throughput');
      const before = await load(CALLERS, short ? 0.5 : 10);
      const memoryBefore = await readMemoryMegabytes(servicePid);
      progress(`${before.throughput} per second; now ${CALLERS * OVERLOAD_FACTOR} callers`);
      const during = await load(CALLERS * OVERLOAD_FACTOR, short ? 1 : 30);
      const memoryAfter = await readMemoryMegabytes(servicePid);
      const recovery = await load(CALLERS, short ? 0.5 : RECOVERY_S);
      const after = short ? recovery : await load(CALLERS, 10);
      results.rounds = 1;

      const [{ rows = 0, stamps = 0 } = {}] = await deployment.sql<{ rows: number; stamps: number }>(
        'SELECT count(*)::int AS rows, count(DISTINCT notes)::int AS stamps FROM interactions',
      );
      results.lost = Math.max(0, results.acknowledged - stamps);
      results.duplicated = rows - stamps;
      // Writes that were refused but exist.
      results.halfWritten = Math.max(0, stamps - results.acknowledged);
      if (during.maxMs > MAX_LATENCY_MS) results.timingFaults.push(`a response took ${during.maxMs} ms`);
      if (during.refused === 0) addFault(results, 'no request was refused');
      if (memoryAfter > memoryBefore * MAX_MEMORY_RATIO || memoryAfter > MAX_MEMORY_MEGABYTES)
        addFault(results, `memory grew from ${memoryBefore} to ${memoryAfter} MB`);
      if (recovery.refused + after.refused > 0) results.timingFaults.push('requests were refused afterwards');
      const best = Math.max(recovery.throughput, after.throughput);
      if (best < before.throughput * MIN_THROUGHPUT_RATIO) results.timingFaults.push(`afterwards ${best} per second`);
      results.notes.push(
        `before ${describeLoad(before)}`,
        `${OVERLOAD_FACTOR} times the callers ${describeLoad(during)}, memory ${memoryBefore} to ${memoryAfter} MB`,
        `afterwards ${describeLoad(recovery)}, then ${describeLoad(after)}`,
      );
    });
    return results;
  },
};

const describeLoad = ({ throughput, refused, p50Ms, p99Ms, maxMs }: LoadResult) =>
  `${throughput}/s done, ${refused} refused, p50 ${p50Ms} ms, p99 ${p99Ms} ms, max ${maxMs} ms`;
