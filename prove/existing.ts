import { sendWithRetries } from '../test/harness/retries.ts';
import { proveWebhooks } from '../test/harness/webhook-proof.ts';
import { proveYear } from '../test/harness/year.ts';
import { noFigures, type Proof } from './proof.ts';

/** Proofs that also have commands, and short forms in the tests, of their own. They throw where they do not hold. */

export const retries: Proof = {
  name: 'retries',
  about: 'a caller on a bad line sends every create three times to two services',
  async run({ short }) {
    const found = await sendWithRetries(short ? 100 : 1_000);
    return {
      ...noFigures(),
      rounds: 3,
      requests: found.sent,
      acknowledged: found.creates,
      lost: Math.max(0, found.creates - found.records),
      twice: Math.max(0, found.records - found.creates),
      notes: [`${found.cut} of ${found.sent} requests were cut off`],
    };
  },
};

export const messages: Proof = {
  name: 'messages',
  about: 'a year of appointments with both clock changes, workers are killed while they send',
  async run({ seed, short }) {
    const options = short
      ? { seed, appointments: 60, from: '2026-10-05T08:00:00Z', days: 31, workers: 2, kills: 2 }
      : { seed, appointments: 2_000, from: '2026-01-05T08:00:00Z', days: 365, workers: 4, kills: 40 };
    const found = await proveYear(options);
    return {
      ...noFigures(),
      rounds: found.kills,
      requests: options.appointments + found.changes,
      acknowledged: options.appointments + found.changes,
      notes: [`${found.sent} messages sent once each, ${found.withdrawn} withdrawn, ${found.late} late after a kill`],
    };
  },
};

export const webhooks: Proof = {
  name: 'webhooks',
  about: 'receivers refuse, hang and are down for days, workers are killed while they deliver',
  async run({ seed, short }) {
    const options = short ? { seed, events: 60, workers: 2, kills: 2 } : { seed, events: 2_000, workers: 4, kills: 40 };
    const found = await proveWebhooks(options);
    return {
      ...noFigures(),
      rounds: found.kills,
      requests: found.requests,
      acknowledged: found.events,
      lost: Math.max(0, 2 * options.events - found.deliveries),
      notes: [
        `${found.deliveries} deliveries over ${found.days} days, ${found.twice} came again where an answer was lost (${found.lostAnswers})`,
      ],
    };
  },
};
