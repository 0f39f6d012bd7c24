import pino, { type Logger } from 'pino';
import type { Config } from '../config.ts';

// A write by itself costs as much as a tenth of a short request.
const GATHERED_LENGTH = 12_288;
const FLUSH_MS = 500;

/** One JSON object per line to standard output, some lines at a time; what is left is written at the end of the process. */
export function openLog({ LOG_LEVEL: level }: Config): Logger {
  const destination = pino.destination({ sync: false });
  let gathered = '';
  const pass = () => {
    if (gathered !== '') destination.write(gathered);
    gathered = '';
  };
  // Not by the destination itself: it measures all that it has gathered with every line that comes.
  const write = (line: string) => {
    gathered += line;
    if (gathered.length >= GATHERED_LENGTH) pass();
  };
  setInterval(pass, FLUSH_MS).unref();
  // Before the destination writes what it has left.
  process.prependListener('beforeExit', pass).prependListener('exit', pass);
  return pino({ level, base: null, timestamp: time }, { write });
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
