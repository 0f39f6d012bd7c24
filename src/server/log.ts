import pino, { type Logger } from 'pino';
import type { Config } from '../config.ts';

// One write per line would cost about 10 % of a short request, so lines are buffered.
const MAX_BUFFER_LENGTH = 12_288;
const FLUSH_INTERVAL_MS = 500;

/** Logs one JSON object per line to standard output. Lines are buffered, and flushed when the process exits. */
export function openLog({ LOG_LEVEL: level }: Config): Logger {
  const destination = pino.destination({ sync: false });
  let buffer = '';
  const flush = () => {
    if (buffer !== '') destination.write(buffer);
    buffer = '';
  };
  // pino's own buffer is not used: it measures its whole content again for each line.
  const write = (line: string) => {
    buffer += line;
    if (buffer.length >= MAX_BUFFER_LENGTH) flush();
  };
  setInterval(flush, FLUSH_INTERVAL_MS).unref();
  // Runs before the exit handler of the destination, which writes its own remaining data.
  process.prependListener('beforeExit', flush).prependListener('exit', flush);
  return pino({ level, base: null, timestamp: timestamp }, { write });
}

let cachedSecond = Number.NaN;
let cachedText = '';

/** Returns the ISO 8601 time as a JSON fragment. The text of the current second is cached. */
function timestamp(): string {
  const now = Date.now();
  const ms = now % 1000;
  if (now - ms !== cachedSecond) {
    cachedSecond = now - ms;
    cachedText = `,"time":"${new Date(cachedSecond).toISOString().slice(0, -4)}`;
  }
  return `${cachedText}${String(ms).padStart(3, '0')}Z"`;
}
