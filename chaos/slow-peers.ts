import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type Alone, alone } from './alone.ts';
import { drive } from './drive.ts';
import { type Figures, fault, noFigures, type Proof, until } from './proof.ts';
import { type Demo, memoryOf } from './site.ts';
import { watched } from './watched.ts';

/** Peers that connect and say nothing, send headers or bodies drop by drop, or do not read a long answer. */

const EACH = 1_000;
const DROP_EVERY_MS = 2_000;
const BETWEEN_KINDS_MS = 500;
// What docs/operations.md says: 30 seconds for a request and 5 to notice, 60 after a peer last took something of its answer.
const GONE_S = 80;
const RUSH_S = 30;
// Of what the process had before the slow peers came.
const MOST_MEMORY = 1.5;
const KIND_MS = 4_000;
// Beside strangers. A thousand lists at once, or all kinds together, also keep the database busy, on the same two cores.
const MOST_HEALTH_MS = 1_000;
const MOST_HEALTH_BESIDE_WORK_MS = 3_000;
const MOST_P99_MS = 2_000;
const ENTRIES = 20_000;

type Slow = {
  name: string;
  begins: (demo: Demo) => string;
  drop?: string;
  unread?: boolean;
  /** Whether the database has to work for it. */
  works?: boolean;
};

/** Without credentials, with most of its body. */
const tokenRequest = (sent: number) =>
  `POST /oauth/token HTTP/1.1\r\nHost: prove\r\nContent-Type: application/json\r\nContent-Length: 16384\r\n\r\n${' '.repeat(sent)}`;

