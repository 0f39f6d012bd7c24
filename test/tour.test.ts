import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { databaseProcess, isAlive, startProcess, temporaryDirectory } from './harness/service.ts';

/** The README's tour: each block of commands in its order, and what the README says of the answer. */

type Step = { commands: string; status: string | undefined; fragments: string[] };

const README = await readFile(new URL('../README.md', import.meta.url), 'utf8');
const BLOCK = /^```sh\n(.*?)^```\n(?:\n\*\*(\d{3})\*\* (.*?\n)(?=\n|$))?/gms;
const FRAGMENT = /`("[^`]+)`/g;
const MARK = '--- end of a block ---';

function readTour(readme: string): Step[] {
  const tour = readme.split(/^## /m).find((section) => section.startsWith('Five-minute tour'));
  assert.ok(tour, 'the README has a tour');
  return [...tour.matchAll(BLOCK)].map(([, commands = '', status, text = '']) => ({
    commands,
    status,
    fragments: [...text.matchAll(FRAGMENT)].map(([, fragment = '']) => fragment),
  }));
}

const home = await temporaryDirectory();
after(home.remove);

test('every line of the tour does what the README says', async (t) => {
  const steps = readTour(README);
  const DATA_DIR = join(home.path, 'data');
  const service = await startProcess({ DATA_DIR });
  t.after(() => service.stop());
  const database = await databaseProcess(DATA_DIR);
  assert.ok(database, 'the database runs');

  const script = ['set -eu', 'exec 2>&1', ...steps.map(({ commands }) => `${commands}echo '${MARK}'`)].join('\n');
  // A script that broke off is told by its output, below.
  const run = promisify(execFile)('bash', ['-c', script], { cwd: home.path });
  const { stdout } = await run.catch((broken: { stdout: string }) => broken);
  const outputs = stdout.split(`${MARK}\n`).slice(0, -1);
  assert.equal(outputs.length, steps.length, stdout);

  for (const [i, { commands, status, fragments }] of steps.entries()) {
    const calls = commands.match(/^call /gm)?.length ?? 0;
    const [found, ...answer] = (outputs[i] ?? '').split('\n');
    const told = `${commands}${outputs[i]}`;
    assert.equal(calls, status === undefined ? 0 : 1, `one request and one status per block:\n${told}`);
    if (calls === 0) assert.equal(outputs[i], '', told);
    else assert.equal(found, status, told);
    for (const fragment of fragments) assert.ok(answer.join('\n').includes(fragment), `${fragment} in\n${told}`);
  }
  assert.deepEqual(new Set(steps.map(({ status }) => status)), new Set([undefined, '200', '400', '404']));

  assert.equal(await service.stop('SIGTERM'), 0, service.output.join('\n'));
  assert.equal(await databaseProcess(DATA_DIR), undefined);
  assert.ok(!isAlive(database), 'the database has stopped');
});

test('the tour touches every resource', () => {
  const commands = readTour(README)
    .map((step) => step.commands)
    .join('');
  for (const path of ['address-book', 'interactions', 'invoices', 'appointments']) {
    assert.ok(commands.includes(`$CASE/${path}`), path);
  }
});
