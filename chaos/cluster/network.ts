import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { Skipped } from '../proof.ts';
import { kill } from '../site.ts';

/** Machines that are no machines: each node has a network of its own, joined to the others by a bridge. */

const BRIDGE = 'crprove';
const PREFIX = '10.231.7';
const PEERS = ['11', '12', '13'];

/** Where the proxy stands, and where etcd does: a node can be cut off from one and not from the other. */
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
  readonly #wire: string;

  constructor(name: string, index: number) {
    this.name = name;
    this.address = `${PREFIX}.${PEERS[index]}`;
    this.namespace = `${BRIDGE}-${name}`;
    this.#wire = `${BRIDGE}-${name}`;
  }

  plug(): void {
    ip('netns', 'add', this.namespace);
    ip('link', 'add', this.#wire, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', this.namespace);
    ip('-n', this.namespace, 'addr', 'add', `${this.address}/24`, 'dev', 'eth0');
    for (const device of ['lo', 'eth0']) ip('-n', this.namespace, 'link', 'set', device, 'up');
    ip('link', 'set', this.#wire, 'master', BRIDGE, 'up');
  }

  /** With whatever still runs there. */
  unplug(): void {
    for (const pid of tryIp('netns', 'pids', this.namespace).split(/\s+/)) if (pid !== '') kill(Number(pid));
    tryIp('link', 'del', this.#wire);
    tryIp('netns', 'del', this.namespace);
  }

  /** Every packet is lost, both ways; nobody is told. */
  cut(): void {
    ip('link', 'set', this.#wire, 'nomaster');
  }

  /** Those who call it reach it; it reaches neither etcd nor the other nodes. */
  split(): void {
    for (const lost of this.#others()) ip('-n', this.namespace, 'route', 'add', 'blackhole', lost);
  }

  heal(): void {
    tryIp('link', 'set', this.#wire, 'master', BRIDGE);
    for (const lost of this.#others()) tryIp('-n', this.namespace, 'route', 'del', 'blackhole', lost);
  }

  #others(): string[] {
    return [ETCD, ...PEERS.map((peer) => `${PREFIX}.${peer}`).filter((address) => address !== this.address)];
  }
}

/** Gives what closes it. */
export async function openNetwork(hosts: Host[]): Promise<() => void> {
  const lock = await alone();
  const close = () => {
    for (const host of hosts) host.unplug();
    tryIp('link', 'del', BRIDGE);
  };
  // What a run that was killed has left.
  close();
  try {
    ip('link', 'add', BRIDGE, 'type', 'bridge');
    for (const address of [PROXY, ETCD]) ip('addr', 'add', `${address}/24`, 'dev', BRIDGE);
    ip('link', 'set', BRIDGE, 'up');
    for (const host of hosts) host.plug();
  } catch (error) {
    close();
    lock.close();
    throw new Skipped(`networks cannot be made here, it takes root and ip netns: ${(error as Error).message}`);
  }
  return () => {
    close();
    lock.close();
  };
}

/** The names are the machine's: one run at a time. */
async function alone(): Promise<Server> {
  const lock = createServer().listen(`\0case-records ${BRIDGE}`);
  await once(lock, 'listening').catch(() => {
    throw new Skipped('another run of it is under way on this machine');
  });
  return lock;
}
