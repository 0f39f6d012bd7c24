import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { sendWithRetries } from '../test/harness/retries.ts';
import { proveYear } from '../test/harness/simulated-year.ts';
import { proveWebhooks } from '../test/harness/webhook-proof.ts';
import { sendInput } from './input/input.ts';
import { openInputWorld } from './input/input-world.ts';
import { fault, noFigures, type Proof } from './proof.ts';

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

export const input: Proof = {
  name: 'input',
  about: 'hostile requests to every operation of the document',
  async run({ seed, short, progress }) {
    const { world, log } = await openInputWorld();
    const onProgress = (sent: number) => progress(`${sent} requests`);
    const { tally, faults } = await sendInput(world, { requests: short ? 3_000 : 100_000, seed, onProgress });
    const figures = { ...noFigures(), requests: tally.requests, acknowledged: tally.readBack };
    for (const [status, count] of tally.statuses) if (status.startsWith('5')) figures.errors += count;
    for (const { operation, shrunk } of faults) fault(figures, `${operation}: ${shrunk}`);
    for (const line of log.odd) fault(figures, `in the log: ${line}`);
    figures.notes.push(`${tally.readBack} records read back as they were sent, ${tally.listed} lists`);
    return figures;
  },
};

const APART = ['test/tenant-isolation.test.ts', 'test/companies-apart.test.ts'];
const ROOT = new URL('../', import.meta.url);

export const apart: Proof = {
  name: 'apart',
  about: 'every route with identifiers and credentials that are not the right ones',
  async run() {
    const setup = '--test-global-setup=test/harness/postgres.ts';
    const run = promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap', setup, ...APART], {
      cwd: ROOT,
      maxBuffer: Infinity,
    });
    const { stdout } = await run.catch((error: { stdout: string }) => error);
    const figures = { ...noFigures(), rounds: [...stdout.matchAll(/^(not )?ok /gm)].length };
    for (const [, name = ''] of stdout.matchAll(/^not ok \d+ - (.*)$/gm)) {
      // What takes longer on a machine that is busy is no leak yet.
      if (name.includes('takes as long')) figures.late.push(name);
      else {
        figures.leaks++;
        fault(figures, name);
      }
    }
    if (figures.rounds === 0) fault(figures, stdout);
    return figures;
  },
};
