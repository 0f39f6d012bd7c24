import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import pg from 'pg';
import { startBundledPostgres } from '../../src/postgres/bundled-postgres.ts';
import { invoiceBody } from './bodies.ts';
import { commandOutput } from './command-line.ts';
import { makeDataDirectory } from './data-directory.ts';
import { caller } from './http.ts';
import { startProcess, temporaryDirectory, urlOf } from './service.ts';
import { until } from './until.ts';

/**
 * A caller on a bad line: every write is sent three times, at random to one of two service processes, and half of the
 * requests are cut off, before or in the middle of the answer. Then each is sent until it is answered. Every write that
 * is performed leaves one event, so there must be as many events of each type as there are writes.
 */

export type RetriesFound = { writes: number; sent: number; cut: number; inProgress: number; performed: number };

const CALLERS = 32;
const INTERACTION = { type: 'phone', notes: 'Called' };
const ENTRY = { entity_id: 'person', title: 'Ms', first_names: 'Jo', last_name: 'Doe', relationship: {} };
const TIMES = { start_time: '2090-01-02 10:00:00', end_time: '2090-01-02 11:00:00' };
const MOVED = { start_time: '2090-01-03 10:00:00', end_time: '2090-01-03 11:00:00' };
const ADVISER = 'adviser@company.example';

type Kind = {
  event: string;
  method: 'POST' | 'PATCH' | 'DELETE';
  list: string;
  /** The body of a create, which makes the record that an update or deletion is sent to. */
  creates: (n: number) => object;
  changes?: (n: number) => object | undefined;
};

const invoice = (n: number, terms: string) =>
  invoiceBody({
    invoice_number: `N${n}`,
    payment_terms: terms,
    items: [{ description: 'Will', quantity: 1, rate: 100, amount: 120 }],
  });
const RECORDS = {
  interaction: { list: 'interactions', creates: () => INTERACTION },
  address_book_entry: { list: 'address-book/entry', creates: () => ENTRY },
  invoice: { list: 'invoices', creates: (n: number) => invoice(n, '30 days') },
  appointment: { list: 'appointments', creates: () => ({ adviser_email: ADVISER, ...TIMES }) },
};
/** The nine specified writes. */
const KINDS: Kind[] = [
  ...Object.entries(RECORDS).map(([record, rest]) => ({
    event: `${record}.created`,
    method: 'POST' as const,
    ...rest,
  })),
  {
    event: 'interaction.updated',
    method: 'PATCH',
    ...RECORDS.interaction,
    changes: () => ({ ...INTERACTION, notes: 'B' }),
  },
  { event: 'address_book_entry.updated', method: 'PATCH', ...RECORDS.address_book_entry, changes: () => ENTRY },
  { event: 'invoice.updated', method: 'PATCH', ...RECORDS.invoice, changes: (n) => invoice(n, '14 days') },
  { event: 'appointment.updated', method: 'PATCH', ...RECORDS.appointment, changes: () => MOVED },
  { event: 'appointment.deleted', method: 'DELETE', ...RECORDS.appointment, changes: () => undefined },
];

type Write = { key: string; method: Kind['method']; path: string; body: object | undefined };

export async function sendWithRetries(writes: number): Promise<RetriesFound> {
  const home = await temporaryDirectory();
  const dataDir = join(home.path, 'database');
  await makeDataDirectory('migrated', dataDir);
  const server = await startBundledPostgres({ dataDir, log: () => {} });
  const DATABASE_URL = urlOf(server.connection);
  const services = await Promise.all([1, 2].map(() => startProcess({ DATABASE_URL, WORKER_CONCURRENCY: '0' })));
  const database = new pg.Client(server.connection);
  try {
    const type = (...args: string[]) => commandOutput({ DATABASE_URL }, ...args);
    await type('company', 'create', '--name', 'Retries');
    await type('adviser', 'create', '--email', ADVISER, '--name', 'Adviser');
    const caseId = await type('case', 'create', '--reference', 'Retries', '--only', 'id');
    const scopes = 'interactions:write,address_book:write,invoices:write,appointments:write';
    const token = await type('key', 'create', '--name', 'retries', '--scope', scopes, '--only', 'key');
    const client = caller(services[0]?.url ?? '', token);

    const prepare = async (n: number): Promise<Write> => {
      const { method, list, creates, changes } = KINDS[n % KINDS.length] as Kind;
      const path = `/cases/${caseId}/${list}`;
      const key = randomUUID();
      if (!changes) return { key, method, path, body: creates(n) };
      const made = await client.post(path, creates(n));
      assert.equal(made.status, 200, made.text);
      return { key, method, path: `${path}/${made.body.id}`, body: changes(n) };
    };
    const all = await mapConcurrently(
      Array.from({ length: writes }, (_, n) => n),
      prepare,
    );
    await database.connect();
    const countEvents = async () => {
      const { rows } = await database.query('SELECT type, count(*)::int AS count FROM events GROUP BY type');
      return new Map<string, number>(rows.map((row) => [row.type, row.count]));
    };
    const before = await countEvents();

    const found = { writes, sent: 0, cut: 0, inProgress: 0 };
    const answers = new Map<string, string>();
    const send = async (write: Write, cut: boolean) => {
      const url = `${services[randomInt(services.length)]?.url}${write.path}`;
      const answer = await sendOnce(url, token, write, cut);
      found.sent++;
      if (answer === 'cut') found.cut++;
      else if (answer.status === 409) found.inProgress++;
      else {
        assert.equal(answer.status, 200, answer.text);
        assert.equal(answers.get(write.key) ?? answer.text, answer.text, 'one key, one answer');
        answers.set(write.key, answer.text);
        return true;
      }
      return false;
    };

    const storm = shuffled(all.flatMap((write) => [0, 1, 2].map((i) => ({ write, cut: i % 2 === randomInt(2) }))));
    await mapConcurrently(storm, ({ write, cut }) => send(write, cut));
    await mapConcurrently(all, (write) => until(() => send(write, false)));

    const after = await countEvents();
    let performed = 0;
    for (const [i, { event }] of KINDS.entries()) {
      const count = (after.get(event) ?? 0) - (before.get(event) ?? 0);
      assert.equal(count, all.filter((_, n) => n % KINDS.length === i).length, event);
      performed += count;
    }
    return { ...found, performed };
  } finally {
    await database.end();
    for (const service of services) await service.stop();
    await server.stop();
    await home.remove();
  }
}

/** `cut`: the connection is broken at a random moment, or when the first bytes of the answer arrive. */
function sendOnce(
  url: string,
  token: string,
  { key, method, body: sent }: Write,
  cut: boolean,
): Promise<'cut' | { status: number; text: string }> {
  const body = JSON.stringify(sent ?? {});
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'idempotency-key': key,
  };
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers, agent: false }, (response) => {
      if (cut) return void request.destroy();
      let text = '';
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.on('error', reject);
    });
    request.on('error', (error) => !cut && reject(error));
    request.on('close', () => cut && resolve('cut'));
    request.end(body);
    if (cut && randomInt(2) === 0) setTimeout(() => request.destroy(), randomInt(30));
  });
}

async function mapConcurrently<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const left = items.entries();
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      for (const [i, item] of left) results[i] = await work(item);
    }),
  );
  return results;
}

function shuffled<T>(items: T[]): T[] {
  for (let i = items.length - 1; i > 0; i--) {
    const j = randomInt(i + 1);
    [items[i], items[j]] = [items[j] as T, items[i] as T];
  }
  return items;
}
