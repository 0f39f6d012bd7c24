import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { type Options, type Token, tokenizer } from 'acorn';
import { checkSync } from 'recheck';

/**
 * Checks that every regular expression of the service runs in linear time. Otherwise a caller could block the process
 * with a single field. Literals are read from the sources, schema patterns from openapi.json.
 */

/** The types of acorn omit the value of a token. */
type ValuedToken = Token & { value: string & { pattern: string; flags: string } };
type Pattern = { source: string; flags: string; place: string };

/**
 * Some expressions are checked with random inputs. A fixed seed makes every run use the same ones, and the characters that
 * are read are counted, not the time, so that a busy machine comes to the same result.
 */
const CHECK: Parameters<typeof checkSync>[2] = {
  randomSeed: 1,
  attackLimit: 10_000_000,
  seedingTimeout: null,
  incubationTimeout: null,
  attackTimeout: null,
  timeout: 120_000,
};
const SYNTAX: Options = { ecmaVersion: 'latest', sourceType: 'module', locations: true };
/** Constants with schema patterns have such names; the patterns themselves are in openapi.json. */
const SCHEMA_PATTERN = /^\w*PATTERN$/;

const root = new URL('../', import.meta.url);
const files = readdirSync(new URL('src/', root), { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
);
const faults: string[] = [];
const patterns = new Map<string, Pattern>();
for (const file of files) collectLiterals(`src/${file}`);
collectSchemas(JSON.parse(readFileSync(new URL('openapi.json', root), 'utf8')));
for (const pattern of patterns.values()) checkPattern(pattern);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);
console.log(`Regular expressions: ${patterns.size}, all linear.`);

function collectLiterals(file: string): void {
  const source = stripTypeScriptTypes(readFileSync(new URL(file, root), 'utf8'));
  const tokens = [...tokenizer(source, SYNTAX)] as ValuedToken[];
  for (const [i, { type, value, loc }] of tokens.entries()) {
    const place = `${file}:${loc?.start.line}`;
    if (type.label === 'regexp') addPattern({ source: value.pattern, flags: value.flags, place });
    if (type.label !== 'name' || value !== 'RegExp' || tokens[i + 1]?.type.label !== '(') continue;
    const argument = tokens[i + 2];
    if (argument?.type.label !== 'name' || !SCHEMA_PATTERN.test(argument.value))
      faults.push(`${place}: RegExp() must take a constant whose name ends in PATTERN, so that it can be checked`);
  }
}

function collectSchemas(value: unknown, path = 'openapi.json'): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    if (key === 'pattern' && typeof part === 'string') addPattern({ source: part, flags: 'u', place: path });
    else collectSchemas(part, `${path}/${key}`);
  }
}

function addPattern(pattern: Pattern): void {
  const key = `/${pattern.source}/${pattern.flags}`;
  if (!patterns.has(key)) patterns.set(key, pattern);
}

function checkPattern({ source, flags, place }: Pattern): void {
  const result = checkSync(source, flags, CHECK);
  if (result.status === 'safe') return;
  const reason = result.status === 'vulnerable' ? result.complexity.summary : result.status;
  faults.push(`${place}: /${source}/${flags} is not linear (${reason})`);
}
