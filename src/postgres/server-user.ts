import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { cannotRunHere } from './bundled-postgres-error.ts';

const run = promisify(execFile);

const USER_NAME = 'postgres';

// The tools of Linux distributions, then those of BusyBox.
const CREATE_USER_COMMANDS: [string, string[]][] = [
  ['useradd', ['-r', '-U', '-M', '-d', '/nonexistent', '-s', '/usr/sbin/nologin', USER_NAME]],
  ['adduser', ['-S', '-D', '-H', '-h', '/nonexistent', '-s', '/sbin/nologin', USER_NAME]],
];

/** The user in the options of spawn. */
export type ServerUser = { uid: number; gid: number };

/** PostgreSQL refuses to run as root. Returns undefined if it can run as the user of this process. */
export async function serverUser(dataDirectory: string): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  return (await ownerOf(dataDirectory)) ?? (await findUser()) ?? (await createUser());
}

/** Returns the owner of an existing directory, which may have been created by another user or on another machine. */
async function ownerOf(dataDirectory: string): Promise<ServerUser | undefined> {
  const owner = await stat(dataDirectory).catch(() => undefined);
  return owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : undefined;
}

async function findUser(): Promise<ServerUser | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', USER_NAME]), run('id', ['-g', USER_NAME])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}

async function createUser(): Promise<ServerUser> {
  for (const [command, args] of CREATE_USER_COMMANDS) {
    await run(command, args).catch(() => {});
    const user = await findUser();
    if (user) return user;
  }
  throw cannotRunHere(`it refuses to run as root, and a system user "${USER_NAME}" for it could not be created`);
}
