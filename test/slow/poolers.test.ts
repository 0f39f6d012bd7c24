import assert from 'node:assert/strict';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { startBundledPostgres } from '../../src/postgres/bundled-postgres.ts';
import { commandOutput } from '../harness/command-line.ts';
import { caller } from '../harness/http.ts';
import { findPgbouncer, startPgbouncer } from '../harness/pgbouncer.ts';
import { launch, startProcess, temporaryDirectory } from '../harness/service.ts';
import { until } from '../harness/until.ts';

/** A real PgBouncer between the real service and its database. */

const pgbouncer = await findPgbouncer();
const skip = pgbouncer ? false : 'There is no PgBouncer: test/slow/packages.sh installs it.';

describe('behind PgBouncer', { skip }, async () => {
  if (!pgbouncer) return;
  const home = await temporaryDirectory();
  const dataDir = join(home.path, 'database');
  const server = await startBundledPostgres({ dataDir, log: () => {} });
  // PgBouncer runs as the user of the server, and enters the folders above its socket.
  for (const folder of [home.path, dataDir]) await chmod(folder, 0o755);
  const address = { ...server.connection, host: join(dataDir, 'postgres') };
  after(async () => {
    await server.stop();
    await home.remove();
  });

  test('that keeps sessions, the service applies its migrations, writes, and hears of due work', async () => {
    const pooler = await startPgbouncer(pgbouncer, address, 'session');
    after(pooler.stop);
    const settings = { DATABASE_URL: pooler.url, DATA_DIR: join(home.path, 'data') };
    const service = await startProcess(settings);
    after(() => service.child.kill('SIGKILL'));
    const adviser = 'adviser@company.example';
    const email = 'john.smith@client.example';
    await commandOutput(settings, 'company', 'create', '--name', 'Pooled');
    await commandOutput(settings, 'adviser', 'create', '--email', adviser, '--name', 'Adviser');
    const caseId = await commandOutput(settings, 'case', 'create', '--reference', 'Smith', '--only', 'id');
    const names = ['--title', 'Mr', '--first-names', 'John', '--last-name', 'Smith'];
    await commandOutput(settings, 'customer', 'create', '--case', caseId, ...names, '--email', email);
    const scopes = 'appointments:write,appointments:read';
    const token = await commandOutput(settings, 'key', 'create', '--name', 'all', '--scope', scopes, '--only', 'key');
    const company = caller(service.url, token);
    const booked = await company.post(`/cases/${caseId}/appointments`, {
      adviser_email: adviser,
      start_time: '2035-06-14 10:00:00',
      end_time: '2035-06-14 11:00:00',
      email_recipient: email,
      email_confirmation: true,
    });
    assert.equal(booked.status, 200, booked.text);
    const appointment = `/cases/${caseId}/appointments/${JSON.parse(booked.text).id}`;
    const isSent = async () => JSON.parse((await company.get(appointment)).text).email_confirmation === 'sent';
    await until(isSent, 'the confirmation to be sent');
    assert.equal(await service.stop(), 0);
  });

  test('that shares sessions, the start is refused, with the setting to change', async () => {
    const pooler = await startPgbouncer(pgbouncer, address, 'transaction');
    after(pooler.stop);
    const { output, ended } = launch({ DATABASE_URL: pooler.url, DATA_DIR: join(home.path, 'data') });
    assert.equal(await ended(), 1);
    assert.match(output.join('\n'), /^case-records: The connection pooler .* set pool_mode to "session"/m);
  });
});
