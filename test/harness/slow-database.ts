import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { after } from 'node:test';

export type SlowDatabase = {
  port: number;
  /** How late each answer of the database is. Infinity: the answers from now on never come. */
  delayMs: number;
};

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
    app.pipe(server);
    server.on('data', (chunk) => afterDelay(() => app.write(chunk)));
    server.on('close', () => afterDelay(() => app.destroy()));
    app.on('close', () => server.destroy());
    for (const socket of [app, server]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const slow: SlowDatabase = { port: (proxy.address() as AddressInfo).port, delayMs: 0 };
  after(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  return slow;
}
