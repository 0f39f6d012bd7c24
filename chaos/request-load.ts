import { addFault, type Results } from './chaos-test.ts';
import type { HttpClient, HttpResponse, OutgoingRequest } from './http-client.ts';

export type LoadResult = {
  ok: number;
  refused: number;
  throughput: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
};

/** Sends requests from concurrent callers, each waiting for its response. Any status except 200 and 503 is a fault. */
export async function sendLoad(
  client: HttpClient,
  results: Results,
  { callers, seconds, request }: { callers: number; seconds: number; request: () => OutgoingRequest },
): Promise<LoadResult> {
  const latencies: number[] = [];
  const counts = { ok: 0, refused: 0 };
  const startedAt = performance.now();
  const deadline = startedAt + seconds * 1000;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < deadline) {
        const outcome = await client.send(request());
        results.requests++;
        latencies.push(outcome.ms);
        if (outcome.status === 200) counts.ok++;
        else if (outcome.status === 503) {
          counts.refused++;
          if ((outcome as HttpResponse).headers['retry-after'] === undefined)
            addFault(results, '503 without Retry-After');
        } else {
          if (outcome.status >= 500) results.serverErrors++;
          addFault(results, `under load: ${JSON.stringify(outcome)}`);
        }
      }
    }),
  );
  const elapsed = (performance.now() - startedAt) / 1000;
  latencies.sort((a, b) => a - b);
  const quantile = (share: number) => Math.round(latencies[Math.floor((latencies.length - 1) * share)] ?? 0);
  results.acknowledged += counts.ok;
  return {
    ...counts,
    throughput: Math.round(counts.ok / elapsed),
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    maxMs: quantile(1),
  };
}
