import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mailServer, readMail } from './mail-server.ts';
import { until } from './until.ts';

/**
 * The mail server and the SMS gateway of the simulated year. They record what they accept, and choose which worker is
 * killed while it hands over a message: never while another accepted message of that worker is not yet recorded as
 * sent, because no sender can recover from that.
 */

/** A message that was accepted. `what`: its channel and kind, and the start that it names. */
export type Event = { id: string; what: string; at: Temporal.Instant };

export type Peers = {
  seen: Event[];
  killedAt: Temporal.Instant[];
  smtpUrl(worker: string): string;
  gatewayUrl: string;
  close(): Promise<void>;
};

export type PeerOptions = {
  now: () => Temporal.Instant;
  /** Whether the worker that is handing over a message is to be killed. */
  strikes: () => boolean;
  kill: (worker: string) => void;
  /** Whether all of these messages are recorded as sent. */
  written: (ids: string[]) => Promise<boolean>;
};

// More than a worker can have claimed.
const REMEMBERED = 16;

export async function openPeers({ now, strikes, kill, written }: PeerOptions): Promise<Peers> {
  const seen: Event[] = [];
  const killedAt: Temporal.Instant[] = [];
  const accepted = new Map<string, string[]>();
  const doomed = new Set<string>();

  const end = async (worker: string) => {
    await until(() => written(accepted.get(worker) ?? []));
    killedAt.push(now());
    kill(worker);
  };
  /** From then on, nothing from the worker is accepted. */
  const condemned = (worker: string): boolean => {
    if (doomed.has(worker)) return true;
    if (!strikes()) return false;
    doomed.add(worker);
    void end(worker);
    return true;
  };
  /** The start is the last time in the text: a change names the old one before it. */
  const accept = (worker: string, id: string, channel: string, kind: string, text: string, hasFile = false) => {
    accepted.set(worker, [...(accepted.get(worker) ?? []), id].slice(-REMEMBERED));
    const [, day, month, time] =
      [...text.matchAll(/(\d+) ([A-Z][a-z]{2})[a-z]*(?: \d{4})?, (\d\d:\d\d)/g)].at(-1) ?? [];
    const said = `${day} ${month}, ${time}${hasFile ? ' with calendar file' : ''}`;
    seen.push({ id, what: `${channel} ${kind} of ${said}`, at: now() });
  };

  const mail = await mailServer();
  mail.onRecipient = (_to, worker) => (condemned(worker) ? { hang: true } : undefined);
  mail.onMessage = ({ raw, client }) => {
    if (condemned(client)) return { hang: true };
    const { headers, parts } = readMail(raw);
    const { subject = '' } = headers;
    const [, first = ''] = /^(\w+)/.exec(subject) ?? [];
    const kind = { Reminder: 'reminder', Cancelled: 'cancellation', Changed: 'change' }[first] ?? 'confirmation';
    const id = /<([^@]+)@/.exec(headers['message-id'] ?? '')?.[1] ?? '';
    accept(client, id, 'email', kind, subject, parts['text/calendar'] !== undefined);
    return undefined;
  };
  const gateway = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const worker = String(request.headers['x-worker']);
    if (condemned(worker)) return;
    const { id, text } = JSON.parse(Buffer.concat(chunks).toString());
    const [, word = ''] = /(reminder|cancelled|changed)/.exec(text) ?? [];
    accept(
      worker,
      id,
      'sms',
      { reminder: 'reminder', cancelled: 'cancellation', changed: 'change' }[word] ?? 'confirmation',
      text,
    );
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"1"}');
  }).listen(0, '127.0.0.1');
  await once(gateway, 'listening');

  return {
    seen,
    killedAt,
    smtpUrl: (worker) => `${mail.url}?name=${worker}`,
    gatewayUrl: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/`,
    async close() {
      gateway.closeAllConnections();
      gateway.close();
      await mail.close();
    },
  };
}
