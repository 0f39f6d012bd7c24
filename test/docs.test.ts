import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SECRET_SETTINGS, SETTINGS } from '../src/config.ts';
import { PROBLEMS } from '../src/http/operation/problems.ts';
import { startApp } from './harness/app.ts';
import { filesOf } from './harness/test-groups.ts';

/** What the pages say is checked against the code. */

const ROOT = new URL('../', import.meta.url);
const read = (path: string) => readFile(new URL(path, ROOT), 'utf8');

/** The cells of the first table below the line with this beginning, without the head. */
function tableUnder(page: string, heading: string): string[][] {
  const section = page.slice(page.indexOf(`\n${heading}`)).slice(1);
  const rows = /^\|.*\|\n\|[-|]+\|\n((?:\|.*\|\n)+)/m.exec(section)?.[1] ?? '';
  return rows
    .trimEnd()
    .split('\n')
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

test('CI installs what is locked, checks it, and runs every test file', async () => {
  const script = (await read('.ci/run')).split('\n').filter((line) => /^(npm|test\/|wait)/.test(line));
  const commands = script.map((line) =>
    line
      .split(' ')
      .slice(0, 3)
      .join(' ')
      .replace(/ (--\S*|\|\|).*/, ''),
  );
  const slow = ['wait "$installing"', 'test/browser/twice.sh', 'npm run test:slow'];
  assert.deepEqual(commands, [
    'test/slow/packages.sh &',
    ...['npm ci', 'npm audit', 'npm run check', 'npm test'],
    ...slow,
  ]);
  const { scripts } = JSON.parse(await read('package.json'));
  const filesNamedIn = (script: string) => {
    const patterns = [...script.matchAll(/"([^"]+)"/g)].map(([, pattern = '']) => pattern);
    return Array.fromAsync(glob(patterns, { cwd: ROOT }));
  };
  const groups = (await filesNamedIn(scripts.test)).map((file) => basename(file, '.ts'));
  const grouped = (await Promise.all(groups.map(filesOf))).flat().map((file) => `test/${file}`);
  const browser = await filesNamedIn(await read('test/browser/twice.sh'));
  const run = [...grouped, ...browser, ...(await filesNamedIn(scripts['test:slow']))];
  const all = await Array.fromAsync(glob('**/*.test.ts', { cwd: ROOT, exclude: ['**/node_modules'] }));
  assert.deepEqual(run.sort(), all.sort());
});

test('the page of the settings lists those of the service', async () => {
  const expected = Object.entries(SETTINGS).map(([name, { defaultText, description }]) => [
    `\`${name}\``,
    defaultText ? `\`${defaultText}\`` : '',
    description,
  ]);
  assert.deepEqual(tableUnder(`\n${await read('docs/settings.md')}`, '# Settings'), expected);
});

test('the page of the settings names the files of the settings that hold secrets', async () => {
  const named = [...(await read('docs/settings.md')).matchAll(/`(\w+)_FILE`/g)].map(([, name]) => name);
  assert.deepEqual([...new Set(named)], [...SECRET_SETTINGS]);
});

test('what the threat model and the limits point to is there', async () => {
  for (const [page, heading] of [
    ['docs/threat-model.md', '## Threats'],
    ['docs/limits.md', '# Limits'],
  ] as const) {
    const rows = tableUnder(`\n${await read(page)}`, heading);
    assert.ok(rows.length > 10, page);
    for (const row of rows) {
      const files = [...(row[2] ?? '').matchAll(/`([\w./-]+\.ts)`/g)].map(([, file = '']) => file);
      if (page.includes('threat')) assert.ok(files.length > 0, row.join());
      for (const file of files) assert.ok(existsSync(new URL(file, ROOT)), `${page}: ${file}`);
    }
  }
});

/** The requirements of levels 1 and 2 of ASVS 5.0.0, as the first and the last number of each section. */
const REQUIREMENTS = [
  ...['6.1.1-3', '6.2.1-12', '6.3.1-4', '6.4.1-4', '6.5.1-5', '6.6.1-3', '6.8.1-4'],
  ...['7.1.1-3', '7.2.1-4', '7.3.1-2', '7.4.1-5', '7.5.1-2', '7.6.1-2'],
];

test('each requirement of ASVS has its row, with tests that exist or the reason why there is none', async () => {
  const rows = tableUnder(await read('docs/threat-model.md'), '## OWASP ASVS');
  const expected = REQUIREMENTS.flatMap((range) => {
    const [, section = '', first = '', last = ''] = /^(.+)\.(\d+)-(\d+)$/.exec(range) ?? [];
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => `${section}.${Number(first) + i}`);
  });
  const numbers = rows.map(([number = '']) => number);
  assert.deepEqual(
    numbers.filter((number) => !number.startsWith('3.')),
    expected,
  );
  for (const [number = '', , how = '', shown = ''] of rows) {
    const tests = [...shown.matchAll(/`([\w./-]+)` "([^"]+)"/g)];
    assert.ok(tests.length > 0 !== how.startsWith('Not applicable:'), number);
    for (const [, file = '', name = ''] of tests) {
      const source = await read(`test/${file}`);
      const names = [...source.matchAll(/^ *test\((['"`])(.+?)\1,/gm)].map(([, , found = '']) => found);
      assert.ok(
        names.some((found) => found.includes(name)),
        `${number}: ${file} has no test "${name}"`,
      );
    }
  }
});

test('every relative link leads somewhere', async () => {
  const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'];
  for await (const page of glob('docs/**/*.md', { cwd: fileURLToPath(ROOT) })) pages.push(page);
  const broken: string[] = [];
  for (const page of pages) {
    for (const [, target = ''] of (await read(page)).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const url = new URL(target, new URL(page, ROOT));
      const anchor = url.hash.slice(1);
      url.hash = '';
      const found = existsSync(url) && (anchor === '' || anchorsOf(await readFile(url, 'utf8')).includes(anchor));
      if (!found) broken.push(`${page}: ${target}`);
    }
  }
  assert.deepEqual(broken, []);
});

/** The anchors that headings get when the pages are rendered. */
const anchorsOf = (page: string): string[] =>
  [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

test('every error code has its row, with its status', async () => {
  const rows = tableUnder(await read('docs/behaviour.md'), '### Error codes');
  const documented = new Map(rows.map(([code, status]) => [code, status]));
  const expected = new Map(Object.entries(PROBLEMS).map(([code, { status }]) => [`\`${code}\``, String(status)]));
  assert.deepEqual(documented, expected);
});

test('every fault code has its row', async () => {
  const rows = tableUnder(await read('docs/behaviour.md'), '### Fault codes');
  const [, union = ''] = /type FaultCode =([^;]+);/.exec(await read('src/kernel/errors.ts')) ?? [];
  const codes = [...union.matchAll(/'(\w+)'/g)].map(([, code]) => `\`${code}\``);
  assert.ok(codes.length > 0);
  assert.deepEqual(rows.map(([code]) => code).sort(), codes.sort());
});

test('the metrics that are described are those of the service', async () => {
  const { anonymous } = await startApp();
  const { text } = await anonymous.get('/metrics');
  // The metrics with these prefixes are those of the client library.
  const names = [...text.matchAll(/^# TYPE (?!process_|nodejs_)(\w+) /gm)].map(([, name]) => name);
  const rows = tableUnder(await read('docs/operations.md'), '`/metrics` has Prometheus metrics.');
  assert.ok(names.length > 10);
  assert.deepEqual(rows.flatMap(([cell = '']) => cell.replaceAll('`', '').split(', ')).sort(), names.sort());
});
