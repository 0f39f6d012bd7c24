import { until } from '../test/harness/until.ts';

/** The results of a chaos test. All counts from `lost` to `serverErrors` must be 0, and there must be no faults. */
export type Results = {
  rounds: number;
  requests: number;
  acknowledged: number;
  lost: number;
  duplicated: number;
  halfWritten: number;
  /** Records of one company that another one could read or change. */
  leaks: number;
  /** Responses with 500, and other 5xx that only the request itself can have caused. */
  serverErrors: number;
  /** Descriptions of violated guarantees. */
  faults: string[];
  /** Violated bounds of latency or throughput, which a busy machine can also cause. */
  timingFaults: string[];
  /** Further measurements. */
  notes: string[];
};

export type ChaosOptions = {
  seed: number;
  /** Run the short form: all tests together then take a few minutes. */
  short: boolean;
  progress: (text: string) => void;
};

export type ChaosTest = {
  name: string;
  description: string;
  run(options: ChaosOptions): Promise<Results>;
};

/** Thrown if this machine lacks something that the test needs. */
export class SkippedError extends Error {}

export const emptyResults = (): Results => ({
  rounds: 0,
  requests: 0,
  acknowledged: 0,
  lost: 0,
  duplicated: 0,
  halfWritten: 0,
  leaks: 0,
  serverErrors: 0,
  faults: [],
  timingFaults: [],
  notes: [],
});

const MAX_FAULTS = 20;

export function addFault(results: Results, text: string): void {
  if (results.faults.length < MAX_FAULTS) results.faults.push(text);
}

export const passed = ({
  lost,
  duplicated: twice,
  halfWritten,
  leaks,
  serverErrors: errors,
  faults,
  timingFaults: late,
}: Results): boolean => lost + twice + halfWritten + leaks + errors + faults.length + late.length === 0;

/** Polls until the condition is true. Throws after the given time. */
export async function waitUntil(
  description: string,
  seconds: number,
  condition: () => Promise<boolean> | boolean,
): Promise<void> {
  await until(condition, description, seconds * 1_000);
}
