import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { findPostgresPrograms } from '../../chaos/cluster/node.ts';
import { watch } from '../harness/service.ts';

/** Searches and plans on a server of one's own. Connections of searches have settings that older versions take otherwise. */

const programs = findPostgresPrograms();
const skip = programs === undefined && 'There is no PostgreSQL of the system: chaos/packages.sh installs it.';
const FILES = ['test/search-pages.test.ts', 'test/slow/company-lists.test.ts'];

test(`searches and lists have the same hits and plans with ${programs ?? 'PostgreSQL of the system'}`, {
  skip,
}, async () => {
  const { NODE_TEST_CONTEXT: _context, ...inherited } = process.env;
  const env = { ...inherited, TEST_POSTGRES_PROGRAMS: programs };
  const args = ['--test', '--test-concurrency=1', '--test-global-setup=test/harness/postgres.ts', ...FILES];
  const tests = watch(spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] }));
  assert.equal(await tests.ended(), 0, tests.output.join('\n'));
});
