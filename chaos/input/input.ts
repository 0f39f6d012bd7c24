import fc from 'fast-check';
import type { TestApp } from '../../test/harness/app.ts';
import { drafts } from './drafts.ts';
import { Lane, Tally } from './lane.ts';
import { type Operation, operations } from './operations.ts';

/** Requests of every kind to every operation of the document; the first fault of each is made as small as it gets. */

export type InputOptions = {
  requests: number;
  seed: number;
  /** Only operations whose name contains this. */
  only?: string | undefined;
  lanes?: number;
  onProgress?: (requests: number) => void;
};

export type Fault = { operation: string; seed: number; path: string; shrunk: string };

export type InputFound = { tally: Tally; faults: Fault[]; seconds: number };

const SERIES = 250;

export async function sendInput(world: TestApp, options: InputOptions): Promise<InputFound> {
  const { requests, seed, only = '', lanes = 6, onProgress } = options;
  const tally = new Tally();
  const faults: Fault[] = [];
  const chosen = operations.filter(({ name }) => name.includes(only));
  const all = chosen.reduce((sum, { weight }) => sum + weight, 0);
  const series = chosen.flatMap((operation, i) => {
    const runs = Math.ceil((requests * operation.weight) / all);
    const parts = Math.ceil(runs / SERIES);
    return Array.from({ length: parts }, (_, part) => ({
      operation,
      runs: Math.ceil(runs / parts),
      seed: seed + i + part * operations.length,
    }));
  });
  const begun = performance.now();
  const work = async () => {
    const lane = new Lane(world, tally);
    for (let next = series.shift(); next; next = series.shift()) {
      const fault = await prove(lane, next);
      if (fault) faults.push(fault);
      onProgress?.(tally.requests);
    }
    lane.close();
  };
  await Promise.all(Array.from({ length: lanes }, work));
  return { tally, faults, seconds: (performance.now() - begun) / 1000 };
}

type Series = { operation: Operation; runs: number; seed: number };

async function prove(lane: Lane, { operation, runs, seed }: Series): Promise<Fault | undefined> {
  await lane.begin(operation);
  const property = fc.asyncProperty(drafts(operation), (draft) => lane.exchange(operation, draft));
  const { failed, counterexamplePath, errorInstance } = await fc.check(property, { numRuns: runs, seed });
  const path = counterexamplePath ?? '';
  const found = (error: unknown) => ({ operation: operation.name, seed, path, shrunk: String(error) });
  if (failed) return found(errorInstance);
  return lane.readLists(operation).then(() => undefined, found);
}
