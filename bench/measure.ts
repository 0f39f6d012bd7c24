import type pg from 'pg';
import type { Operation } from './operations.ts';
import type { Load, Server } from './servers.ts';
import { cpuOfTree } from './usage.ts';
import { restoreAppointments } from './world.ts';

/** One server under load for some seconds. Times are in milliseconds, CPU time is that of one request. */
export type Round = {
  requests: number;
  requestsPerSecond: number;
  p50: number;
  p99: number;
  processCpu: number | undefined;
  databaseCpu: number | undefined;
};

/** A server, its database, and the load that it is put under. */
export type Target = Pick<Server, 'pid' | 'port'> & { client: pg.Client; load: Load };

type Bench = {
  databasePid: number;
  connections: number;
  seconds: number;
  warmUp: number;
  rounds: number;
  onRound: (operation: Operation, server: string, round: number) => void;
};

/** All rounds of one operation: of each target in turn, and the first is another one each time. */
export async function measure<K extends string>(
  { databasePid, connections, seconds, warmUp, rounds, onRound }: Bench,
  operation: Operation,
  targets: Record<K, Target>,
): Promise<Record<K, Round>[]> {
  const names = Object.keys(targets) as K[];
  const run = async (name: K, duration: number): Promise<Round> => {
    const { pid, port, client, load } = targets[name];
    if (operation.once) await restoreAppointments(client);
    const before = [cpuOfTree(pid), cpuOfTree(databasePid)] as const;
    const driven = await load.drive({ operation: operation.id, port, connections, seconds: duration });
    const after = [cpuOfTree(pid), cpuOfTree(databasePid)] as const;
    const { requests, p50, p99, fault } = driven;
    if (fault) throw new Error(`${operation.name}: the ${name} answered ${fault.status} under load: ${fault.text}`);
    const perRequest = (i: 0 | 1) =>
      before[i] === undefined || after[i] === undefined ? undefined : ((after[i] - before[i]) * 1000) / requests;
    return {
      requests,
      requestsPerSecond: requests / driven.seconds,
      p50,
      p99,
      processCpu: perRequest(0),
      databaseCpu: perRequest(1),
    };
  };
  for (const name of names) {
    onRound(operation, name, 0);
    // No longer than a round: with the end of its first connections Node throws away much of what it had compiled.
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
