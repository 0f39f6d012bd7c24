/**
 * The newest known security releases by major version. An older version causes a warning at startup and in `doctor`.
 * `npm run releases` compares the table with the lists of the projects; see docs/supply-chain.md.
 */

type SecurityRelease = {
  version: string;
  released: string;
  /** Where the version and the date come from. */
  source: string;
};
export type Program = 'PostgreSQL' | 'Node';

/** The day on which the table was last updated. */
export const LISTED_ON = '2026-11-18';

const NOVEMBER = "an extension builder's release notes of the same day; the date is from the release schedule";
const OCTOBER = "advisories of distributions, October 2026; Node's announcement was not accessible";

export const SECURITY_RELEASES: Record<Program, Record<string, SecurityRelease>> = {
  PostgreSQL: {
    15: {
      version: '15.20',
      released: '2026-11-12',
      source: "the changelog of Debian's package of 13 November, which names 42 vulnerabilities",
    },
    16: { version: '16.16', released: '2026-11-12', source: NOVEMBER },
    17: { version: '17.12', released: '2026-11-12', source: NOVEMBER },
    18: { version: '18.7', released: '2026-11-12', source: NOVEMBER },
  },
  Node: {
    22: { version: '22.23.4', released: '2026-10-21', source: OCTOBER },
    24: { version: '24.22.1', released: '2026-10-21', source: OCTOBER },
    26: { version: '26.12.1', released: '2026-10-21', source: "Node's changelog" },
  },
};

/** Returns undefined if the version has all listed fixes, or if its major version is newer than the table. */
export function missingFixes(program: Program, version: string, releases = SECURITY_RELEASES): string | undefined {
  const lines = releases[program];
  const major = version.split('.', 1)[0] ?? '';
  const release = lines[major];
  if (release) {
    if (compareVersions(version, release.version) >= 0) return undefined;
    return `${program} ${version} lacks the security fixes of ${release.version} (${release.released}).`;
  }
  const isUnsupported = Object.keys(lines).some((listed) => Number(listed) > Number(major));
  return isUnsupported ? `${program} ${major} no longer gets security fixes.` : undefined;
}

export function postgresAdvice(version: string, { bundled }: { bundled: boolean }): string | undefined {
  const missing = missingFixes('PostgreSQL', version);
  const advice = bundled
    ? 'Set DATABASE_URL to a server that has them: see docs/supply-chain.md.'
    : 'Update the server.';
  return missing && `${missing} ${advice}`;
}

export function nodeAdvice(version: string): string | undefined {
  const missing = missingFixes('Node', version);
  return missing && `${missing} Run the service on a Node that has them: see docs/supply-chain.md.`;
}

/** Converts `server_version_num`, such as 180004. Distributions add text of their own to `server_version`. */
export const postgresVersion = (number: number): string => `${Math.floor(number / 10_000)}.${number % 10_000}`;

/** Returns a negative number if `a` is older than `b`. Ignores everything after a hyphen. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('-', 1)[0]?.split('.').map(Number) ?? []);
  for (let i = 0; i < Math.max(left?.length ?? 0, right?.length ?? 0); i++) {
    const difference = (left?.[i] ?? 0) - (right?.[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
