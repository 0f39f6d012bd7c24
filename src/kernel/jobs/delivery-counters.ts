type MessageOutcome = 'sent' | 'failed';
type MessageLabels = { channel: string; kind: string };
type WebhookOutcome = 'delivered' | 'failed';

/** Passes the final outcome of each message and webhook delivery of this process on to the metrics. */
export class DeliveryCounters {
  onMessage: (outcome: MessageOutcome, labels: MessageLabels) => void = () => {};
  onWebhook: (outcome: WebhookOutcome) => void = () => {};

  countMessage(outcome: MessageOutcome, { channel, kind }: MessageLabels): void {
    this.onMessage(outcome, { channel, kind });
  }

  countWebhook(outcome: WebhookOutcome): void {
    this.onWebhook(outcome);
  }
}
