import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SECRET_SETTINGS, SETTINGS } from '../src/config.ts';
import { PROBLEMS } from '../src/http/operation/problems.ts';

/** What the pages say, held against the code. */

const ROOT = new URL('../', import.meta.url);
const read = (path: string) => readFile(new URL(path, ROOT), 'utf8');

/** The cells of the table under a heading, without its head. */
function tableUnder(page: string, heading: string): string[][] {
  const section = page.slice(page.indexOf(`\n${heading}\n`)).slice(1);
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

test('the settings in the README are those of the service', async () => {
  const expected = Object.entries(SETTINGS).map(([name, { defaultText, description }]) => [
    `\`${name}\``,
    defaultText ? `\`${defaultText}\`` : '',
    description,
  ]);
  assert.deepEqual(tableUnder(await read('README.md'), '## Settings'), expected);
});

test('the README names the files of the settings that hold secrets', async () => {
  const named = [...(await read('README.md')).matchAll(/`(\w+)_FILE`/g)].map(([, name]) => name);
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

test('what lands was installed as it is locked, looked up among known weaknesses, checked and tested', async () => {
  const script = await read('.ci/run');
  const steps = ['npm ci ', 'npm audit --omit=dev', 'npm run check', 'npm test'];
  const lines = steps.map((step) => script.split('\n').findIndex((line) => line.startsWith(step)));
  assert.ok(!lines.includes(-1), String(steps[lines.indexOf(-1)]));
  assert.deepEqual(
    lines,
    lines.toSorted((a, b) => a - b),
  );
});

/** The names that headings get where the pages are shown. */
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

test('every metric of the service is described', async () => {
  const operations = await read('docs/operations.md');
  const folders = ['http/plugins', 'cases/appointments', 'events', 'webhooks'];
  const sources = await Promise.all(folders.map((folder) => read(`src/${folder}/metrics.ts`)));
  const names = [...sources.join('').matchAll(/(?:\bname: |LabelledHistogram\(\s*)'([a-z]+_[a-z_]+)'/g)].map(
    ([, name]) => name,
  );
  assert.equal(names.length, 16);
  assert.deepEqual(
    names.filter((name) => !operations.includes(`\`${name}\``)),
    [],
  );
});
