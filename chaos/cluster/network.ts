import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { SkippedError } from '../chaos-test.ts';
import { kill } from '../deployment.ts';

/** Simulates machines: each node has its own network namespace, connected to the others by a bridge. */

const BRIDGE = 'crchaos';
const PREFIX = '10.231.7';
const HOST_NUMBERS = ['11', '12', '13'];

/** The proxy and etcd have different addresses, so that a node can be isolated from one of them only. */
export const PROXY = `${PREFIX}.1`;
export const ETCD = `${PREFIX}.2`;
export const SUBNET = `${PREFIX}.0/24`;

const ip = (...args: string[]): string => execFileSync('ip', args, { stdio: 'pipe' }).toString();
const tryIp = (...args: string[]): string => {
  try {
    return ip(...args);
  } catch {
    return '';
  }
};

export class Host {
  readonly name: string;
  readonly address: string;
  readonly namespace: string;
  readonly #device: string;

  constructor(name: string, index: number) {
    this.name = name;
    this.address = `${PREFIX}.${HOST_NUMBERS[index]}`;
    this.namespace = `${BRIDGE}-${name}`;
    this.#device = `${BRIDGE}-${name}`;
  }

  create(): void {
    ip('netns', 'add', this.namespace);
    ip('link', 'add', this.#device, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', this.namespace);
    ip('-n', this.namespace, 'addr', 'add', `${this.address}/24`, 'dev', 'eth0');
    for (const device of ['lo', 'eth0']) ip('-n', this.namespace, 'link', 'set', device, 'up');
    ip('link', 'set', this.#device, 'master', BRIDGE, 'up');
  }

  /** Kills the processes of the namespace and removes it. */
  remove(): void {
    for (const pid of tryIp('netns', 'pids', this.namespace).split(/\s+/)) if (pid !== '') kill(Number(pid));
    tryIp('link', 'del', this.#device);
    tryIp('netns', 'del', this.namespace);
  }

  /** Drops all packets in both directions, without any error. */
  disconnect(): void {
    ip('link', 'set', this.#device, 'nomaster');
  }

  /** Clients still reach the node, but the node reaches neither etcd nor the other nodes. */
  isolate(): void {
    for (const address of this.#otherAddresses()) ip('-n', this.namespace, 'route', 'add', 'blackhole', address);
  }

  heal(): void {
    tryIp('link', 'set', this.#device, 'master', BRIDGE);
    for (const address of this.#otherAddresses()) tryIp('-n', this.namespace, 'route', 'del', 'blackhole', address);
  }

  #otherAddresses(): string[] {
    return [ETCD, ...HOST_NUMBERS.map((peer) => `${PREFIX}.${peer}`).filter((address) => address !== this.address)];
  }
}

/** Creates the network. Returns a function that removes it. */
export async function openNetwork(hosts: Host[]): Promise<() => void> {
  const lock = await lockNetwork();
  const close = () => {
    for (const host of hosts) host.remove();
    tryIp('link', 'del', BRIDGE);
  };
  // Removes what a killed run has left behind.
  close();
  try {
    ip('link', 'add', BRIDGE, 'type', 'bridge');
    for (const address of [PROXY, ETCD]) ip('addr', 'add', `${address}/24`, 'dev', BRIDGE);
    ip('link', 'set', BRIDGE, 'up');
    for (const host of hosts) host.create();
  } catch (error) {
    close();
    lock.close();
    throw new SkippedError(`creating networks needs root and ip netns: ${(error as Error).message}`);
  }
  return () => {
    close();
    lock.close();
  };
}

/** The device names are global to the machine, so only one run is possible at a time. */
async function lockNetwork(): Promise<Server> {
  const lock = createServer().listen(`\0case-records ${BRIDGE}`);
  await once(lock, 'listening').catch(() => {
    throw new SkippedError('another run is in progress on this machine');
  });
  return lock;
}
