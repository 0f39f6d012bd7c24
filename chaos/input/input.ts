import fc from 'fast-check';
import { drafts } from './drafts.ts';
import type { InputApp } from './input-app.ts';
import { type Operation, operations } from './operations.ts';
import { InputCounts, Session } from './session.ts';

/** Sends generated requests to every operation of the OpenAPI document, and shrinks the first fault of each. */

export type InputOptions = {
  requests: number;
  seed: number;
  /** Restricts the run to operations whose name contains this text. */
  only?: string | undefined;
  sessions?: number;
  onProgress?: (requests: number) => void;
};

export type Fault = { operation: string; seed: number; path: string; shrunk: string };

export type InputResult = { counts: InputCounts; faults: Fault[]; seconds: number };

const SERIES_LENGTH = 250;

export async function sendInput(app: InputApp, options: InputOptions): Promise<InputResult> {
  const { requests, seed, only = '', sessions = 6, onProgress } = options;
  const counts = new InputCounts();
  const faults: Fault[] = [];
  const selected = operations.filter(({ name }) => name.includes(only));
  const totalWeight = selected.reduce((sum, { weight }) => sum + weight, 0);
  const series = selected.flatMap((operation, i) => {
    const runs = Math.ceil((requests * operation.weight) / totalWeight);
    const parts = Math.ceil(runs / SERIES_LENGTH);
    return Array.from({ length: parts }, (_, part) => ({
      operation,
      runs: Math.ceil(runs / parts),
      seed: seed + i + part * operations.length,
    }));
  });
  const startedAt = performance.now();
  const work = async () => {
    const session = new Session(app, counts);
    for (let next = series.shift(); next; next = series.shift()) {
      const fault = await runSeries(session, next);
      if (fault) faults.push(fault);
      onProgress?.(counts.requests);
    }
    session.close();
  };
  await Promise.all(Array.from({ length: sessions }, work));
  // Texts that were accepted become words of the index, too.
  await app.index();
  return { counts, faults, seconds: (performance.now() - startedAt) / 1000 };
}

type Series = { operation: Operation; runs: number; seed: number };

async function runSeries(session: Session, { operation, runs, seed }: Series): Promise<Fault | undefined> {
  await session.startSeries(operation);
  const property = fc.asyncProperty(drafts(operation), (draft) => session.sendDraft(operation, draft));
  const { failed, counterexamplePath, errorInstance } = await fc.check(property, { numRuns: runs, seed });
  const path = counterexamplePath ?? '';
  const toFault = (error: unknown) => ({ operation: operation.name, seed, path, shrunk: String(error) });
  if (failed) return toFault(errorInstance);
  return session.readLists(operation).then(() => undefined, toFault);
}
