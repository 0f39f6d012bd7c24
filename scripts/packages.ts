import { readFile, writeFile } from 'node:fs/promises';

/**
 * Writes bin/node-release.json: the Node that the launcher fetches, with the checksums of the lock file. With --check,
 * fails if the committed copy differs, or if the packages do not fit together.
 */

type Manifest = {
  version: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
};
type LockedPackage = { version: string; integrity: string; os: string; cpu: string };

const target = 'bin/node-release.json';
const root = new URL('../', import.meta.url);
const read = (path: string) => readFile(new URL(path, root), 'utf8');
const readJson = async (path: string) => JSON.parse(await read(path));

const service: Manifest = await readJson('package.json');
const client: Manifest = await readJson('packages/client/package.json');
const runtime: Manifest = await readJson('packages/node/package.json');
const lock: { packages: Record<string, LockedPackage> } = await readJson('package-lock.json');
const version = (await read('.node-version')).trim();
const generated = `${JSON.stringify({ version, packages: nodePackages() }, null, 2)}\n`;

if (!process.argv.includes('--check')) await writeFile(new URL(target, root), generated);
else {
  const faults = [
    (await read(target)) !== generated &&
      `${target} does not match package-lock.json: run \`npm run packages\` and commit the result.`,
    new Set([service, client, runtime].map((manifest) => manifest.version)).size > 1 &&
      'The packages must have the same version: package.json, packages/client and packages/node.',
    client.dependencies && 'packages/client must not have dependencies.',
    Object.keys({ ...service.dependencies, ...service.optionalDependencies }).some((name) =>
      name.startsWith('node-'),
    ) && 'package.json must not depend on a Node: npm would put it before the Node of every dependent.',
  ].filter((fault) => typeof fault === 'string');
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
}

function nodePackages(): Record<string, { name: string; integrity: string }> {
  return Object.fromEntries(
    Object.keys(runtime.optionalDependencies ?? {}).map((name) => {
      const locked = lock.packages[`node_modules/${name}`];
      if (locked?.version !== version)
        throw new Error(`${name} is locked to ${locked?.version}, and not to ${version}`);
      return [`${locked.os}-${locked.cpu}`, { name, integrity: locked.integrity }];
    }),
  );
}
