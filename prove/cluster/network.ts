import { execFileSync } from 'node:child_process';
import { Skipped } from '../proof.ts';

/** Machines that are no machines: each node has a network of its own, joined to the others by a bridge. */

const BRIDGE = 'crprove';
const PREFIX = '10.231.7';
const PEERS = ['11', '12', '13'];

/** Where the proxy stands, and where etcd does: a node can be cut off from one and not from the other. */
export const PROXY = `${PREFIX}.1`;
export const ETCD = `${PREFIX}.2`;
export const SUBNET = `${PREFIX}.0/24`;

const ip = (...args: string[]): void => void execFileSync('ip', args, { stdio: 'pipe' });
const tryIp = (...args: string[]): void => {
  try {
    ip(...args);
  } catch {}
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

  unplug(): void {
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

export function openNetwork(hosts: Host[]): void {
  closeNetwork(hosts);
  try {
    ip('link', 'add', BRIDGE, 'type', 'bridge');
    for (const address of [PROXY, ETCD]) ip('addr', 'add', `${address}/24`, 'dev', BRIDGE);
    ip('link', 'set', BRIDGE, 'up');
    for (const host of hosts) host.plug();
  } catch (error) {
    closeNetwork(hosts);
    throw new Skipped(`networks cannot be made here, it takes root and ip netns: ${(error as Error).message}`);
  }
}

/** Also what a run that was killed has left. */
export function closeNetwork(hosts: Host[]): void {
  for (const host of hosts) host.unplug();
  tryIp('link', 'del', BRIDGE);
}
