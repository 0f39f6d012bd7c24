import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

/** Finds a Node that runs the service, and fetches one with npm if there is none. */

const PROBE_TIMEOUT_MS = 20_000;
const MAX_FETCH_MS = 600_000;
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'];
/** A launcher that is killed leaves its download behind; a later one removes it. */
const MAX_DOWNLOAD_MS = 3_600_000;
const PROGRAM = process.platform === 'win32' ? 'node.exe' : 'node';
/** The packages of Linux distributions that contain the libraries a Node needs. */
const LIBRARY_PACKAGES = {
  'libatomic.so.1': { debian: 'libatomic1', fedora: 'libatomic' },
  'libstdc++.so.6': { debian: 'libstdc++6', fedora: 'libstdc++' },
};

const release = JSON.parse(readFileSync(new URL('node-release.json', import.meta.url), 'utf8'));
const platform = `${process.platform}-${process.arch}`;
const npmPackage = release.packages[platform];

/** Returns the path of a Node of at least this major version. Rejects if there is none and none can be fetched. */
export async function findNode(requiredMajor, root) {
  const inCheckout = npmPackage && join(root, 'node_modules', npmPackage.name, 'bin', PROGRAM);
  if (inCheckout && existsSync(inCheckout)) return requireRunning(inCheckout);
  const onPath = nodesOnPath().find((file) => probe(file).major >= requiredMajor);
  if (onPath) return onPath;
  const fetched = npmPackage && join(cacheFolder(), `node-${release.version}-${platform}`, PROGRAM);
  if (fetched && existsSync(fetched)) return fetched;
  if (!fetched || !hasGlibc()) throw new Error(`Node ${requiredMajor} or later is required. ${advice(requiredMajor)}`);
  await fetchNode(dirname(fetched), requiredMajor);
  return fetched;
}

/** The Node that npm offers for Linux needs glibc. A report lists network interfaces, which can take long. */
function hasGlibc() {
  if (process.platform !== 'linux') return true;
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime !== undefined;
}

/** Throws with the reason and its cure if the program does not start. */
function requireRunning(file) {
  const { obstacle } = probe(file);
  if (obstacle) throw new Error(`Node ${release.version} (${file}) cannot start: ${obstacle}`);
  return file;
}

function probe(file) {
  const { status, stdout, stderr, error } = spawnSync(file, ['--version'], {
    encoding: 'utf8',
    timeout: PROBE_TIMEOUT_MS,
  });
  if (status === 0) return { major: Number.parseInt(stdout.replace('v', ''), 10) };
  const [, library] = /loading shared librar(?:y|ies):? (\S+?):/.exec(stderr ?? '') ?? [];
  if (library) return { obstacle: missingLibrary(library) };
  return { obstacle: `${stderr?.trim() || error?.message}. Remove it, and try again.` };
}

function missingLibrary(library) {
  const { debian, fedora } = LIBRARY_PACKAGES[library] ?? {};
  const cure = debian
    ? `Run "apt-get install ${debian}" on Debian or Ubuntu, or "dnf install ${fedora}" on Fedora.`
    : 'Install the package of your distribution that contains it.';
  return `the library ${library} is missing. ${cure}`;
}

const advice = (major) => `Install Node ${major} or later, and put it on the PATH.`;

function nodesOnPath() {
  const own = realpathSync(process.execPath);
  const files = (process.env.PATH ?? '').split(delimiter).map((folder) => folder && join(folder, PROGRAM));
  return files.filter((file) => file && existsSync(file) && realpathSync(file) !== own);
}

function cacheFolder() {
  const base = {
    darwin: join(homedir(), 'Library', 'Caches'),
    win32: process.env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'),
  }[process.platform];
  return join(process.env.XDG_CACHE_HOME || base || join(homedir(), '.cache'), 'case-records');
}

/** npm compares the download with the checksum in the lock file that is written here. */
async function fetchNode(folder, requiredMajor) {
  const { name, integrity } = npmPackage;
  const { version } = release;
  console.error(
    `case-records: The service needs Node ${requiredMajor}, and this is Node ${process.versions.node}. ` +
      `Fetching Node ${version} with npm, once (about 55 MB), into ${folder}`,
  );
  const download = newDownloadFolder(dirname(folder));
  let ended;
  try {
    const manifest = { name: 'case-records-node', version, private: true, dependencies: { [name]: version } };
    const packages = { '': manifest, [`node_modules/${name}`]: { version, integrity } };
    const lock = { name: manifest.name, version, lockfileVersion: 3, requires: true, packages };
    writeFileSync(join(download, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(download, 'package-lock.json'), JSON.stringify(lock));
    ended = await runNpm(download);
    if (!ended.fault) {
      const downloaded = join(download, 'node_modules', name, 'bin');
      // Only here, so that later starts need not try it.
      requireRunning(join(downloaded, PROGRAM));
      moveInto(folder, downloaded);
    }
  } finally {
    rmSync(download, { recursive: true, force: true });
  }
  if (ended.signal) process.kill(process.pid, ended.signal);
  if (ended.fault) throw new Error(`${ended.fault} ${advice(requiredMajor)}`);
}

/** Passes signals on to npm. Returns the last one, which has yet to end this process, and why npm has failed. */
function runNpm(cwd) {
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--global=false', '--loglevel=error'];
  return new Promise((resolve) => {
    let child;
    let signal;
    const passOn = (received) => {
      signal = received;
      child.kill(received);
    };
    // Before npm runs: a signal that came in between would end this process alone.
    for (const name of SIGNALS) process.on(name, passOn);
    child = spawn('npm', ['ci', ...options], {
      cwd,
      // The standard output belongs to the command; npm reports faults and progress on the other one.
      stdio: ['ignore', 'ignore', 2],
      shell: process.platform === 'win32',
    });
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = child.kill('SIGKILL');
    }, MAX_FETCH_MS);
    const end = (fault) => {
      clearTimeout(timer);
      for (const name of SIGNALS) process.off(name, passOn);
      resolve({ fault, signal });
    };
    child.on('error', ({ code, message }) => end(code === 'ENOENT' ? 'npm is not on the PATH.' : `${message}.`));
    child.on('exit', (status) => {
      const node = `Node ${release.version}`;
      if (status === 0) end();
      else if (isLate) end(`npm did not fetch ${node} within ${MAX_FETCH_MS / 60_000} minutes. Try again, or:`);
      else end(`npm could not fetch ${node} (see above). Try again, or:`);
    });
  });
}

function newDownloadFolder(parent) {
  try {
    mkdirSync(parent, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(parent).filter((entry) => entry.startsWith('download-'))) {
      const left = join(parent, name);
      const age = Date.now() - (statSync(left, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
      if (age > MAX_DOWNLOAD_MS) rmSync(left, { recursive: true, force: true });
    }
    return mkdtempSync(join(parent, 'download-'));
  } catch (error) {
    throw new Error(`${error.message}. Set XDG_CACHE_HOME to a folder that can be written, or install a newer Node.`);
  }
}

/** Another first start may have been faster; its copy is as good. */
function moveInto(folder, downloaded) {
  try {
    renameSync(downloaded, folder);
  } catch (error) {
    if (!existsSync(join(folder, PROGRAM))) throw error;
  }
}
