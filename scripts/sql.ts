import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { KEY_GUARD } from '../src/http/operation/idempotency.sql.ts';
import { allStatements, type PreparedStatement } from '../src/kernel/sql/statement.ts';
import { withUnconnectedApp } from './unconnected-app.ts';

/**
 * Writes every statement, in its single and its batch form, to sql/*.sql, so that a diff shows what the database gets.
 * With --check it only compares. A statement with optional parts is written with every combination of them, or with
 * those that its declaration chooses. A write that can have an Idempotency-Key is also written with one ("keyed").
 */

const source = new URL('../src/', import.meta.url);
const target = new URL('../sql/', import.meta.url);

// Importing a module declares its statements. Modules without a declaration are skipped: some start a process.
const DECLARES = /\b(?:read|write|readVariants|writeVariants|rowLimit|caseLists)\(/;
for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' }).sort()) {
  if (!file.endsWith('.ts') || !DECLARES.test(readFileSync(new URL(file, source), 'utf8'))) continue;
  await import(new URL(file, source).href);
}

// Some statements are declared with the routes: those of the event log, and the row locks of If-Match.
await withUnconnectedApp(() => {});

// The head and the tail that a guard adds are the same for all variants of a statement, so one of them is shown.
const guarded = new Map<string, PreparedStatement>();
for (const statement of allStatements()) {
  const [base = ''] = statement.name.split('+');
  if (!guarded.has(base)) guarded.set(base, statement);
}
for (const statement of guarded.values()) statement.guarded?.(KEY_GUARD);

const files = new Map<string, string>();
for (const statement of allStatements().sort((a, b) => (a.name < b.name ? -1 : 1))) {
  const file = `${statement.name.split('.')[0]}.sql`;
  files.set(file, `${files.get(file) ?? ''}${show(statement)}`);
}

if (process.argv.includes('--check')) check();
else {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target);
  for (const [file, text] of files) writeFileSync(new URL(file, target), text);
}

function show({ name, text, readOnly, pool, batch }: PreparedStatement): string {
  const heading = `-- ${name} (${readOnly ? 'reads' : 'writes'}; pool: ${pool})\n`;
  const batchForm = batch ? `-- ${batch.name} (batch form)\n${tidy(batch.text)}\n\n` : '';
  return `${heading}${tidy(text)}\n\n${batchForm}`;
}

/** Removes the indentation of the source, keeps the lines. */
function tidy(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd());
  const kept = lines.filter((line) => line !== '');
  const indentation = Math.min(...kept.slice(text.startsWith('\n') ? 0 : 1).map((line) => line.search(/\S/)));
  const cut = Number.isFinite(indentation) ? indentation : 0;
  return `${kept.map((line) => (line.slice(0, cut).trim() === '' ? line.slice(cut) : line)).join('\n')};`;
}

function check(): void {
  const expected = [...files.keys()].sort();
  const actual = readdirSync(target).sort();
  const differs = expected.filter(
    (file) => !actual.includes(file) || readFileSync(new URL(file, target), 'utf8') !== files.get(file),
  );
  const stale = actual.filter((file) => !expected.includes(file));
  if (differs.length + stale.length === 0) {
    console.log(`SQL files: ${expected.length}, up to date.`);
    return;
  }
  console.error(`Not up to date in ${fileURLToPath(target)}: ${[...differs, ...stale].join(', ')}. Run npm run sql.`);
  process.exit(1);
}
