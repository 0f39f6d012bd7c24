import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type CommandResult, runCommand } from '../harness/command-line.ts';
import { caller } from '../harness/http.ts';
import {
  databaseProcess,
  launch,
  printed,
  type Running,
  startProcess,
  temporaryDirectory,
} from '../harness/service.ts';
import { until } from '../harness/until.ts';

/** Commands that start a database or a process of their own. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAIN = join(ROOT, 'src', 'main.ts');
const MAX_COMMAND_MS = 120_000;
const home = await temporaryDirectory();
after(home.remove);

/** A command as a process of its own. */
function started(program: string, args: string[], env: NodeJS.ProcessEnv): Promise<CommandResult> {
  return new Promise((resolve) => {
    execFile(program, args, { env, cwd: ROOT, timeout: MAX_COMMAND_MS }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err: error?.killed ? `${err}${error.message}` : err }),
    );
  });
}

describe('on the bundled database', () => {
  const DATA_DIR = join(home.path, 'bundled');
  const env = { DATA_DIR, PORT: '0' };
  let service: Running;

  test('without a database a command says how to make one', async () => {
    const { code, err } = await runCommand(env, 'company', 'list');
    assert.equal(code, 1);
    assert.match(err, /case-records migrate/);
    await assert.rejects(stat(DATA_DIR));
  });

  test('migrate makes the database, names what it applied, and stops it again', async () => {
    const { code, out, err } = await runCommand(env, 'migrate');
    assert.equal(code, 0, err);
    assert.match(out, /^applied: 0001_case_records\.sql$/m);
    assert.equal(await databaseProcess(DATA_DIR), undefined);
    assert.equal((await runCommand(env, 'migrate', '--dry-run')).out, 'No migration is missing.');
  });

  test('while no service runs the database is started for the command', async () => {
    const { code, err } = await runCommand(env, 'company', 'create', '--name', 'First');
    assert.equal(code, 0, err);
    assert.equal(await databaseProcess(DATA_DIR), undefined);
  });

  test('commands beside one another wait for one another, and a service for them', async () => {
    const lists = [1, 2, 3].map(() => started(process.execPath, [MAIN, 'company', 'list'], { ...process.env, ...env }));
    const beside = startProcess({ DATA_DIR });
    for (const { code, err } of await Promise.all(lists)) assert.equal(code, 0, err);
    assert.equal(await (await beside).stop(), 0);
    assert.equal(await databaseProcess(DATA_DIR), undefined);
  });

  test('a command that is told to end takes its database along', async () => {
    const { child, ended } = launch({ DATA_DIR }, 'doctor');
    await until(async () => (await databaseProcess(DATA_DIR)) !== undefined || child.exitCode !== null);
    child.kill('SIGTERM');
    await ended();
    assert.equal(await databaseProcess(DATA_DIR), undefined);
  });

  describe('beside the running service', () => {
    before(async () => {
      service = await startProcess({ DATA_DIR });
    });
    after(() => service.stop());

    test('commands work, and the service sees what they did', async () => {
      const { out } = await runCommand(env, 'key', 'create', '--name', 'x', '--scope', 'manage', '--only', 'key');
      const answer = await caller(service.url, out).get('/manage/company');
      assert.equal(answer.body.name, 'First', answer.text);
    });

    test('the doctor finds everything well, and changes nothing', async () => {
      const { code, out } = await runCommand(env, 'doctor', '--json');
      const findings: { check: string; state: string }[] = JSON.parse(out);
      assert.equal(code, 0, out);
      const checks = ['settings', 'migrations', 'clock', 'time zones', 'disk'];
      for (const check of checks) assert.equal(findings.find((found) => found.check === check)?.state, 'ok', check);
      // A warning if the packaged PostgreSQL lacks security fixes: test/security-releases.test.ts.
      assert.ok(['ok', 'warning'].includes(findings.find(({ check }) => check === 'database')?.state ?? ''), out);
    });

    test('a worker joins in, and stops when it is told to', async () => {
      const worker = launch(env, 'worker');
      await printed(worker, /worker is running/);
      worker.child.kill('SIGTERM');
      assert.equal(await worker.ended(), 0, worker.output.join('\n'));
    });

    test('through npx, on a Node that is too old, signals and exit codes are those of the command', async () => {
      const launcher = join(ROOT, 'bin', 'case-records.js');
      const old = await oldNode();
      const list = await started(old, [launcher, 'company', 'list', '--only', 'name'], { ...process.env, ...env });
      assert.deepEqual([list.code, list.out], [0, 'First\n'], list.err);
      const refused = await started(old, [launcher, 'company', 'create', '--name', ''], { ...process.env, ...env });
      assert.deepEqual([refused.code, refused.err], [3, 'case-records: --name must not be empty\n']);
    });
  });

  /** A Node that reports an old version, which the launcher believes. */
  async function oldNode(): Promise<string> {
    const folder = join(home.path, 'old');
    await mkdir(folder);
    await symlink(process.execPath, join(folder, 'real'));
    await writeFile(join(folder, 'old.cjs'), "Object.defineProperty(process.versions, 'node', { value: '20.0.0' });");
    await writeFile(join(folder, 'node'), `#!/bin/sh\nexec "${folder}/real" --require "${folder}/old.cjs" "$@"\n`);
    await chmod(join(folder, 'node'), 0o755);
    return join(folder, 'node');
  }
});

describe('a worker', () => {
  test('needs a running service or DATABASE_URL', async () => {
    const worker = launch({ DATA_DIR: join(home.path, 'nowhere') }, 'worker');
    assert.equal(await worker.ended(), 1);
    assert.match(worker.output.join('\n'), /No service runs/);
  });

  test('that may send nothing is a wrong setting', async () => {
    const worker = launch({ WORKER_CONCURRENCY: '0' }, 'worker');
    assert.equal(await worker.ended(), 2);
    assert.match(worker.output.join('\n'), /WORKER_CONCURRENCY/);
  });
});
