import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { within } from '../test/harness/until.ts';
import { readMemoryMegabytes } from './deployment.ts';

/** Peak memory of a process, and the maximum latency of /healthz. */
export type MonitorReport = { peakMegabytes: number; maxHealthMs: number };

/** Monitors from a separate process, because the one that simulates thousands of slow peers is slow itself. */
export function monitorProcess(url: string, pid: number): { stop: () => Promise<MonitorReport> } {
  const child = fork(new URL(import.meta.url), [url, String(pid)]);
  return {
    stop: async () => {
      const message = once(child, 'message');
      child.send('stop');
      const [report] = await within(message, 'the report of the monitor');
      return report as MonitorReport;
    },
  };
}

const PROBE_INTERVAL_MS = 50;

/** Requests /healthz on a new connection, like a supervisor. Returns the latency in milliseconds. */
async function probeHealth(port: number): Promise<number> {
  const startedAt = performance.now();
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write('GET /healthz HTTP/1.1\r\nHost: chaos\r\nConnection: close\r\n\r\n');
  let response = '';
  socket.on('data', (bytes) => {
    response += bytes;
  });
  await once(socket, 'close');
  return response.startsWith('HTTP/1.1 200 ') ? performance.now() - startedAt : Infinity;
}

if (process.send && import.meta.filename === process.argv[1]) {
  const port = Number(new URL(process.argv[2] as string).port);
  const pid = Number(process.argv[3]);
  const seen: MonitorReport = { peakMegabytes: 0, maxHealthMs: 0 };
  let stopped = false;
  process.once('message', () => {
    stopped = true;
  });
  process.once('disconnect', () => process.exit());
  while (!stopped) {
    seen.maxHealthMs = Math.max(seen.maxHealthMs, Math.round(await probeHealth(port)));
    seen.peakMegabytes = Math.max(seen.peakMegabytes, await readMemoryMegabytes(pid));
    await pause(PROBE_INTERVAL_MS);
  }
  process.send(seen, () => process.exit());
}
