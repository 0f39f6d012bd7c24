import type pg from 'pg';
import { restoreAppointments } from './dataset.ts';
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
};

/** A server, its database, and its load generator. */
export type Target = Pick<Server, 'pid' | 'port'> & { client: pg.Client; load: LoadGenerator };

type MeasureOptions = {
  databasePid: number;
  connections: number;
  seconds: number;
  warmUp: number;
  rounds: number;
  onRound: (operation: Operation, server: string, round: number) => void;
};

/** Runs all rounds of one operation. The targets take turns, and their order is reversed every round. */
export async function measure<K extends string>(
  { databasePid, connections, seconds, warmUp, rounds, onRound }: MeasureOptions,
  operation: Operation,
  targets: Record<K, Target>,
): Promise<Record<K, Round>[]> {
  const names = Object.keys(targets) as K[];
  const run = async (name: K, duration: number): Promise<Round> => {
    const { pid, port, client, load } = targets[name];
    if (operation.consumes) await restoreAppointments(client);
    const before = [cpuSecondsOfTree(pid), cpuSecondsOfTree(databasePid)] as const;
    const result = await load.drive({ operation: operation.id, port, connections, seconds: duration });
    const after = [cpuSecondsOfTree(pid), cpuSecondsOfTree(databasePid)] as const;
    const { requests, p50, p99, firstFailure } = result;
    if (firstFailure) {
      const { status, text } = firstFailure;
      throw new Error(`${operation.name}: the ${name} answered ${status} under load: ${text}`);
    }
    const perRequest = (i: 0 | 1) =>
      before[i] === undefined || after[i] === undefined ? undefined : ((after[i] - before[i]) * 1000) / requests;
    return {
      requests,
      requestsPerSecond: requests / result.seconds,
      p50,
      p99,
      processCpu: perRequest(0),
      databaseCpu: perRequest(1),
    };
  };
  for (const name of names) {
    onRound(operation, name, 0);
    // In parts as long as a round: when its first connections end, V8 discards much of the compiled code.
    for (let left = warmUp; left > 0; left -= seconds) await run(name, Math.min(left, seconds));
  }
  const measured: Record<K, Round>[] = [];
  for (let i = 0; i < rounds; i++) {
    const round: Partial<Record<K, Round>> = {};
    for (const name of i % 2 === 0 ? names : names.toReversed()) {
      onRound(operation, name, i + 1);
      round[name] = await run(name, seconds);
    }
    measured.push(round as Record<K, Round>);
  }
  return measured;
}
