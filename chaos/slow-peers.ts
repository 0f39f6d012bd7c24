import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { addFault, type ChaosTest, emptyResults, type Results, waitUntil } from './chaos-test.ts';
import { type Demo, readMemoryMegabytes } from './deployment.ts';
import { monitorProcess } from './process-monitor.ts';
import { sendLoad } from './request-load.ts';
import { type SingleService, withSingleService } from './single-service.ts';

/** Peers that connect and send nothing, send headers or bodies slowly, or do not read a long response. */

const PEERS_PER_KIND = 1_000;
const DRIP_INTERVAL_MS = 2_000;
const PAUSE_BETWEEN_KINDS_MS = 500;
// See docs/operations.md: 30 s for a request, 5 s until it is noticed, 60 s after a peer last read from its response.
const DISCONNECT_TIMEOUT_S = 80;
const RUSH_TIMEOUT_S = 30;
// Relative to the memory before the slow peers connected.
const MAX_MEMORY_RATIO = 1.5;
const OBSERVATION_MS = 4_000;
const RUSH_MS = 6_000;
const SHORT_RUSH_MS = 2_000;
// Without work for the database. A thousand concurrent lists, or all kinds together, also use the cores for it.
const MAX_HEALTH_MS = 1_000;
const MAX_HEALTH_UNDER_LOAD_MS = 3_000;
const MAX_P99_MS = 2_000;
const LIST_LENGTH = 20_000;

type SlowPeerKind = {
  name: string;
  firstBytes: (demo: Demo) => string;
  drip?: string;
  readsNothing?: boolean;
  /** Whether the requests use the database. */
  usesDatabase?: boolean;
};

/** A token request without credentials and with an incomplete body. */
const tokenRequest = (bodyBytes: number) =>
  'POST /oauth/token HTTP/1.1\r\nHost: chaos\r\nContent-Type: application/json\r\nContent-Length: 16384\r\n\r\n' +
  ' '.repeat(bodyBytes);

