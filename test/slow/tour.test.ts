import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startBundledPostgres } from '../../src/postgres/bundled-postgres.ts';
import { freePort } from '../harness/free-port.ts';
import { databaseProcess, isAlive, startProcess, temporaryDirectory, urlOf } from '../harness/service.ts';
import { readTour, takeTour } from '../harness/tour.ts';

/** The commands that the documents tell a newcomer to type. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const home = await temporaryDirectory();
after(home.remove);

test("every line of the README's tour does what the README says", async (t) => {
  const steps = await readTour('README.md', 'Five-minute tour');
  const DATA_DIR = join(home.path, 'data');
  const service = await startProcess({ DATA_DIR });
  t.after(() => service.stop());
  const database = await databaseProcess(DATA_DIR);
  assert.ok(database, 'the database runs');

  await takeTour(steps, { cwd: home.path });
  assert.deepEqual(new Set(steps.map(({ status }) => status)), new Set([undefined, '200', '400', '404']));

  assert.equal(await service.stop('SIGTERM'), 0, service.output.join('\n'));
  assert.equal(await databaseProcess(DATA_DIR), undefined);
  assert.ok(!isAlive(database), 'the database has stopped');
});

test("the README's tour touches every resource", async () => {
  const commands = (await readTour('README.md', 'Five-minute tour')).map((step) => step.commands).join('');
  for (const path of ['address-book', 'interactions', 'invoices', 'appointments']) {
    assert.ok(commands.includes(`$CASE/${path}`), path);
  }
});

test('the command line alone leads from an empty database to the first interaction', async (t) => {
  const server = await startBundledPostgres({ dataDir: join(home.path, 'own'), log: () => {} });
  t.after(() => server.stop());
  const env = { ...process.env, DATABASE_URL: urlOf(server.connection), PORT: String(await freePort()) };
  const steps = await readTour('docs/command-line.md', 'From an empty database');
  await takeTour(steps, { cwd: ROOT, env });
  assert.ok(steps.some(({ status }) => status === '200'));
});
