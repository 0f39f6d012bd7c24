import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { memoryOf } from './site.ts';

/** The most memory of a process, in MB, and the longest time to an answer of /healthz, in ms. */
export type Watched = { peak: number; health: number };

/** Watches from a process of its own: the one that plays thousands of slow peers is late itself. */
export function watched(url: string, pid: number): { stop: () => Promise<Watched> } {
  const child = fork(new URL(import.meta.url), [url, String(pid)]);
  return {
    stop: async () => {
      const told = once(child, 'message');
      child.send('stop');
      const [seen] = await told;
      return seen as Watched;
    },
  };
}

const ASK_EVERY_MS = 50;

/** On a connection of its own, as a supervisor asks. */
async function ask(port: number): Promise<number> {
  const begun = performance.now();
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write('GET /healthz HTTP/1.1\r\nHost: prove\r\nConnection: close\r\n\r\n');
  let answer = '';
  socket.on('data', (bytes) => {
    answer += bytes;
  });
  await once(socket, 'close');
  return answer.startsWith('HTTP/1.1 200 ') ? performance.now() - begun : Infinity;
}

if (process.send && import.meta.filename === process.argv[1]) {
  const port = Number(new URL(process.argv[2] as string).port);
  const pid = Number(process.argv[3]);
  const seen: Watched = { peak: 0, health: 0 };
  let stopped = false;
  process.once('message', () => {
    stopped = true;
  });
  process.once('disconnect', () => process.exit());
  while (!stopped) {
    seen.health = Math.max(seen.health, Math.round(await ask(port)));
    seen.peak = Math.max(seen.peak, await memoryOf(pid));
    await pause(ASK_EVERY_MS);
  }
  process.send(seen, () => process.exit());
}
