import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { type Options, type Token, tokenizer } from 'acorn';
import { checkSync } from 'recheck';

/**
 * Checks that every regular expression of the service takes time in proportion to its text. One that does not lets a
 * caller hold up all companies with a single field. Literals come from the sources, schema patterns from openapi.json.
 */

/** Acorn's types leave out what a token holds. */
type ValuedToken = Token & { value: string & { pattern: string; flags: string } };
type Pattern = { source: string; flags: string; place: string };

const CHECK_MS = 20_000;
/** Some expressions are checked by random inputs. With a fixed seed every run draws the same ones and finds the same. */
const RANDOM_SEED = 1;
const SYNTAX: Options = { ecmaVersion: 'latest', sourceType: 'module', locations: true };
/** A schema keeps its pattern in such a constant, and the document shows every one of them. */
const SCHEMA_PATTERN = /^\w*PATTERN$/;

const root = new URL('../', import.meta.url);
const files = readdirSync(new URL('src/', root), { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
);
const faults: string[] = [];
const patterns = new Map<string, Pattern>();
for (const file of files) collect(`src/${file}`);
collectSchemas(JSON.parse(readFileSync(new URL('openapi.json', root), 'utf8')));
for (const pattern of patterns.values()) check(pattern);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);
console.log(`Regular expressions: ${patterns.size}, all linear.`);

function collect(file: string): void {
  const source = stripTypeScriptTypes(readFileSync(new URL(file, root), 'utf8'));
  const tokens = [...tokenizer(source, SYNTAX)] as ValuedToken[];
  for (const [i, { type, value, loc }] of tokens.entries()) {
    const place = `${file}:${loc?.start.line}`;
    if (type.label === 'regexp') add({ source: value.pattern, flags: value.flags, place });
    if (type.label !== 'name' || value !== 'RegExp' || tokens[i + 1]?.type.label !== '(') continue;
    const argument = tokens[i + 2];
    if (argument?.type.label !== 'name' || !SCHEMA_PATTERN.test(argument.value))
      faults.push(`${place}: RegExp() takes a constant whose name ends in PATTERN, so that it can be checked`);
  }
}

function collectSchemas(value: unknown, path = 'openapi.json'): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    if (key === 'pattern' && typeof part === 'string') add({ source: part, flags: 'u', place: path });
    else collectSchemas(part, `${path}/${key}`);
  }
}

function add(pattern: Pattern): void {
  const key = `/${pattern.source}/${pattern.flags}`;
  if (!patterns.has(key)) patterns.set(key, pattern);
}

function check({ source, flags, place }: Pattern): void {
  const found = checkSync(source, flags, { timeout: CHECK_MS, randomSeed: RANDOM_SEED });
  if (found.status === 'safe') return;
  const why = found.status === 'vulnerable' ? found.complexity.summary : found.status;
  faults.push(`${place}: /${source}/${flags} is not linear (${why})`);
}
