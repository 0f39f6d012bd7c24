import { connect, type Socket } from 'node:net';
import { type Alone, alone } from './alone.ts';
import { drive } from './drive.ts';
import { type Figures, fault, noFigures, type Proof, until } from './proof.ts';
import { type Demo, memoryOf } from './site.ts';

/** Peers that connect and say nothing, send headers or bodies drop by drop, or do not read a long answer. */

const EACH = 500;
const DROP_EVERY_MS = 2_000;
// What docs/operations.md says: 30 seconds for a request and 5 to notice, 60 for an answer that nobody takes.
const GONE_S = 70;
const RUSH_S = 30;
const MOST_MB = 400;
const MOST_P99_MS = 2_000;
const ENTRIES = 20_000;

type Slow = { name: string; begins: (demo: Demo) => string; drop?: string };

const head = (demo: Demo, method: string) =>
  `${method} /cases/${demo.case_id}/interactions HTTP/1.1\r\nHost: prove\r\nAuthorization: Bearer ${demo.token}\r\nContent-Type: application/json\r\n`;

const KINDS: Slow[] = [
  { name: 'half-open', begins: () => '' },
  { name: 'slow headers', begins: (demo) => head(demo, 'POST'), drop: 'X-Slow: 1\r\n' },
  { name: 'slow bodies', begins: (demo) => `${head(demo, 'POST')}Content-Length: 100000\r\n\r\n{`, drop: ' ' },
  { name: 'slow readers', begins: (demo) => `${head(demo, 'GET')}\r\n` },
];

export const slowPeers: Proof = {
  name: 'slow-peers',
  about: `${EACH} half-open connections, slow headers, slow bodies and slow readers at once`,
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

      const open = new Map(KINDS.map(({ name }) => [name, 0]));
      for (const kind of KINDS) {
        for (let i = 0; i < EACH; i++) {
          const socket = connect(Number(new URL(site.url).port), '127.0.0.1');
          sockets.push(socket);
          open.set(kind.name, (open.get(kind.name) ?? 0) + 1);
          socket.on('error', () => {});
          socket.on('close', () => open.set(kind.name, (open.get(kind.name) ?? 0) - 1));
          socket.write(kind.begins(demo));
          if (kind.name === 'slow readers') socket.pause();
          else socket.resume();
          const { drop } = kind;
          if (drop) timers.push(setInterval(() => socket.writable && socket.write(drop), DROP_EVERY_MS));
        }
      }
      const left = () => [...open].map(([name, count]) => `${count} ${name}`).join(', ');
      const begun = performance.now();
      // 500 long lists at once are more than it works on: some of these peers, and others, are refused until that is over.
      let rushed = 0;
      await until('the rush of long lists is over', RUSH_S, async () => {
        const { status } = await line.send(request());
        if (status !== 200) rushed++;
        return status === 200 && performance.now() - begun > 6_000;
      });
      figures.notes.push(`${rushed} others were refused while ${EACH} long lists were asked for at once`);
      progress(`others are served beside ${left()}`);
      const beside = await drive(line, figures, { callers: 10, seconds: short ? 5 : 20, request });
      const memory = await memoryOf(pid);
      if (beside.refused > 0) figures.late.push(`${beside.refused} others were refused`);
      if (beside.p99 > MOST_P99_MS) figures.late.push(`others waited: p99 ${beside.p99} ms`);
      if (memory > MOST_MB) fault(figures, `memory ${memory} MB`);
      for (const { name, drop } of KINDS) {
        if (drop && open.get(name) !== EACH) figures.late.push(`${left()} were there when others had been served`);
      }
      figures.notes.push(
        `others: p99 ${alone.p99} ms alone, ${beside.p99} ms beside ${EACH} of each (${beside.perSecond}/s), memory ${memory} MB`,
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
      figures.rounds = KINDS.length;
    };
    await alone((here) =>
      work(here).finally(() => {
        for (const timer of timers) clearInterval(timer);
        for (const socket of sockets) socket.destroy();
      }),
    );
    return figures;
  },
};
