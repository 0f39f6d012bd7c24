import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import { OPERATIONS } from '../packages/client/src/operations.ts';
import type { Operation } from '../packages/client/src/request.ts';
import { toFormLimits } from './form-limits.ts';

/**
 * Builds the console, so that operators need no build: one script and one style sheet, each also compressed. With
 * --check it only compares assets/console with what the sources make.
 */

const MAX_BROTLI_BYTES = 70 * 1024;

const root = new URL('../', import.meta.url);
const target = new URL('assets/console/', root);

/** `openapi:InteractionBody` is the limits of that form, so that fields have those that the service checks. */
const formLimits: Plugin = {
  name: 'form-limits',
  setup({ onResolve, onLoad }) {
    const { components } = JSON.parse(readFileSync(new URL('openapi.json', root), 'utf8'));
    onResolve({ filter: /^openapi:/ }, ({ path }) => ({ path: path.slice('openapi:'.length), namespace: 'openapi' }));
    onLoad({ filter: /.*/, namespace: 'openapi' }, ({ path }) => ({
      contents: JSON.stringify(toFormLimits(components.schemas, path)),
      loader: 'json',
    }));
  },
};

/** The table of operations without those that the console never calls, each as one line. */
const calledOperations: Plugin = {
  name: 'called-operations',
  setup({ onLoad }) {
    const words = new Set(['console/', 'packages/client/src/'].flatMap(wordsIn));
    const lines = Object.entries<Operation>(OPERATIONS).flatMap(([name, { method, path, query, headers }]) =>
      words.has(name)
        ? [
            [name, method, path, query.join(), 'ifMatch' in headers ? 2 : 'idempotencyKey' in headers ? 1 : '']
              .join(' ')
              .trim(),
          ]
        : [],
    );
    onLoad({ filter: /\/client\/src\/operations\.ts$/ }, () => ({ contents: tableOf(lines) }));
  },
};

/** A write has an idempotency key, and one that can conflict a tag too; the console sends no other headers. */
const tableOf = (lines: readonly string[]) => `
  const list = (text) => text ? text.split(',') : [];
  export const OPERATIONS = Object.fromEntries(${JSON.stringify(lines.join(';'))}.split(';').map((line) => {
    const [name, method, path, query, headers] = line.split(' ');
    return [name, { method, path, query: list(query), headers: headers ? { idempotencyKey: 'idempotency-key', ...(headers > 1 && { ifMatch: 'if-match' }) } : {} }];
  }));`;

/** The identifiers in the sources of a folder, except in the table of operations. */
function wordsIn(folder: string): string[] {
  const files = readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => /\.tsx?$/.test(file) && file !== 'operations.ts')
    .flatMap((file) => readFileSync(new URL(folder + file, root), 'utf8').match(/\w+/g) ?? []);
}

const { outputFiles } = await build({
  absWorkingDir: root.pathname,
  entryPoints: ['console/main.tsx', 'console/styles/main.css'],
  tsconfig: 'console/tsconfig.json',
  outdir: 'assets/console',
  entryNames: '[name]',
  bundle: true,
  minify: true,
  format: 'esm',
  target: ['chrome123', 'firefox122', 'safari17.5'],
  legalComments: 'none',
  charset: 'utf8',
  plugins: [formLimits, calledOperations],
  write: false,
  jsx: 'transform',
  jsxFactory: 'h',
  jsxFragment: 'Fragment',
  inject: ['console/h.ts'],
});

const faults: string[] = [];
const sizes: string[] = [];
const files = new Map<string, Uint8Array>();
let brotliBytes = 0;
for (const { path, contents } of outputFiles) {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const brotli = brotliCompressSync(contents, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: contents.length } });
  brotliBytes += brotli.length;
  sizes.push(`${name} ${(brotli.length / 1024).toFixed(1)} KiB`);
  files.set(name, contents);
  files.set(`${name}.br`, brotli);
  files.set(`${name}.gz`, gzipSync(contents, { level: constants.Z_BEST_COMPRESSION }));
}
if (brotliBytes > MAX_BROTLI_BYTES) {
  faults.push(`The console has ${brotliBytes} bytes (brotli); at most ${MAX_BROTLI_BYTES} are allowed.`);
}

if (process.argv.includes('--check')) {
  for (const [name, contents] of files) {
    if (!readFile(name)?.equals(contents)) {
      faults.push(`assets/console/${name} is out of date; run \`npm run console\` to update it.`);
    }
  }
} else {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  for (const [name, contents] of files) writeFileSync(new URL(name, target), contents);
}
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);
console.log(`Console: ${sizes.join(', ')} (brotli).`);

function readFile(name: string): Buffer | undefined {
  try {
    return readFileSync(new URL(name, target));
  } catch {
    return undefined;
  }
}
