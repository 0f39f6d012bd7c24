import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { PipelinedPool } from '../../src/kernel/database/pipelined-pool.ts';
import type { PreparedStatement } from '../../src/kernel/sql/statement.ts';
import { COMPANIES, type Company, caseIdOf, ID_LENGTH, type Route, routeOf } from './routes.ts';
import type { Statement } from './sql.ts';

/**
 * The baseline server: the same requests, rows and JSON, with nothing else. It validates nothing, keeps the companies
 * in memory and writes no events. The difference to the service is the cost of what the service guarantees.
 */

/**
 * A pipelined connection commits one statement after the other. On a fast disk 2, 4 and 8 connections are equally fast;
 * on a slow disk the commits of 8 share a flush, while 2 reached only 12 % of the throughput of the service.
 */
const SHORT_CONNECTIONS = 8;
/** Lists have their own connections, because a long one blocks the statements queued behind it. */
const LIST_CONNECTIONS = 4;

/** The limits of the service, for the best baseline. */
const SHORT_MAX_IN_FLIGHT = 16;
const LIST_MAX_IN_FLIGHT = 3;

/** Like the service: with cases of different sizes PostgreSQL would plan the lists again for each execution. */
const GENERIC_PLAN = { options: '-c plan_cache_mode=force_generic_plan' };

type BaselineOptions = { connection: pg.ClientConfig; tokens: Record<string, string>; batching: boolean };
const { connection, tokens, batching }: BaselineOptions = JSON.parse(process.argv[2] ?? '');

// The best baseline has pools instead, and needs one connection to read the companies.
const short = await connectAll(batching ? 1 : SHORT_CONNECTIONS);
const lists = await connectAll(batching ? 0 : LIST_CONNECTIONS);
const companies = await readCompanies();
let nextClient = 0;
const preparedStatements = new Map<string, PreparedStatement>();
/** The best baseline batches and shares commits in the pools of the service, with the same limits. */
const pools = batching && {
  short: poolOf(SHORT_CONNECTIONS, SHORT_MAX_IN_FLIGHT),
  list: poolOf(LIST_CONNECTIONS, LIST_MAX_IN_FLIGHT),
};

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const { method = '', url = '' } = request;
  const handler = routeOf(method, url);
  const company = companies.get(request.headers.authorization ?? '');
  if (!handler || !company) return send(response, 404, '{}');
  const run = (body: unknown) =>
    respond(handler, handler.values(company, caseIdOf(url), url.slice(-ID_LENGTH), body), response);
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

function respond({ statement, isLong }: Route, values: unknown[], response: ServerResponse): void {
  const { name, text } = statement;
  const reply = (json: string | null | undefined) => send(response, json ? 200 : 404, json ?? '{}');
  const fail = (error: Error) => send(response, 500, JSON.stringify({ message: error.message }));
  if (pools) {
    const prepared = preparedStatement(statement, isLong);
    pools[prepared.pool as 'short' | 'list']
      .queryRow({ statement: prepared, values })
      .then((row) => reply(row?.at(-1)), fail);
    return;
  }
  const clients = isLong ? lists : short;
  const client = clients[nextClient++ % clients.length] as pg.Client;
  client.query<string[]>({ name, text, values, rowMode: 'array' }, (error, result) => {
    if (error) fail(error);
    else reply(result.rows[0]?.[0]);
  });
}

/** The statement as the pools expect it. They batch requests that have the same object. */
function preparedStatement({ name, text, batch }: Statement, isLong = false): PreparedStatement {
  const known = preparedStatements.get(name);
  if (known) return known;
  const properties = { readOnly: isLong, pool: isLong ? 'list' : 'short', key: isLong ? [0, 1] : [0, 1, 2] } as const;
  const prepared = { name, text, ...properties, batch: { name: `${name}*`, ...batch } };
  preparedStatements.set(name, prepared);
  return prepared;
}

function poolOf(size: number, maxInFlight: number): PipelinedPool {
  return new PipelinedPool({
    size,
    maxInFlight,
    responseTimeoutMs: 20_000,
    connect: () => new pg.Client({ ...connection, ...GENERIC_PLAN, pipeline: true }),
    onError: () => process.exit(1),
  });
}

function send(response: ServerResponse, status: number, json: string): void {
  response.sendDate = false;
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) });
  response.end(json);
}

async function connectAll(count: number): Promise<pg.Client[]> {
  const clients = Array.from(
    { length: count },
    () => new pg.Client({ ...connection, ...GENERIC_PLAN, pipeline: true }),
  );
  await Promise.all(clients.map((client) => client.connect()));
  return clients;
}

/** Returns the companies by Authorization header, so that the header need not be parsed. */
async function readCompanies(): Promise<Map<string, Company>> {
  const { rows } = await (short[0] as pg.Client).query<Company>(COMPANIES);
  const byId = new Map(rows.map((company) => [company.id, company]));
  return new Map(Object.entries(tokens).map(([token, id]) => [`Bearer ${token}`, byId.get(id) as Company]));
}
