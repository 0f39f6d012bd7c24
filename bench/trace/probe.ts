import { appendFileSync } from 'node:fs';
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';

/** Loaded before the service: writes long pauses of its event loop and its garbage collections to a file. */

const file = process.env.BENCH_TRACE_FILE ?? '';
const SAMPLE_MS = 50;
const MIN_PAUSE_MS = 20;
const MIN_GC_MS = 2;

const write = (cause: string, from: number, to: number) =>
  appendFileSync(file, `${JSON.stringify({ cause, from, to })}\n`);

// The histogram says how long the longest pause was, but not when in the sample it was.
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
let utilization = performance.eventLoopUtilization();
let cpu = process.cpuUsage();
setInterval(() => {
  const longestMs = delay.max / 1e6;
  delay.reset();
  const { active: activeMs } = performance.eventLoopUtilization(utilization);
  const { user, system } = process.cpuUsage(cpu);
  utilization = performance.eventLoopUtilization();
  cpu = process.cpuUsage();
  if (longestMs < MIN_PAUSE_MS) return;
  // The loop was active, but the process got no CPU time: another process had the core.
  const hadNoCore = activeMs - (user + system) / 1000 > longestMs / 2;
  const now = Date.now();
  write(hadNoCore ? 'service without a core' : 'event loop of the service', now - SAMPLE_MS - longestMs, now);
}, SAMPLE_MS).unref();

new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries()) {
    const from = performance.timeOrigin + startTime;
    if (duration >= MIN_GC_MS) write('garbage collection of the service', from, from + duration);
  }
}).observe({ entryTypes: ['gc'] });
