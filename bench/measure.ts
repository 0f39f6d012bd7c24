import type pg from 'pg';
import { restoreAppointments } from './dataset.ts';
import type { Form, Transport } from './forms.ts';
import type { TimedRequest } from './load/driver.ts';
import type { Operation } from './operations.ts';
import type { LoadGenerator, Server } from './servers.ts';
import { cpuSecondsOfTree } from './usage.ts';

/** The results of one server in one round. Latencies and CPU time per request are in milliseconds. */
export type Round = {
  requests: number;
  requestsPerSecond: number;
  p50: number;
  p99: number;
  processCpu: number | undefined;
  databaseCpu: number | undefined;
  /** CPU time of the load generator. */
  loadCpu: number | undefined;
};

/** A server, its database, its load generator, and what that sends. */
export type Target = {
  /** Undefined if the load generator sends its statements to the database itself. */
  pid: number | undefined;
  port: Server['port'];
  client: pg.Client;
  load: LoadGenerator;
  form?: Form;
  transport?: Transport;
  /** The part of the warm-up that this target gets. Targets on the same process can share it. */
  warmUpShare?: number;
};

type MeasureOptions = {
  databasePid: number;
  connections: number;
  seconds: number;
  warmUp: number;
  rounds: number;
  onRound: (operation: Operation, target: string, round: number) => void;
  /** Called after every measured round with its slowest requests. Without it they are not collected. */
  onSlowRequests?: ((target: string, startedAt: number, slow: TimedRequest[]) => void) | undefined;
};

/**
 * Runs all rounds of one operation. In each round the targets take turns. The next round starts with the next target
 * and takes them in the other direction, so that no target always follows the same one.
 */
export async function measure<K extends string>(
  { databasePid, connections, seconds, warmUp, rounds, onRound, onSlowRequests }: MeasureOptions,
  operation: Operation,
  targets: Record<K, Target>,
): Promise<Record<K, Round>[]> {
  const names = Object.keys(targets) as K[];
  const run = async (name: K, duration: number, isMeasured: boolean): Promise<Round> => {
    const { pid, port, client, load, form, transport } = targets[name];
    if (operation.consumes) await restoreAppointments(client);
    const traced = isMeasured && onSlowRequests !== undefined;
    const task = { operation: operation.id, port, connections, seconds: duration, form, transport, traced };
    await load.prepare(task);
    const pids = [pid, databasePid, load.pid] as const;
    const cpuSeconds = () => pids.map((one) => (one === undefined ? undefined : cpuSecondsOfTree(one)));
    const [before, startedAt] = [cpuSeconds(), Date.now()];
    const result = await load.drive(task);
    const after = cpuSeconds();
    const { requests, p50, p99, slow, firstFailure } = result;
    if (firstFailure) {
      const { status, text } = firstFailure;
      throw new Error(`${operation.name}: ${name} answered ${status} under load: ${text}`);
    }
    if (slow) onSlowRequests?.(name, startedAt, slow);
    const perRequest = (i: 0 | 1 | 2) => (((after[i] ?? Number.NaN) - (before[i] ?? Number.NaN)) * 1000) / requests;
    const known = (value: number) => (Number.isNaN(value) ? undefined : value);
    return {
      requests,
      requestsPerSecond: requests / result.seconds,
      p50,
      p99,
      processCpu: known(perRequest(0)),
      databaseCpu: known(perRequest(1)),
      loadCpu: known(perRequest(2)),
    };
  };
  for (const name of names) {
    onRound(operation, name, 0);
    const { warmUpShare = 1 } = targets[name];
    // In parts as long as a round: when its first connections end, V8 discards much of the compiled code.
    for (let left = warmUp * warmUpShare; left > 0; left -= seconds) await run(name, Math.min(left, seconds), false);
  }
  const measured: Record<K, Round>[] = [];
  for (let i = 0; i < rounds; i++) {
    const round: Partial<Record<K, Round>> = {};
    const rotated = [...names.slice(i % names.length), ...names.slice(0, i % names.length)];
    for (const name of i % 2 === 0 ? rotated : rotated.reverse()) {
      onRound(operation, name, i + 1);
      round[name] = await run(name, seconds, true);
    }
    measured.push(round as Record<K, Round>);
  }
  return measured;
}
