export type Outcome = 'sent' | 'failed';
type Labels = { channel: string; kind: string };

/** Told of every message that has come to its end in this process; the metrics listen. */
export class Outcomes {
  onOutcome: (outcome: Outcome, labels: Labels) => void = () => {};

  count(outcome: Outcome, { channel, kind }: Labels): void {
    this.onOutcome(outcome, { channel, kind });
  }
}
