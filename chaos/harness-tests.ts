import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { sendWithRetries } from '../test/harness/retries.ts';
import { runSimulatedYear } from '../test/harness/simulated-year.ts';
import { runWebhookChaos } from '../test/harness/webhook-chaos.ts';
import { addFault, type ChaosTest, emptyResults } from './chaos-test.ts';
import { sendInput } from './input/input.ts';
import { startInputApp } from './input/input-app.ts';

/** Chaos tests whose code is in the test harness, because they have their own commands and short tests. */

export const retries: ChaosTest = {
  name: 'retries',
  description: 'a caller on a bad connection sends every write three times to two services',
  async run({ short }) {
    const result = await sendWithRetries(short ? 100 : 1_000);
    return {
      ...emptyResults(),
      rounds: 3,
      requests: result.sent,
      acknowledged: result.writes,
      lost: Math.max(0, result.writes - result.performed),
      duplicated: Math.max(0, result.performed - result.writes),
      notes: [`${result.cut} of ${result.sent} requests were cut off`],
    };
  },
};

export const messages: ChaosTest = {
  name: 'messages',
  description: 'a year of appointments with both DST changes; workers are killed while they send',
  async run({ seed, short }) {
    const options = short
      ? { seed, appointments: 60, from: '2026-10-05T08:00:00Z', days: 31, workers: 2, kills: 2 }
      : { seed, appointments: 2_000, from: '2026-01-05T08:00:00Z', days: 365, workers: 4, kills: 40 };
    const result = await runSimulatedYear(options);
    return {
      ...emptyResults(),
      rounds: result.kills,
      requests: options.appointments + result.changes,
      acknowledged: options.appointments + result.changes,
      notes: [
        `${result.sent} messages sent once each, ${result.withdrawn} withdrawn, ${result.late} late after a kill`,
      ],
    };
  },
};

export const webhooks: ChaosTest = {
  name: 'webhooks',
  description: 'receivers refuse, hang and are down for days; workers are killed while they deliver',
  async run({ seed, short }) {
    const options = short ? { seed, events: 60, workers: 2, kills: 2 } : { seed, events: 2_000, workers: 4, kills: 40 };
    const result = await runWebhookChaos(options);
    return {
      ...emptyResults(),
      rounds: result.kills,
      requests: result.requests,
      acknowledged: result.events,
      lost: Math.max(0, 2 * options.events - result.deliveries),
      notes: [
        `${result.deliveries} deliveries over ${result.days} days; ` +
          `${result.twice} were repeated after a lost response (${result.lostAnswers})`,
      ],
    };
  },
};

export const input: ChaosTest = {
  name: 'input',
  description: 'hostile requests to every operation of the document',
  async run({ seed, short, progress }) {
    const { app, log } = await startInputApp();
    const onProgress = (sent: number) => progress(`${sent} requests`);
    const { counts, faults } = await sendInput(app, { requests: short ? 3_000 : 100_000, seed, onProgress });
    const results = { ...emptyResults(), requests: counts.requests, acknowledged: counts.readBack };
    for (const [status, count] of counts.statuses) if (status.startsWith('5')) results.serverErrors += count;
    for (const { operation, shrunk } of faults) addFault(results, `${operation}: ${shrunk}`);
    for (const line of log.unexpected) addFault(results, `in the log: ${line}`);
    results.notes.push(`${counts.readBack} records read back as they were sent, ${counts.listed} lists`);
    return results;
  },
};

const ISOLATION_TESTS = [
  'test/tenant-isolation.test.ts',
  'test/companies-apart.test.ts',
  'test/slow/tenant-timing.test.ts',
];
const ROOT = new URL('../', import.meta.url);

export const tenantIsolation: ChaosTest = {
  name: 'tenant-isolation',
  description: 'every route with identifiers and credentials of another company',
  async run() {
    const setup = '--test-global-setup=test/harness/postgres.ts';
    const run = promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap', setup, ...ISOLATION_TESTS], {
      cwd: ROOT,
      maxBuffer: Infinity,
    });
    const { stdout } = await run.catch((error: { stdout: string }) => error);
    const results = { ...emptyResults(), rounds: [...stdout.matchAll(/^(not )?ok /gm)].length };
    for (const [, name = ''] of stdout.matchAll(/^not ok \d+ - (.*)$/gm)) {
      // A busy machine can cause a difference in time, which is not a leak.
      if (name.includes('takes as long')) results.timingFaults.push(name);
      else {
        results.leaks++;
        addFault(results, name);
      }
    }
    if (results.rounds === 0) addFault(results, stdout);
    return results;
  },
};