const head = (demo: Demo, method: string) =>
  `${method} /cases/${demo.case_id}/interactions HTTP/1.1\r\nHost: chaos\r\n` +
  `Authorization: Bearer ${demo.token}\r\nContent-Type: application/json\r\n`;

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: chaos\r\n\r\n`;

/** `script`: the path of the script of the API reference. */
const slowPeerKinds = (script: string): SlowPeerKind[] => [
  { name: 'half-open', firstBytes: () => '' },
  { name: 'idle after a response', firstBytes: () => get('/healthz') },
  { name: 'slow token requests', firstBytes: () => tokenRequest(16_000), drip: ' ' },
  { name: 'readers of the script', firstBytes: () => get(script), readsNothing: true },
  { name: 'readers of the document', firstBytes: () => get('/openapi.json'), readsNothing: true },
  { name: 'slow headers', firstBytes: (demo) => head(demo, 'POST'), drip: 'X-Slow: 1\r\n' },
  { name: 'slow bodies', firstBytes: (demo) => `${head(demo, 'POST')}Content-Length: 100000\r\n\r\n{`, drip: ' ' },
  {
    name: 'readers of a long list',
    firstBytes: (demo) => `${head(demo, 'GET')}\r\n`,
    readsNothing: true,
    usesDatabase: true,
  },
];

function connectSlowPeer(url: string, { firstBytes: begins, readsNothing: unread }: SlowPeerKind, demo: Demo): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write(begins(demo));
  if (unread) socket.pause();
  else socket.resume();
  return socket;
}

export const slowPeers: ChaosTest = {
  name: 'slow-peers',
  description: `${PEERS_PER_KIND} concurrent peers of each kind that sends or reads slowly`,
  async run({ short, progress }): Promise<Results> {
    const results = emptyResults();
    const sockets: Socket[] = [];
    const timers: NodeJS.Timeout[] = [];
    const work = async ({ deployment, demo, client, servicePid, interactionsPath: path }: SingleService) => {
      await deployment.sql(
        `INSERT INTO interactions (company_id, case_id, id, type, notes, sender, recipient, happened_at, created_at,
           updated_at)
         SELECT company_id, id, gen_random_uuid(), 'phone', repeat('long ', 40), '', '', now(), now(), now()
           FROM cases, generate_series(1, $1) WHERE id = $2`,
        [LIST_LENGTH, demo.case_id],
      );
      await deployment.sql('ANALYZE interactions');
      const request = () => ({ method: 'POST', path, body: { type: 'phone', notes: 'during slow peers' } });
      const undisturbed = await sendLoad(client, results, { callers: 10, seconds: short ? 0.5 : 2, request });
      const page = await (await fetch(`${deployment.url}/docs`)).text();
      const script = `/${/"(docs\/reference\.[^"]+)"/.exec(page)?.[1]}`;
      await (await fetch(`${deployment.url}/openapi.json`)).text();
      await client.send({ method: 'GET', path });

      const kinds = slowPeerKinds(script);
      const peersPerKind = short ? PEERS_PER_KIND / 20 : PEERS_PER_KIND;
      for (const kind of kinds) {
        const restMegabytes = await readMemoryMegabytes(servicePid);
        const monitor = monitorProcess(deployment.url, servicePid);
        const peers = Array.from({ length: peersPerKind }, () => connectSlowPeer(deployment.url, kind, demo));
        await pause(short ? OBSERVATION_MS / 8 : OBSERVATION_MS);
        const { peakMegabytes, maxHealthMs } = await monitor.stop();
        for (const peer of peers) peer.destroy();
        const ratio = Math.round((peakMegabytes / restMegabytes) * 100) / 100;
        results.notes.push(
          `${peersPerKind} ${kind.name}: memory ${restMegabytes} to ${peakMegabytes} MB (${ratio}), ` +
            `/healthz at most ${maxHealthMs} ms`,
        );
        if (ratio > MAX_MEMORY_RATIO) addFault(results, `${kind.name}: memory ${restMegabytes} to ${peakMegabytes} MB`);
        if (maxHealthMs > (kind.usesDatabase ? MAX_HEALTH_UNDER_LOAD_MS : MAX_HEALTH_MS))
          results.timingFaults.push(`${kind.name}: /healthz took ${maxHealthMs} ms`);
      }

      const restMegabytes = await readMemoryMegabytes(servicePid);
      const monitor = monitorProcess(deployment.url, servicePid);
      const open = new Map(kinds.map(({ name }) => [name, 0]));
      for (const kind of kinds) {
        for (let i = 0; i < peersPerKind; i++) {
          const socket = connectSlowPeer(deployment.url, kind, demo);
          sockets.push(socket);
          open.set(kind.name, (open.get(kind.name) ?? 0) + 1);
          socket.on('close', () => open.set(kind.name, (open.get(kind.name) ?? 0) - 1));
          const { drip } = kind;
          if (drip) timers.push(setInterval(() => socket.writable && socket.write(drip), DRIP_INTERVAL_MS));
        }
        // This process needs time to open the connections.
        await pause(PAUSE_BETWEEN_KINDS_MS);
      }
      const openPeers = () => [...open].map(([name, count]) => `${count} ${name}`).join(', ');
      const connectedAt = performance.now();
      // The long lists exceed the limit of concurrent requests, so requests are refused until they have been served.
      let refused = 0;
      await waitUntil('the rush of long lists is over', RUSH_TIMEOUT_S, async () => {
        const { status } = await client.send(request());
        if (status !== 200) refused++;
        return status === 200 && performance.now() - connectedAt > (short ? SHORT_RUSH_MS : RUSH_MS);
      });
      results.notes.push(`${refused} other requests were refused during ${peersPerKind} concurrent long lists`);
      progress(`other requests are served during ${openPeers()}`);
      const disturbed = await sendLoad(client, results, { callers: 10, seconds: short ? 1 : 20, request });
      const { peakMegabytes, maxHealthMs } = await monitor.stop();
      const ratio = Math.round((peakMegabytes / restMegabytes) * 100) / 100;
      if (disturbed.refused > 0) results.timingFaults.push(`${disturbed.refused} other requests were refused`);
      if (disturbed.p99Ms > MAX_P99_MS) results.timingFaults.push(`other requests waited: p99 ${disturbed.p99Ms} ms`);
      if (ratio > MAX_MEMORY_RATIO)
        addFault(results, `all kinds together: memory ${restMegabytes} to ${peakMegabytes} MB`);
      if (maxHealthMs > MAX_HEALTH_UNDER_LOAD_MS) results.timingFaults.push(`/healthz took ${maxHealthMs} ms`);
      for (const { name, drip } of kinds) {
        if (drip && open.get(name) !== peersPerKind)
          results.timingFaults.push(`${openPeers()} were open when the other requests had been served`);
      }
      results.notes.push(
        `other requests: p99 ${undisturbed.p99Ms} ms without slow peers, ` +
          `${disturbed.p99Ms} ms with ${peersPerKind} of each kind (${disturbed.throughput}/s)`,
        `all kinds together: ${restMegabytes} MB at rest, peak ${peakMegabytes} MB (${ratio}); ` +
          `/healthz at most ${maxHealthMs} ms`,
      );
      if (short) results.notes.push('SKIPPED in the short form: waiting until all peers are disconnected');
      else {
        // Node reports the end of a connection only while its socket is read.
        const secondsLeft = DISCONNECT_TIMEOUT_S - (performance.now() - connectedAt) / 1000;
        const resume = setTimeout(() => sockets.forEach((socket) => void socket.resume()), (secondsLeft - 5) * 1000);
        await waitUntil(`all slow peers are disconnected after ${DISCONNECT_TIMEOUT_S} s`, secondsLeft, () => {
          progress(`open: ${openPeers()}`);
          return [...open.values()].every((count) => count === 0);
        }).catch((error) => addFault(results, `${error.message} ${openPeers()}`));
        clearTimeout(resume);
        results.notes.push(`all were disconnected within ${Math.round((performance.now() - connectedAt) / 1000)} s`);
      }
      results.rounds = kinds.length;
    };
    const end = () => {
      for (const timer of timers) clearInterval(timer);
      for (const socket of sockets) socket.destroy();
    };
    // All kinds together exceed the default limit of connections.
    await withSingleService((service) => work(service).finally(end), { MAX_CONNECTIONS: '10000' });
    return results;
  },
};
