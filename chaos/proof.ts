/** What a proof counts. What must be 0 is: lost, twice, halfWritten, leaks, errors, and there is no fault. */
export type Figures = {
  rounds: number;
  requests: number;
  acknowledged: number;
  lost: number;
  twice: number;
  halfWritten: number;
  /** What somebody learned or changed that is not theirs. */
  leaks: number;
  /** Answers of 500, and others of 5xx that only the request can have caused. */
  errors: number;
  /** Promises that were broken, in words. */
  faults: string[];
  /** Those of time and pace, which a machine that is busy otherwise breaks as well. */
  late: string[];
  /** What was measured beside that. */
  notes: string[];
};

export type ProofOptions = {
  seed: number;
  /** A minute or two for all of them, instead of as long as it takes. */
  short: boolean;
  progress: (text: string) => void;
};

export type Proof = {
  name: string;
  about: string;
  run(options: ProofOptions): Promise<Figures>;
};

/** What this machine has not got; the table says so. */
export class Skipped extends Error {}

export const noFigures = (): Figures => ({
  rounds: 0,
  requests: 0,
  acknowledged: 0,
  lost: 0,
  twice: 0,
  halfWritten: 0,
  leaks: 0,
  errors: 0,
  faults: [],
  late: [],
  notes: [],
});

const FAULTS_SHOWN = 20;

export function fault(figures: Figures, text: string): void {
  if (figures.faults.length < FAULTS_SHOWN) figures.faults.push(text);
}

export const holds = ({ lost, twice, halfWritten, leaks, errors, faults, late }: Figures): boolean =>
  lost + twice + halfWritten + leaks + errors + faults.length + late.length === 0;

/** A wait that ends: asks again and again, because other processes tell nothing of themselves. */
export async function until(what: string, seconds: number, condition: () => Promise<boolean> | boolean): Promise<void> {
  const end = performance.now() + seconds * 1000;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`Not within ${seconds} s: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
