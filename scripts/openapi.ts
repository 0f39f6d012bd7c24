import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { withUnconnectedApp } from './unconnected-app.ts';

const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024;
/** The address of a service with the default settings; a service names its own in the document that it serves. */
const SERVERS = [{ url: 'http://127.0.0.1:8080', description: 'A service with the default settings.' }];

/** Writes openapi.json from the code; with --check, fails if the committed copy differs. */

const file = new URL('../openapi.json', import.meta.url);
let generated = '';
await withUnconnectedApp((app) => {
  generated = format(JSON.stringify({ ...app.swagger(), servers: SERVERS }));
});

if (!process.argv.includes('--check')) await writeFile(file, generated);
else if ((await readFile(file, 'utf8')) !== generated) {
  console.error('openapi.json does not match the code: run `npm run openapi` and commit the result.');
  process.exitCode = 1;
}

/** Short objects on one line and small indents make the file a third smaller. The file itself is not checked by biome. */
function format(json: string): string {
  const biome = fileURLToPath(new URL('../node_modules/.bin/biome', import.meta.url));
  return execFileSync(biome, ['format', '--indent-width=1', '--stdin-file-path=document.json'], {
    input: json,
    encoding: 'utf8',
    maxBuffer: MAX_DOCUMENT_BYTES,
  });
}
