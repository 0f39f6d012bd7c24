import { randomBytes } from 'node:crypto';
import pino from 'pino';
import { SecretBox } from '../../src/kernel/secret-box.ts';
import { startApp, type TestApp } from '../../test/harness/app.ts';

/** `odd`: what is not one line about a request with the fields that such a line has, a logged failure among them. */
export type Log = { lines: number; odd: string[] };

/** A world whose log is read line by line. */
export async function openInputWorld(): Promise<{ world: TestApp; log: Log }> {
  const log: Log = { lines: 0, odd: [] };
  const write = (text: string) => {
    log.lines++;
    if (!isRequestLine(text)) log.odd.push(text);
  };
  const secrets = new SecretBox([randomBytes(32)]);
  const world = await startApp({ logger: pino({ base: null }, { write }), secrets, allowPrivateAddresses: true });
  Object.assign(log, { lines: 0, odd: [] }); // where it listens
  return { world, log };
}

const FIELDS = ['level', 'time', 'method', 'route', 'reqId', 'status', 'ms', 'company', 'msg'].join();

function isRequestLine(text: string): boolean {
  if (text.indexOf('\n') !== text.length - 1) return false;
  const line = JSON.parse(text);
  return Object.keys(line).join() === FIELDS && line.level === 30 && /^[\w.-]{8,128}$/.test(line.reqId);
}