const head = (demo: Demo, method: string) =>
  `${method} /cases/${demo.case_id}/interactions HTTP/1.1\r\nHost: prove\r\nAuthorization: Bearer ${demo.token}\r\nContent-Type: application/json\r\n`;

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: prove\r\n\r\n`;

/** `script`: the address of the API pages' script. */
const kindsOf = (script: string): Slow[] => [
  { name: 'half-open', begins: () => '' },
  { name: 'idle after an answer', begins: () => get('/healthz') },
  { name: 'slow token requests', begins: () => tokenRequest(16_000), drop: ' ' },
  { name: 'readers of the script', begins: () => get(script), unread: true },
  { name: 'readers of the document', begins: () => get('/openapi.json'), unread: true },
  { name: 'slow headers', begins: (demo) => head(demo, 'POST'), drop: 'X-Slow: 1\r\n' },
  { name: 'slow bodies', begins: (demo) => `${head(demo, 'POST')}Content-Length: 100000\r\n\r\n{`, drop: ' ' },
  { name: 'readers of a long list', begins: (demo) => `${head(demo, 'GET')}\r\n`, unread: true, works: true },
];

function slowPeer(url: string, { begins, unread }: Slow, demo: Demo): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write(begins(demo));
  if (unread) socket.pause();
  else socket.resume();
  return socket;
}

export const slowPeers: Proof = {
  name: 'slow-peers',
  about: `${EACH} peers of each kind that is slow to send or to read, all at once`,
  async run({ short, progress }): Promise<Figures> {
    const figures = noFigures();
    const sockets: Socket[] = [];
    const timers: NodeJS.Timeout[] = [];
    const work = async ({ site, demo, line, pid, path }: Alone) => {
      await site.sql(
        `INSERT INTO interactions (company_id, case_id, id, type, notes, sender, recipient, happened_at, created_at, updated_at)
         SELECT company_id, id, gen_random_uuid(), 'phone', repeat('long ', 40), '', '', now(), now(), now()
           FROM cases, generate_series(1, $1) WHERE id = $2`,
        [ENTRIES, demo.case_id],
      );
      await site.sql('ANALYZE interactions');
      const request = () => ({ method: 'POST', path, body: { type: 'phone', notes: 'beside slow peers' } });
      const alone = await drive(line, figures, { callers: 10, seconds: 2, request });
      const script = /"(\/docs\/[^"]+\.js)"/.exec(await (await fetch(`${site.url}/docs`)).text())?.[1] as string;
      await (await fetch(`${site.url}/openapi.json`)).text();
      await line.send({ method: 'GET', path });

      const kinds = kindsOf(script);
      const each = short ? EACH / 10 : EACH;
      for (const kind of kinds) {
        const rest = await memoryOf(pid);
        const watch = watched(site.url, pid);
        const peers = Array.from({ length: each }, () => slowPeer(site.url, kind, demo));
        await pause(short ? KIND_MS / 4 : KIND_MS);
        const { peak, health } = await watch.stop();
        for (const peer of peers) peer.destroy();
        const ratio = Math.round((peak / rest) * 100) / 100;
        figures.notes.push(
          `${each} ${kind.name}: memory ${rest} to ${peak} MB (${ratio}), /healthz ${health} ms at most`,
        );
        if (ratio > MOST_MEMORY) fault(figures, `${kind.name}: memory ${rest} to ${peak} MB`);
        if (health > (kind.works ? MOST_HEALTH_BESIDE_WORK_MS : MOST_HEALTH_MS))
          figures.late.push(`${kind.name}: /healthz was answered after ${health} ms`);
      }

      const atRest = await memoryOf(pid);
      const watch = watched(site.url, pid);
      const open = new Map(kinds.map(({ name }) => [name, 0]));
      for (const kind of kinds) {
        for (let i = 0; i < each; i++) {
          const socket = slowPeer(site.url, kind, demo);
          sockets.push(socket);
          open.set(kind.name, (open.get(kind.name) ?? 0) + 1);
          socket.on('close', () => open.set(kind.name, (open.get(kind.name) ?? 0) - 1));
          const { drop } = kind;
          if (drop) timers.push(setInterval(() => socket.writable && socket.write(drop), DROP_EVERY_MS));
        }
        // This process has to make the connections, too.
        await pause(BETWEEN_KINDS_MS);
      }
      const left = () => [...open].map(([name, count]) => `${count} ${name}`).join(', ');
      const begun = performance.now();
      // So many long lists at once are more than it works on: some of these peers, and others, are refused until that is over.
      let rushed = 0;
      await until('the rush of long lists is over', RUSH_S, async () => {
        const { status } = await line.send(request());
        if (status !== 200) rushed++;
        return status === 200 && performance.now() - begun > 6_000;
      });
      figures.notes.push(`${rushed} others were refused while ${each} long lists were asked for at once`);
      progress(`others are served beside ${left()}`);
      const beside = await drive(line, figures, { callers: 10, seconds: short ? 5 : 20, request });
      const { peak, health } = await watch.stop();
      const ratio = Math.round((peak / atRest) * 100) / 100;
      if (beside.refused > 0) figures.late.push(`${beside.refused} others were refused`);
      if (beside.p99 > MOST_P99_MS) figures.late.push(`others waited: p99 ${beside.p99} ms`);
      if (ratio > MOST_MEMORY) fault(figures, `all kinds together: memory ${atRest} to ${peak} MB`);
      if (health > MOST_HEALTH_BESIDE_WORK_MS) figures.late.push(`/healthz was answered after ${health} ms`);
      for (const { name, drop } of kinds) {
        if (drop && open.get(name) !== each) figures.late.push(`${left()} were there when others had been served`);
      }
      figures.notes.push(
        `others: p99 ${alone.p99} ms alone, ${beside.p99} ms beside ${each} of each kind (${beside.perSecond}/s)`,
        `all kinds together: ${atRest} MB at rest, ${peak} MB at most (${ratio}); /healthz: ${health} ms at most`,
      );
      if (short) figures.notes.push('SKIPPED in the short form: waiting until all of them are let go');
      else {
        // Node tells of an end only where somebody reads.
        const secondsLeft = GONE_S - (performance.now() - begun) / 1000;
        const resume = setTimeout(() => sockets.forEach((socket) => void socket.resume()), (secondsLeft - 5) * 1000);
        await until(`${GONE_S} s after they came all slow peers are let go`, secondsLeft, () => {
          progress(`open: ${left()}`);
          return [...open.values()].every((count) => count === 0);
        }).catch((error) => fault(figures, `${error.message} ${left()}`));
        clearTimeout(resume);
        figures.notes.push(`all were let go within ${Math.round((performance.now() - begun) / 1000)} s`);
      }
      figures.rounds = kinds.length;
    };
    const end = () => {
      for (const timer of timers) clearInterval(timer);
      for (const socket of sockets) socket.destroy();
    };
    // All kinds together are more connections than the default allows.
    await alone((here) => work(here).finally(end), { MAX_CONNECTIONS: '10000' });
    return figures;
  },
};
