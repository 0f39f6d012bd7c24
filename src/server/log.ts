import pino, { type Logger } from 'pino';
import type { Config } from '../config.ts';
import { prettyLine } from './pretty-log.ts';

// One write per line would cost about 10 % of a short request, so lines are buffered.
const MAX_BUFFER_LENGTH = 12_288;
const FLUSH_INTERVAL_MS = 500;
// A person who watches should not notice the buffer.
const PRETTY_FLUSH_INTERVAL_MS = 50;

export type LogFormat = 'json' | 'pretty';

/** The format of the settings. By default it depends on whether people or programs read standard output. */
export const logFormat = ({ LOG_FORMAT }: Pick<Config, 'LOG_FORMAT'>): LogFormat =>
  LOG_FORMAT ?? (process.stdout.isTTY ? 'pretty' : 'json');

/** Logs to standard output, one JSON object per line or for people. Lines are flushed when the process exits. */
export function openLog(config: Pick<Config, 'LOG_LEVEL' | 'LOG_FORMAT'>): Logger {
  const isPretty = logFormat(config) === 'pretty';
  const destination = pino.destination({ sync: false });
  destination.on('error', (error: NodeJS.ErrnoException) => {
    // pino itself ignores the log when its reader has gone.
    if (error.code === 'EPIPE') return;
    // The terminal was closed, or the disk is full: at the exit the write would be repeated until it succeeds.
    destination.flushSync = () => {};
    throw error;
  });
  let buffer = '';
  const flush = () => {
    if (buffer !== '') destination.write(buffer);
    buffer = '';
  };
  // pino's own buffer is not used: it measures its whole content again for each line.
  const write = (line: string) => {
    buffer += isPretty ? prettyLine(line) : line;
    if (buffer.length >= MAX_BUFFER_LENGTH) flush();
  };
  setInterval(flush, isPretty ? PRETTY_FLUSH_INTERVAL_MS : FLUSH_INTERVAL_MS).unref();
  // Runs before the exit handler of the destination, which writes its own remaining data.
  process.prependListener('beforeExit', flush).prependListener('exit', flush);
  return pino({ level: config.LOG_LEVEL, base: null, timestamp: timestamp }, { write });
}

/** Logs that the start is complete, whatever LOG_LEVEL is: supervisors and scripts wait for this line. */
export function logStart(logger: Logger, message: string, summary: Record<string, string>): void {
  logger.child({}, { level: 'info' }).info({ summary }, message);
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
