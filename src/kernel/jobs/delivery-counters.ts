export type Outcome = 'sent' | 'failed';
type Labels = { channel: string; kind: string };

export type WebhookOutcome = 'delivered' | 'failed';

/** Told of every message and webhook that has come to its end in this process; the metrics listen. */
export class DeliveryCounters {
  onOutcome: (outcome: Outcome, labels: Labels) => void = () => {};
  onWebhook: (outcome: WebhookOutcome) => void = () => {};

  count(outcome: Outcome, { channel, kind }: Labels): void {
    this.onOutcome(outcome, { channel, kind });
  }

  countWebhook(outcome: WebhookOutcome): void {
    this.onWebhook(outcome);
  }
}
