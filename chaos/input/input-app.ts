import { randomBytes } from 'node:crypto';
import pino from 'pino';
import { SecretBox } from '../../src/kernel/secret-box.ts';
import { indexChanges } from '../../src/search/indexer.ts';
import { startApp, type TestApp } from '../../test/harness/app.ts';

/** `unexpected`: lines that are not request lines with the expected fields, such as logged failures. */
export type LogCheck = { lines: number; unexpected: string[] };

/** `index`: brings the index of searches up to date, as a worker does. A failure is a line of the log. */
export type InputApp = TestApp & { index(): Promise<void> };

/** Starts a test application and checks each line of its log. */
export async function startInputApp(): Promise<{ app: InputApp; log: LogCheck }> {
  const log: LogCheck = { lines: 0, unexpected: [] };
  const write = (text: string) => {
    log.lines++;
    if (!isRequestLine(text)) log.unexpected.push(text);
  };
  const secrets = new SecretBox([randomBytes(32)]);
  const logger = pino({ base: null }, { write });
  const app = await startApp({ logger, secrets, allowPrivateAddresses: true });
  const index = () => indexChanges({ db: app.db, clock: app.clock.read, logger });
  // Discards the lines of the start.
  log.lines = 0;
  log.unexpected = [];
  return { app: { ...app, index }, log };
}

const REQUEST_FIELDS = ['level', 'time', 'method', 'route', 'reqId', 'status', 'ms', 'company'];
/** A refusal also has the address of the caller. */
const REFUSALS = [401, 403, 429, 503];

function isRequestLine(text: string): boolean {
  if (text.indexOf('\n') !== text.length - 1) return false;
  const line = JSON.parse(text);
  const fields = [...REQUEST_FIELDS, ...(REFUSALS.includes(line.status) ? ['ip'] : []), 'msg'].join();
  const address = line.ip ?? '127.0.0.1';
  return (
    Object.keys(line).join() === fields &&
    line.level === 30 &&
    address === '127.0.0.1' &&
    /^[\w.-]{8,128}$/.test(line.reqId)
  );
}
