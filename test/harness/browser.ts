import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { within } from './until.ts';

/** A headless Chromium, driven by the Chrome DevTools Protocol over a pipe. */

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--remote-debugging-pipe',
];
/** Longer than a loaded machine needs. */
const MAX_WAIT_MS = 60_000;
const POLL_INTERVAL_MS = 50;

type Reply = { id?: number; sessionId?: string; method?: string; params?: unknown; result?: unknown; error?: object };

/** Returns the path of Chromium, or undefined if there is none. test/slow/packages.sh installs it. */
export const findChromium = (): string | undefined => PATHS.find((path) => existsSync(path));

export type Page = {
  open(url: string): Promise<void>;
  /** Evaluates an expression in the page and returns its value. */
  evaluate<T>(expression: string): Promise<T>;
  /** Evaluates the expression until its value is truthy, and returns the value. */
  waitFor<T>(expression: string, reason: string): Promise<T>;
  send<T>(method: string, params?: object): Promise<T>;
  /** What was sent and received, and what the console and the content security policy reported. */
  requests: { url: string; headers: Record<string, string>; method: string }[];
  responses: { url: string; status: number }[];
  complaints: string[];
};

export class Browser {
  readonly #process: ChildProcess;
  readonly #folder: string;
  readonly #pending = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
  readonly #listeners = new Map<string, (method: string, params: never) => void>();
  #lastId = 0;

  constructor(path: string) {
    this.#folder = mkdtempSync(join(tmpdir(), 'chromium-'));
    const args = [...FLAGS, `--user-data-dir=${this.#folder}`, 'about:blank'];
    this.#process = spawn(path, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    let rest = '';
    this.#process.stdio[4]?.on('data', (chunk: Buffer) => {
      const messages = (rest + chunk.toString()).split('\0');
      rest = messages.pop() ?? '';
      for (const message of messages) this.#receive(JSON.parse(message));
    });
    this.#process.on('exit', () => {
      for (const { reject } of this.#pending.values()) reject(new Error('Chromium has ended.'));
    });
  }

  #receive({ id, sessionId = '', method = '', params, result, error }: Reply): void {
    if (id === undefined) {
      this.#listeners.get(sessionId)?.(method, params as never);
      return;
    }
    const waiting = this.#pending.get(id);
    this.#pending.delete(id);
    if (error) waiting?.reject(new Error(JSON.stringify(error)));
    else waiting?.resolve(result as never);
  }

  #send<T>(method: string, params: object = {}, sessionId?: string): Promise<T> {
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#pending.set(id, { resolve: resolve as never, reject });
    (this.#process.stdio[3] as NodeJS.WritableStream).write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return within(promise, `Chromium to answer ${method}`);
  }

  async newPage({ width, height, dark = false }: { width: number; height: number; dark?: boolean }): Promise<Page> {
    const { targetId } = await this.#send<{ targetId: string }>('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.#send<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true });
    const send = <T>(method: string, params: object = {}) => this.#send<T>(method, params, sessionId);
    const page = createPage(send);
    this.#listeners.set(sessionId, (method, params) => record(page, method, params));
    for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await send(`${domain}.enable`);
    const features = [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }];
    await send('Emulation.setEmulatedMedia', { features });
    await send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 500 });
    return page;
  }

  async close(): Promise<void> {
    const { exitCode, signalCode } = this.#process;
    if (exitCode === null && signalCode === null) {
      const ended = once(this.#process, 'exit');
      this.#process.kill('SIGKILL');
      await within(ended, 'the end of Chromium');
    }
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

type Evaluated<T> = { result: { value: T }; exceptionDetails?: { exception?: { description?: string } } };

function createPage(send: Page['send']): Page {
  const evaluate = async <T>(expression: string): Promise<T> => {
    const { result, exceptionDetails } = await send<Evaluated<T>>('Runtime.evaluate', {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? 'The expression failed.');
    return result.value;
  };
  const waitFor = async <T>(expression: string, reason: string): Promise<T> => {
    const end = performance.now() + MAX_WAIT_MS;
    for (;;) {
      const value = await evaluate<T>(expression);
      if (value) return value;
      if (performance.now() > end) throw new Error(`The page did not show within ${MAX_WAIT_MS} ms: ${reason}`);
      await pause(POLL_INTERVAL_MS);
    }
  };
  const open = async (url: string) => {
    await send('Page.navigate', { url });
    await waitFor('document.readyState === "complete"', 'the end of loading');
  };
  return { open, evaluate, waitFor, send, requests: [], responses: [], complaints: [] };
}

type Recorded = {
  request: Page['requests'][number];
  response: Page['responses'][number];
  entry: { level: string; text: string };
  exceptionDetails: { text: string; exception?: { description?: string } };
};

function record(page: Page, method: string, params: Recorded): void {
  if (method === 'Network.requestWillBeSent') page.requests.push(params.request);
  if (method === 'Network.responseReceived') page.responses.push(params.response);
  if (method === 'Log.entryAdded' && params.entry.level === 'error') page.complaints.push(params.entry.text);
  if (method === 'Runtime.exceptionThrown') {
    page.complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
  }
}
