import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { after } from 'node:test';

/** A connection of the app: when the app sent something, except its end, and when an answer reached the app. */
export type SlowConnection = { traffic: { from: 'app' | 'database'; at: number }[] };

export type SlowDatabase = {
  port: number;
  /** How late each answer of the database is. Infinity: the answers from now on never come. */
  delayMs: number;
  connections: Set<SlowConnection>;
};

/** The first byte of the message that ends a connection. */
const TERMINATE = 'X'.charCodeAt(0);

/** A proxy between the app and the test server that delays every answer. Closed when the test file ends. */
export async function slowDatabase(): Promise<SlowDatabase> {
  const { host } = JSON.parse(process.env.TEST_POSTGRES ?? '{}');
  const sockets = new Set<Socket>();
  const proxy = createServer((app) => {
    const server = connect(join(host, '.s.PGSQL.5432'));
    // An answer that is less late than the one before must not overtake it.
    let due = 0;
    const afterDelay = (work: () => void) => {
      due = Math.max(due, performance.now() + slow.delayMs);
      if (due !== Infinity) setTimeout(work, Math.max(0, due - performance.now()));
    };
    const connection: SlowConnection = { traffic: [] };
    const { traffic } = connection;
    slow.connections.add(connection);
    app.pipe(server);
    app.on('data', (chunk) => {
      if (chunk[0] !== TERMINATE) traffic.push({ from: 'app', at: performance.now() });
    });
    const answer = (chunk: string | NonSharedBuffer) => {
      traffic.push({ from: 'database', at: performance.now() });
      app.write(chunk);
    };
    server.on('data', (chunk) => afterDelay(() => answer(chunk)));
    server.on('close', () => afterDelay(() => app.destroy()));
    app.on('close', () => {
      server.destroy();
      slow.connections.delete(connection);
    });
    for (const socket of [app, server]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const slow: SlowDatabase = { port: (proxy.address() as AddressInfo).port, delayMs: 0, connections: new Set() };
  after(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  return slow;
}
