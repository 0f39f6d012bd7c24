import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { temporaryDirectory } from '../../test/harness/service.ts';
import { Skipped, until } from '../proof.ts';
import { freePort } from '../site.ts';
import { ETCD, Host, openNetwork } from './network.ts';
import { Node, programs } from './node.ts';

/** Three servers under Patroni, one etcd, and HAProxy, which leads to whichever of them is the primary. */

const WHOLE_S = 120;
const ASK_MS = 2_000;
const PROGRAMS = ['patroni', 'etcd', 'haproxy', 'ip', 'setpriv'];

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
    const missing = [...PROGRAMS, join(programs() ?? 'postgresql', 'postgres')].filter((program) => !isThere(program));
    if (missing.length > 0) throw new Skipped(`${missing.join(', ')} not found; chaos/packages.sh installs them`);
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

  /** Where connections to one that is the primary no longer are ended. */
  get url(): string {
    return urlOf(this.#ports[0]);
  }

  /** Where they are left to those who have them, as with a name or an address that moves. */
  get otherUrl(): string {
    return urlOf(this.#ports[1]);
  }

  /** The node that holds the lock; another than that one. */
  async primary(but?: Node): Promise<Node | undefined> {
    const asked = this.nodes.map(async (node) => node !== but && (await node.ask('/primary'))?.status === 200);
    const holds = await Promise.all(asked);
    return this.nodes.find((_, i) => holds[i]);
  }

  /** Both others follow, and one of them so that the primary waits for it. */
  async whole(): Promise<Node> {
    let found: Node | undefined;
    await until('the cluster is whole', WHOLE_S, async () => {
      found = await this.primary();
      const answer = await found?.ask('/cluster');
      const { members = [] } = answer ? ((await answer.json()) as { members: Member[] }) : {};
      const waitedFor = members.filter(({ role }) => role === 'sync_standby').length;
      if (!found || waitedFor !== Number(this.#synchronous)) return false;
      const following = await this.#following().catch(() => 0);
      return following === this.nodes.length - 1;
    });
    return found as Node;
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
    // PostgreSQL's own user goes through it.
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
      await node.make(this.#synchronous);
      node.start();
    }
    await this.whole();
  }

  #run(program: string, args: string[]): void {
    this.#processes.push(spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args], { stdio: 'ignore' }));
  }

  async #following(): Promise<number> {
    const client = new pg.Client({
      connectionString: this.url,
      connectionTimeoutMillis: ASK_MS,
      query_timeout: ASK_MS,
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
${leadTo('ending', ports[0], 'on-marked-down shutdown-sessions', nodes)}
${leadTo('leaving', ports[1], '', nodes)}
`;

const leadTo = (name: string, port: number, options: string, nodes: Node[]) => `listen ${name}
  bind 127.0.0.1:${port}
  default-server inter 1s fall 2 rise 1 ${options}
${nodes.map(({ check }) => `  ${check}`).join('\n')}`;

function isThere(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}
