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
setInterval(() => {
  const longestMs = delay.max / 1e6;
  delay.reset();
  const now = Date.now();
  if (longestMs >= MIN_PAUSE_MS) write('event loop of the service', now - SAMPLE_MS - longestMs, now);
}, SAMPLE_MS).unref();

new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries()) {
    const from = performance.timeOrigin + startTime;
    if (duration >= MIN_GC_MS) write('garbage collection of the service', from, from + duration);
  }
}).observe({ entryTypes: ['gc'] });
