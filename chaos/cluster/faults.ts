import { setTimeout as pause } from 'node:timers/promises';
import { waitUntil } from '../chaos-test.ts';
import type { Cluster } from './cluster.ts';
import { type Node, TTL_S } from './node.ts';

/** Faults of the primary, and how they are repaired. */

export type ClusterFault = 'kill' | 'crash' | 'cut' | 'split' | 'freeze' | 'switchover' | 'short cut' | 'restart';

/** In the order of the rounds; the short form runs the first two. */
export const CLUSTER_FAULTS: readonly ClusterFault[] = [
  'kill',
  'crash',
  'cut',
  'split',
  'freeze',
  'switchover',
  'short cut',
  'restart',
];

const FAILOVER_TIMEOUT_S = 60;
const MAX_HEAL_DELAY_MS = 3_000;

type Heal = () => void | Promise<void>;

/** Injects the fault and waits for the failover, if there is one. Returns a function that repairs the fault. */
export async function injectFault(
  kind: ClusterFault,
  primary: Node,
  cluster: Cluster,
  random: () => number,
): Promise<Heal> {
  const waitForFailover = async () => {
    await waitUntil(
      `another server takes over after ${kind}`,
      FAILOVER_TIMEOUT_S,
      async () => !!(await cluster.primary(primary)),
    );
    await pause(random() * MAX_HEAL_DELAY_MS);
  };
  const requestFromPatroni = async (path: string, body: unknown) => {
    const answer = await primary.requestPatroni(path, body);
    if (answer?.status !== 200) throw new Error(`${kind}: ${answer?.status} ${await answer?.text()}`);
    return () => {};
  };
  switch (kind) {
    // PostgreSQL and Patroni are killed, as if the machine were switched off.
    case 'kill':
      await primary.signal('SIGKILL');
      await waitForFailover();
      return () => primary.start();
    // The primary is disconnected. It returns as a standby, and pg_rewind removes what only it has written.
    case 'cut':
      primary.host.disconnect();
      await waitForFailover();
      return () => primary.host.heal();
    // The primary is isolated from etcd and the standbys, while clients still reach it.
    case 'split':
      primary.host.isolate();
      await waitForFailover();
      return () => primary.host.heal();
    // The primary is frozen. When it continues, it still believes that it is the primary.
    case 'freeze':
      await primary.signal('SIGSTOP');
      await waitForFailover();
      return () => primary.signal('SIGCONT');
    case 'switchover':
      return requestFromPatroni('/switchover', { leader: primary.name });
    // Only PostgreSQL is killed: Patroni restarts it, or another server takes over.
    case 'crash':
      await primary.signalDatabase('SIGKILL');
      return () => {};
    // The disconnection is too short for a failover; connections hang.
    case 'short cut':
      primary.host.disconnect();
      await pause(TTL_S * 400);
      return () => primary.host.heal();
    case 'restart':
      return requestFromPatroni('/restart', {});
  }
}
