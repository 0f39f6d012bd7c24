/**
 * The newest releases that are known to fix vulnerabilities, by major version, for a warning at the start and in
 * `doctor`. `npm run releases` compares the table with upstream's own lists; docs/supply-chain.md tells more.
 */

export type SecurityRelease = {
  version: string;
  /** The day of the release. */
  released: string;
  /** How this is known. */
  source: string;
};
export type Program = 'PostgreSQL' | 'Node';

/** The day on which the table was brought up to date. */
export const LISTED_ON = '2026-11-18';

const NOVEMBER = "the notes of an extension builder's release of the same day; the day by the release schedule";
const OCTOBER = "distributions' advisories of October 2026; Node's own announcement could not be read";

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

/** Returns undefined if the version has all fixes that the table knows, or is of a line newer than the table. */
export function missingFixes(program: Program, version: string, releases = SECURITY_RELEASES): string | undefined {
  const lines = releases[program];
  const major = version.split('.', 1)[0] ?? '';
  const release = lines[major];
  if (release) {
    if (compareVersions(version, release.version) >= 0) return undefined;
    return `${program} ${version} lacks the security fixes of ${release.version} (${release.released}).`;
  }
  const ended = Object.keys(lines).some((listed) => Number(listed) > Number(major));
  return ended ? `${program} ${major} gets no security fixes any more.` : undefined;
}

export function postgresAdvice(version: string, { bundled }: { bundled: boolean }): string | undefined {
  const missing = missingFixes('PostgreSQL', version);
  const cure = bundled ? 'Set DATABASE_URL to a server that has them: see docs/supply-chain.md.' : 'Update the server.';
  return missing && `${missing} ${cure}`;
}

export function nodeAdvice(version: string): string | undefined {
  const missing = missingFixes('Node', version);
  return missing && `${missing} Run the service on a Node that has them: see docs/supply-chain.md.`;
}

/** From `server_version_num`, such as 180004: distributions add words of their own to `server_version`. */
export const postgresVersion = (number: number): string => `${Math.floor(number / 10_000)}.${number % 10_000}`;

/** Negative if `a` is older than `b`. What follows a hyphen does not count. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('-', 1)[0]?.split('.').map(Number) ?? []);
  for (let i = 0; i < Math.max(left?.length ?? 0, right?.length ?? 0); i++) {
    const difference = (left?.[i] ?? 0) - (right?.[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
