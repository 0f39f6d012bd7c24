import type { Answered, Line, Sent } from './exchange.ts';
import { type Figures, fault } from './proof.ts';

export type Driven = { ok: number; refused: number; perSecond: number; p50: number; p99: number; longest: number };

/** As many callers as that, each sending its next request when the last is answered; only 200 and 503 are right. */
export async function drive(
  line: Line,
  figures: Figures,
  { callers, seconds, request }: { callers: number; seconds: number; request: () => Sent },
): Promise<Driven> {
  const took: number[] = [];
  const driven = { ok: 0, refused: 0 };
  const begun = performance.now();
  const end = begun + seconds * 1000;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < end) {
        const outcome = await line.send(request());
        figures.requests++;
        took.push(outcome.ms);
        if (outcome.status === 200) driven.ok++;
        else if (outcome.status === 503) {
          driven.refused++;
          if ((outcome as Answered).headers['retry-after'] === undefined) fault(figures, '503 without Retry-After');
        } else {
          if (outcome.status >= 500) figures.errors++;
          fault(figures, `under load: ${JSON.stringify(outcome)}`);
        }
      }
    }),
  );
  const lasted = (performance.now() - begun) / 1000;
  took.sort((a, b) => a - b);
  const at = (share: number) => Math.round(took[Math.floor((took.length - 1) * share)] ?? 0);
  figures.acknowledged += driven.ok;
  return { ...driven, perSecond: Math.round(driven.ok / lasted), p50: at(0.5), p99: at(0.99), longest: at(1) };
}
