import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../proof.ts';
import type { Cluster } from './cluster.ts';
import { type Node, TTL_S } from './node.ts';

/** What befalls a primary, and how it ends. */

export type Strike = 'kill' | 'crash' | 'cut' | 'split' | 'freeze' | 'switchover' | 'short cut' | 'restart';

/** In the order of the rounds; the short form has the first two. */
export const KINDS: readonly Strike[] = [
  'kill',
  'crash',
  'cut',
  'split',
  'freeze',
  'switchover',
  'short cut',
  'restart',
];

const REPLACED_S = 60;
const HEALED_LATER_MS = 3_000;

type Heal = () => void | Promise<void>;

/** Gives what ends it, when another server has taken over, or it has ended by itself. */
export async function strike(kind: Strike, primary: Node, cluster: Cluster, random: () => number): Promise<Heal> {
  const replaced = async () => {
    await until(`another server takes over after ${kind}`, REPLACED_S, async () => !!(await cluster.primary(primary)));
    await pause(random() * HEALED_LATER_MS);
  };
  const ordered = async (path: string, body: unknown) => {
    const answer = await primary.ask(path, body);
    if (answer?.status !== 200) throw new Error(`${kind}: ${answer?.status} ${await answer?.text()}`);
    return () => {};
  };
  switch (kind) {
    // PostgreSQL and Patroni, as a machine that is switched off; then it is switched on again.
    case 'kill':
      await primary.signal('SIGKILL');
      await replaced();
      return () => primary.start();
    // From everything. It comes back as a standby, with what only it has written taken back (pg_rewind).
    case 'cut':
      primary.host.cut();
      await replaced();
      return () => primary.host.heal();
    // From etcd and the standbys, while callers still reach it.
    case 'split':
      primary.host.split();
      await replaced();
      return () => primary.host.heal();
    // It wakes up as one who believes that it still is the primary.
    case 'freeze':
      await primary.signal('SIGSTOP');
      await replaced();
      return () => primary.signal('SIGCONT');
    case 'switchover':
      return ordered('/switchover', { leader: primary.name });
    // PostgreSQL alone: Patroni starts it again, or another takes over.
    case 'crash':
      await primary.signalDatabase('SIGKILL');
      return () => {};
    // Too short for another to take over; connections hang.
    case 'short cut':
      primary.host.cut();
      await pause(TTL_S * 400);
      return () => primary.host.heal();
    case 'restart':
      return ordered('/restart', {});
  }
}
