import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { toQuery } from '../../src/kernel/database/legacy-query.ts';
import { PipelinedPool } from '../../src/kernel/database/pipelined-pool.ts';
import { ANSWERS, type Answer, type Company } from './answers.ts';

/**
 * The floor: the same requests, the same rows and the same JSON with nothing around them. It believes every request,
 * knows the companies by heart and tells nobody of a change. What the service is slower than this, its promises cost.
 */

/**
 * A pipelined connection commits one statement after the other. With a quick disk 2, 4 and 8 are equally fast; with a
 * slow one the commits of 8 share a flush, while 2 fell to an eighth of the service's pace.
 */
const SHORT_CONNECTIONS = 8;
/** Lists keep the cores busy, and a long one holds up its connection. */
const LONG_CONNECTIONS = 4;

/** As the service has it: with cases of different sizes the lists would be planned anew each time. */
const PLANNED_ONCE = { options: '-c plan_cache_mode=force_generic_plan' };

const CASE = '/cases/'.length;
const ID = 36;
const AFTER_CASE = CASE + ID + 1;

type Given = { connection: pg.ClientConfig; tokens: Record<string, string>; gathers: boolean };
const { connection, tokens, gathers }: Given = JSON.parse(process.argv[2] ?? '');

const short = await open(SHORT_CONNECTIONS);
const long = await open(LONG_CONNECTIONS);
const companies = await readCompanies();
let turn = 0;
/** With the service's own way of sharing commits, to tell what that alone is worth. */
const gathering =
  gathers &&
  new PipelinedPool({
    size: SHORT_CONNECTIONS,
    maxInFlight: 16,
    responseTimeoutMs: 20_000,
    connect: () => new pg.Client({ ...connection, ...PLANNED_ONCE, pipeline: true }),
    onError: () => process.exit(1),
  });

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const { method = '', url = '' } = request;
  const path = url.slice(AFTER_CASE);
  // An identifier at the end stands for itself; the words before it say what is asked for.
  const word = path.length > ID && path[path.length - ID - 1] === '/' ? path.slice(0, -ID - 1) : path;
  const found = ANSWERS[`${method} ${word}`];
  const company = companies.get(request.headers.authorization ?? '');
  if (!found || !company) return send(response, 404, '{}');
  const run = (body: unknown) =>
    answer(found, found.values(company, url.slice(CASE, CASE + ID), path.slice(-ID), body), response);
  if (method === 'GET' || method === 'DELETE') return run(undefined);
  readBody(request, run);
});
server.on('connection', (socket) => socket.setNoDelay(true));
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.once('disconnect', () => process.exit());

function readBody(request: IncomingMessage, then: (body: unknown) => void): void {
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    text += chunk;
  });
  request.on('end', () => then(JSON.parse(text)));
}

function answer(
  { statement: { name, text }, long: isLong }: Answer,
  values: unknown[],
  response: ServerResponse,
): void {
  const reply = (json: string | null | undefined) => send(response, json ? 200 : 404, json ?? '{}');
  const fail = (error: Error) => send(response, 500, JSON.stringify({ message: error.message }));
  if (gathering && !isLong) {
    gathering.queryJson(toQuery({ name, text }, values)).then(reply, fail);
    return;
  }
  const clients = isLong ? long : short;
  const client = clients[turn++ % clients.length] as pg.Client;
  client.query<string[]>({ name, text, values, rowMode: 'array' }, (error, result) => {
    if (error) fail(error);
    else reply(result.rows[0]?.[0]);
  });
}

function send(response: ServerResponse, status: number, json: string): void {
  response.sendDate = false;
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) });
  response.end(json);
}

async function open(count: number): Promise<pg.Client[]> {
  const clients = Array.from(
    { length: count },
    () => new pg.Client({ ...connection, ...PLANNED_ONCE, pipeline: true }),
  );
  await Promise.all(clients.map((client) => client.connect()));
  return clients;
}

/** By the whole header, so that none has to be taken apart. */
async function readCompanies(): Promise<Map<string, Company>> {
  const { rows } = await (short[0] as pg.Client).query<Company>(
    `SELECT id, time_zone AS zone, terms, payment_terms AS "paymentTerms" FROM companies`,
  );
  const byId = new Map(rows.map((company) => [company.id, company]));
  return new Map(Object.entries(tokens).map(([token, id]) => [`Bearer ${token}`, byId.get(id) as Company]));
}
