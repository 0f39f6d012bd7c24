import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../test/harness/free-port.ts';
import { temporaryDirectory } from '../../test/harness/service.ts';
import { SkippedError, waitUntil } from '../chaos-test.ts';
import { ETCD, Host, openNetwork } from './network.ts';
import { findPostgresPrograms, Node } from './node.ts';

/** Three PostgreSQL servers under Patroni, one etcd, and HAProxy, which forwards connections to the primary. */

const HEALTHY_TIMEOUT_S = 120;
const QUERY_TIMEOUT_MS = 2_000;
const REQUIRED_PROGRAMS = ['patroni', 'etcd', 'haproxy', 'ip', 'setpriv'];

type Home = Awaited<ReturnType<typeof temporaryDirectory>>;
type Member = { role: string; state: string };

export class Cluster {
  readonly nodes: Node[];
  readonly #home: Home;
  readonly #ports: [number, number];
  readonly #synchronous: boolean;
  readonly #closeNetwork: () => void;
  readonly #processes: ChildProcess[] = [];

  static async open({ synchronous = true } = {}): Promise<Cluster> {
    const missing = [...REQUIRED_PROGRAMS, join(findPostgresPrograms() ?? 'postgresql', 'postgres')].filter(
      (program) => !isInstalled(program),
    );
    if (missing.length > 0) throw new SkippedError(`${missing.join(', ')} not found; chaos/packages.sh installs them`);
    const hosts = ['a', 'b', 'c'].map((name, index) => new Host(name, index));
    const closeNetwork = await openNetwork(hosts);
    const home = await temporaryDirectory();
    const cluster = new Cluster(home, hosts, [await freePort(), await freePort()], synchronous, closeNetwork);
    try {
      await cluster.#start();
    } catch (error) {
      await cluster.remove();
      throw error;
    }
    return cluster;
  }

  private constructor(
    home: Home,
    hosts: Host[],
    ports: [number, number],
    synchronous: boolean,
    closeNetwork: () => void,
  ) {
    this.#home = home;
    this.#ports = ports;
    this.#synchronous = synchronous;
    this.#closeNetwork = closeNetwork;
    this.nodes = hosts.map((host) => new Node(host, home.path));
  }

  /** A proxy port that closes connections to a server when it is no longer the primary. */
  get url(): string {
    return urlOf(this.#ports[0]);
  }

  /** A proxy port that keeps such connections open, as with a DNS name or an address that moves. */
  get otherUrl(): string {
    return urlOf(this.#ports[1]);
  }

  /** Returns the primary, ignoring `except`. */
  async primary(except?: Node): Promise<Node | undefined> {
    const responses = this.nodes.map(
      async (node) => node !== except && (await node.requestPatroni('/primary'))?.status === 200,
    );
    const arePrimary = await Promise.all(responses);
    return this.nodes.find((_, i) => arePrimary[i]);
  }

  /** Waits until both standbys stream from the primary, one of them synchronously. Returns the primary. */
  async waitUntilHealthy(): Promise<Node> {
    let primary: Node | undefined;
    await waitUntil('the cluster is healthy', HEALTHY_TIMEOUT_S, async () => {
      primary = await this.primary();
      const answer = await primary?.requestPatroni('/cluster');
      const { members = [] } = answer ? ((await answer.json()) as { members: Member[] }) : {};
      const synchronous = members.filter(({ role }) => role === 'sync_standby').length;
      if (!primary || synchronous !== Number(this.#synchronous)) return false;
      const streaming = await this.#countStreamingStandbys().catch(() => 0);
      return streaming === this.nodes.length - 1;
    });
    return primary as Node;
  }

  async remove(): Promise<void> {
    for (const { host } of this.nodes) host.heal();
    await Promise.all(this.nodes.map((node) => node.remove()));
    for (const child of this.#processes) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    this.#closeNetwork();
    await this.#home.remove();
  }

  async #start(): Promise<void> {
    // The user of PostgreSQL must be able to enter the folder.
    await chmod(this.#home.path, 0o711);
    const urls = `http://${ETCD}:2379`;
    this.#run('etcd', [
      '--data-dir',
      join(this.#home.path, 'etcd'),
      '--listen-client-urls',
      urls,
      '--advertise-client-urls',
      urls,
      '--listen-peer-urls',
      `http://${ETCD}:2380`,
      '--enable-v2',
      '--log-level',
      'error',
    ]);
    const proxy = join(this.#home.path, 'haproxy.cfg');
    await writeFile(proxy, proxyConfig(this.#ports, this.nodes));
    this.#run('haproxy', ['-db', '-f', proxy]);
    for (const node of this.nodes) {
      await node.create(this.#synchronous);
      node.start();
    }
    await this.waitUntilHealthy();
  }

  #run(program: string, args: string[]): void {
    this.#processes.push(spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args], { stdio: 'ignore' }));
  }

  async #countStreamingStandbys(): Promise<number> {
    const client = new pg.Client({
      connectionString: this.url,
      connectionTimeoutMillis: QUERY_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      const { rows } = await client.query(
        `SELECT count(*)::int AS n FROM pg_stat_replication WHERE state = 'streaming'`,
      );
      return rows[0].n;
    } finally {
      await client.end();
    }
  }
}

const urlOf = (port: number) => `postgresql://postgres@127.0.0.1:${port}/postgres`;

const proxyConfig = (ports: [number, number], nodes: Node[]) => `defaults
  mode tcp
  timeout connect 2s
  timeout client 30m
  timeout server 30m
  option httpchk OPTIONS /primary
  http-check expect status 200
  timeout check 1s
${proxySection('ending', ports[0], 'on-marked-down shutdown-sessions', nodes)}
${proxySection('leaving', ports[1], '', nodes)}
`;

const proxySection = (name: string, port: number, options: string, nodes: Node[]) => `listen ${name}
  bind 127.0.0.1:${port}
  default-server inter 1s fall 2 rise 1 ${options}
${nodes.map(({ proxyLine }) => `  ${proxyLine}`).join('\n')}`;

function isInstalled(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}
