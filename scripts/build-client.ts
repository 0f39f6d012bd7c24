import { execFileSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Builds packages/client/dist before the package is packed: ES modules and CommonJS, each with its declarations. */

const root = new URL('../', import.meta.url);
const dist = new URL('packages/client/dist/', root);
const tsc = fileURLToPath(new URL('node_modules/.bin/tsc', root));

rmSync(dist, { recursive: true, force: true });
for (const [folder, type] of [
  ['esm/', 'module'],
  ['cjs/', 'commonjs'],
] as const) {
  execFileSync(tsc, ['-p', `packages/client/tsconfig.${folder.slice(0, -1)}.json`], { cwd: root, stdio: 'inherit' });
  const target = new URL(folder, dist);
  writeFileSync(new URL('package.json', target), `${JSON.stringify({ type })}\n`);
  // TypeScript leaves the names of the sources in declarations, which only its recent versions resolve.
  for (const name of readdirSync(target).filter((file) => file.endsWith('.d.ts'))) {
    const file = new URL(name, target);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"));
  }
}
copyFileSync(new URL('LICENSE', root), new URL('packages/client/LICENSE', root));
