import { readFile, writeFile } from 'node:fs/promises';
import { withUnconnectedApp } from './unconnected-app.ts';

/** Writes openapi.json from the code; with --check, fails if the committed copy differs. */

const file = new URL('../openapi.json', import.meta.url);
let generated = '';
await withUnconnectedApp((app) => {
  generated = `${JSON.stringify(app.swagger(), null, 2)}\n`;
});

if (!process.argv.includes('--check')) await writeFile(file, generated);
else if ((await readFile(file, 'utf8')) !== generated) {
  console.error('openapi.json does not match the code: run `npm run openapi` and commit the result.');
  process.exitCode = 1;
}
