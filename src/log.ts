import pino, { type Logger } from 'pino';
import type { Config } from './config.ts';

// A write by itself costs as much as a tenth of a short request.
const GATHERED_BYTES = 12_288;
const FLUSH_MS = 500;

/** One JSON object per line to standard output, some lines at a time; what is left is written at the end of the process. */
export function openLog({ LOG_LEVEL: level }: Config): Logger {
  const destination = pino.destination({ sync: false, minLength: GATHERED_BYTES });
  setInterval(() => destination.flush(), FLUSH_MS).unref();
  return pino({ level, base: null, timestamp: time }, destination);
}

let second = Number.NaN;
let secondText = '';

/** ISO 8601, as a part of the line. All of a second have most of it in common. */
function time(): string {
  const now = Date.now();
  const ms = now % 1000;
  if (now - ms !== second) {
    second = now - ms;
    secondText = `,"time":"${new Date(second).toISOString().slice(0, -4)}`;
  }
  return `${secondText}${String(ms).padStart(3, '0')}Z"`;
}
