import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, copyFile, cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { findChromium } from '../harness/browser.ts';
import { freePort } from '../harness/free-port.ts';
import {
  type Ended,
  environmentOf,
  type Installation,
  installPackages,
  output,
  ROOT,
  readJson,
  run,
} from '../harness/packages.ts';
import { printed, watch } from '../harness/service.ts';
import { readTour, takeTypedTour } from '../harness/tour.ts';
import { until, within } from '../harness/until.ts';

/** Both packages as users get them: packed, installed into empty projects, and run. */

const MAJORS = [20, 22, 24, 26] as const;
const CHROMIUM = findChromium();

const MANIFEST = join('node_modules', 'case-records', 'package.json');

let installed: Installation;
/** The environment of a machine with Node 20. */
let node20: NodeJS.ProcessEnv;
let page: Awaited<ReturnType<typeof servePage>>;
let service: Awaited<ReturnType<typeof startGlobally>>;
/** A command that is started at the same time as the service, and fetches a Node too. */
let firstCommand: Ended;
let demo: { base_url: string; token: string; case_id: string };

before(async () => {
  installed = await installPackages();
  node20 = await environmentOf(installed.home, installed.nodes[20]);
  page = await servePage(join(installed.project, 'dist'));
  [service, firstCommand] = await Promise.all([startGlobally(), runGlobally()]);
  demo = await readJson(join(installed.home, 'data', 'demo.json'));
});
after(async () => {
  await service?.stop();
  page?.close();
  await installed?.remove();
});

/** The settings of a program that uses the client. */
const serviceEnv = () => ({ BASE_URL: service.url, TOKEN: demo.token, CASE_ID: demo.case_id });

test("the client's tour, taken first, prints what its page says", async () => {
  const steps = await readTour('docs/client.md', 'Tour', 'ts');
  assert.ok(steps.length > 5);
  const env = { ...process.env, DATA_DIR: join(installed.home, 'data') };
  await takeTypedTour(steps, { cwd: installed.project, env });
});

describe('what the packages contain', () => {
  const paths = (name: 'client' | 'service') => installed.packed[name].files.map(({ path }) => path);

  test('the service: JavaScript with source maps, migrations and the command, and no sources', () => {
    for (const path of ['dist/main.js', 'dist/main.js.map', 'bin/case-records.js', 'bin/node-release.json', 'LICENSE'])
      assert.ok(paths('service').includes(path), path);
    assert.ok(paths('service').some((path) => path.startsWith('migrations/')));
    assert.deepEqual(
      paths('service').filter((path) => path.endsWith('.ts') || /^(test|scripts|packages|src)\//.test(path)),
      [],
    );
  });

  test('the manifest of the service names only files that are in the package', async () => {
    const { bin, imports = {}, exports = {} } = await readJson(join(installed.dependent, MANIFEST));
    const named = Object.values({ ...bin, ...imports, ...exports }) as string[];
    assert.deepEqual(
      named.filter((path) => !paths('service').includes(join(path))),
      [],
    );
  });

  test('the client: both module systems with declarations, the sources of the maps, and no dependency', async () => {
    for (const path of ['dist/esm/index.js', 'dist/esm/index.d.ts', 'dist/cjs/index.js', 'dist/cjs/index.d.ts'])
      assert.ok(paths('client').includes(path), path);
    for (const path of ['README.md', 'LICENSE', 'src/index.ts']) assert.ok(paths('client').includes(path), path);
    const folder = join(installed.project, 'node_modules', '@case-records', 'client');
    const { dependencies, optionalDependencies, version } = await readJson(join(folder, 'package.json'));
    assert.deepEqual([dependencies, optionalDependencies], [undefined, undefined]);
    assert.equal(version, (await readJson(join(ROOT, 'package.json'))).version);
    const map = await readJson(join(folder, 'dist', 'esm', 'client.js.map'));
    for (const source of map.sources) assert.ok(existsSync(join(folder, 'dist', 'esm', source)), source);
  });

  test('they stay small', (t) => {
    for (const [name, { size, unpackedSize }] of Object.entries(installed.packed))
      t.diagnostic(`${name}: ${Math.round(size / 1000)} kB packed, ${Math.round(unpackedSize / 1000)} kB installed`);
    assert.ok(installed.packed.client.unpackedSize < 1_500_000);
    assert.ok(installed.packed.service.unpackedSize < 8_000_000);
  });

  test('no dependent gets a Node in front of its own', async () => {
    const modules = join(installed.globalPrefix, 'lib', 'node_modules', 'case-records', 'node_modules');
    for (const folder of [join(modules, '.bin'), join(installed.dependent, 'node_modules', '.bin')])
      assert.ok(!(await readdir(folder)).includes('node'), folder);
    assert.deepEqual(await readdir(join(installed.globalPrefix, 'bin')), ['case-records']);
    const packages = [await readdir(modules), await readdir(join(installed.dependent, 'node_modules'))].flat();
    assert.deepEqual(
      packages.filter((name) => name.startsWith('node-')),
      [],
    );
  });
});

describe('the command', () => {
  test('npx case-records --version, on a Node that is too old, fetches nothing', async () => {
    const { version } = await readJson(join(ROOT, 'package.json'));
    const env = { ...node20, ...cacheOf('npx') };
    const options = { cwd: installed.dependent, env };
    assert.equal(await output('npx', ['case-records', '--version'], options), `case-records ${version}\n`);
    assert.match(await output('npx', ['case-records', '--help'], options), /^Usage: case-records/m);
    assert.ok(!existsSync(env.XDG_CACHE_HOME));
  });

  test('two first starts at the same time both fetch a Node and work; the next one finds it', async () => {
    const fetching = /^case-records: The service needs Node 26, and this is Node 20\.20\.2\. Fetching Node 26\./m;
    assert.match(service.output.join('\n'), fetching);
    assert.deepEqual([firstCommand.code, fetching.test(firstCommand.err)], [0, true], firstCommand.err);
    assert.match(firstCommand.out, /demonstration company/);
    const next = await runGlobally();
    assert.deepEqual([next.code, next.err], [0, '']);
    const { XDG_CACHE_HOME } = cacheOf('first start');
    assert.equal((await readdir(join(XDG_CACHE_HOME, 'case-records'))).length, 1, 'nothing is left behind');
  });

  test('a Node that is new enough is taken from the path', async () => {
    const folder = join(installed.home, 'newer');
    await mkdir(folder);
    await symlink(installed.nodes[26], join(folder, 'node'));
    const env = { ...node20, PATH: `${node20.PATH}:${folder}`, ...cacheOf('path') };
    const { code, err } = await run(globalCommand(), ['demo', '--help'], { env });
    assert.deepEqual([code, err], [0, '']);
    assert.ok(!existsSync(env.XDG_CACHE_HOME));
  });

  /** A copy of the package whose parts can be changed. */
  async function changedPackage(name: string, change: (folder: string) => Promise<void>): Promise<string> {
    const folder = join(installed.home, name);
    await cp(join(installed.dependent, 'node_modules', 'case-records', 'bin'), join(folder, 'bin'), {
      recursive: true,
    });
    await copyFile(join(ROOT, 'package.json'), join(folder, 'package.json'));
    await change(folder);
    return join(folder, 'bin', 'case-records.js');
  }

  test('a download with another checksum is refused', async () => {
    const launcher = await changedPackage('other checksum', async (folder) => {
      const file = join(folder, 'bin', 'node-release.json');
      const text = await readFile(file, 'utf8');
      await writeFile(file, text.replaceAll(/sha512-..../g, 'sha512-AAAA'));
    });
    const env = { ...node20, ...cacheOf('checksum') };
    const { code, err } = await run(installed.nodes[20], [launcher, 'demo'], { env: env });
    assert.equal(code, 1);
    assert.match(err, /EINTEGRITY/);
    assert.match(
      err,
      /^case-records: npm could not fetch Node 26.*Install Node 26 or later, and put it on the PATH\.$/m,
    );
    assert.deepEqual(await readdir(join(env.XDG_CACHE_HOME, 'case-records')), []);
  });

  /** The settings of a first start whose npm writes its process id into the file, and then does nothing. */
  async function idleNpm(name: string) {
    const folder = join(installed.home, `npm ${name}`);
    const pidFile = join(folder, 'pid');
    await mkdir(folder);
    await writeFile(join(folder, 'npm'), `#!/bin/sh\necho $$ > '${pidFile}'\nexec sleep 60\n`);
    await chmod(join(folder, 'npm'), 0o755);
    const env = { ...node20, PATH: `${folder}:${node20.PATH}`, ...cacheOf(name) };
    const assertNothingLeft = async () => {
      assert.throws(() => process.kill(pid(), 0), { code: 'ESRCH' });
      assert.deepEqual(await readdir(join(env.XDG_CACHE_HOME, 'case-records')), []);
    };
    const pid = () => Number(existsSync(pidFile) && readFileSync(pidFile, 'utf8'));
    return { env, pid, assertNothingLeft };
  }

  test('a signal during the download ends npm and the command, and leaves nothing behind', async () => {
    const { env, pid, assertNothingLeft } = await idleNpm('signal');
    const child = spawn(installed.nodes[20], [globalCommand(), 'serve'], { env, stdio: 'ignore' });
    const ended = once(child, 'exit');
    await until(() => pid() > 0, 'npm to start');
    child.kill('SIGTERM');
    assert.deepEqual(await within(ended, 'the end of the command'), [null, 'SIGTERM']);
    await assertNothingLeft();
  });

  test('a download that takes too long is ended, with the reason', async () => {
    const launcher = await changedPackage('short time limit', async (folder) => {
      const file = join(folder, 'bin', 'find-node.js');
      const text = await readFile(file, 'utf8');
      await writeFile(file, text.replace('MAX_FETCH_MS = 600_000', 'MAX_FETCH_MS = 3_000'));
    });
    const { env, assertNothingLeft } = await idleNpm('late');
    const { code, err } = await run(installed.nodes[20], [launcher, 'demo'], { env });
    assert.equal(code, 1);
    assert.match(err, /npm did not fetch Node 26\S+ within 0\.05 minutes\. Try again, or: Install Node 26 or later/);
    await assertNothingLeft();
  });

  test('without npm it says what to install', async () => {
    const env = { ...cacheOf('no npm'), PATH: join(installed.home, 'nowhere') };
    const { code, err } = await run(installed.nodes[20], [globalCommand(), 'demo'], { env });
    assert.equal(code, 1);
    assert.match(err, /npm is not on the PATH\. Install Node 26 or later, and put it on the PATH\.$/m);
  });

  test('a Node that cannot start for a missing library names the package to install', async () => {
    const launcher = await changedPackage('checkout without a library', async (folder) => {
      const { packages } = await readJson(join(folder, 'bin', 'node-release.json'));
      const bin = join(folder, 'node_modules', packages[`${process.platform}-${process.arch}`].name, 'bin');
      await mkdir(bin, { recursive: true });
      const fault = 'error while loading shared libraries: libatomic.so.1: cannot open shared object file';
      await writeFile(join(bin, 'node'), `#!/bin/sh\necho "node: ${fault}: No such file or directory" >&2\nexit 127\n`);
      await chmod(join(bin, 'node'), 0o755);
    });
    const { code, err } = await run(installed.nodes[20], [launcher, 'serve'], { env: cacheOf('library') });
    assert.equal(code, 1);
    assert.match(err, /libatomic\.so\.1 is missing\. Run "apt-get install libatomic1"/);
  });

  for (const major of [20, 22, 26] as const) {
    test(`on Node ${major} the exit codes are those of the command`, async () => {
      const env = { ...service.env, PORT: '1', DATA_DIR: join(installed.home, 'nothing') };
      const refused = await run(installed.nodes[major], [globalCommand(), 'worker'], { env });
      assert.deepEqual([refused.code, /No service runs/.test(refused.err)], [1, true], refused.err);
    });
  }

  test('serve, installed globally in a path with blanks, answers the first call', async () => {
    const answer = await fetch(`${service.url}/cases/${demo.case_id}/interactions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${demo.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'phone', notes: 'First call' }),
    });
    assert.equal(answer.status, 200, await answer.text());
    assert.equal((await fetch(`${service.url}/docs`)).status, 200);
  });
});

describe('the client', () => {
  const USE = `
const client = createClient({ baseUrl: process.env.BASE_URL, token: process.env.TOKEN });
const caseId = process.env.CASE_ID;
const { data } = await client.createCaseInteraction({ caseId, body: { type: 'phone', notes: process.version } });
const { data: list } = await client.getCaseInteractions({ caseId });
console.log(data.notes, list.some(({ id }) => id === data.id));`;
  const NAMES = '{ createClient, CaseRecordsError }';
  const PROGRAMS = {
    'esm.mjs': `import ${NAMES} from '@case-records/client';${USE}`,
    'cjs.cjs': `const ${NAMES} = require('@case-records/client');(async () => {${USE}})();`,
  };

  before(async () => {
    for (const [name, text] of Object.entries(PROGRAMS)) await writeFile(join(installed.project, name), text);
  });

  for (const major of MAJORS) {
    for (const name of Object.keys(PROGRAMS)) {
      test(`on Node ${major} a program ${name} creates and lists`, async () => {
        const options = { cwd: installed.project, env: serviceEnv() };
        const out = await output(installed.nodes[major], [name], options);
        assert.match(out, new RegExp(`^v${major}\\.\\S+ true\\n$`));
      });
    }
  }

  test('a stack trace leads to the sources', async () => {
    const text = `import { createClient } from '@case-records/client';
      createClient({ baseUrl: 'http://service', token: 'x' }).getCaseInteractions({ caseId: '' });`;
    await writeFile(join(installed.project, 'trace.mjs'), text);
    const { err } = await run(installed.nodes[22], ['--enable-source-maps', 'trace.mjs'], { cwd: installed.project });
    assert.match(err, /client\/src\/request\.ts:\d+/);
  });

  const TYPED = `
const client = createClient({ baseUrl: 'https://records.example', token: 'x' });
export async function latest(caseId: string): Promise<string | undefined> {
  const { data, etag } = await client.createCaseInteraction({ caseId, body: { type: 'phone' } });
  // @ts-expect-error: a type of interaction that does not exist
  await client.createCaseInteraction({ caseId, body: { type: 'telegram' } });
  for await (const { id } of client.entries(client.getCaseInteractions, { caseId })) return id + data.id + etag;
  return undefined;
}
export async function outstanding(body: string, headers: WebhookHeaders): Promise<number | undefined> {
  const { event } = await verifyWebhook({ body, headers, secrets: ['x'] });
  return event.type === 'invoice.payment_recorded' ? event.after.outstanding : undefined;
}
`;
  const IMPORT = `import { createClient, verifyWebhook, type WebhookHeaders } from '@case-records/client';`;
  const NODE_TYPED = `${IMPORT}
import { createServer } from 'node:http';
${TYPED}
createServer((request) => void outstanding('', request.headers));
declare const sent: Request;
void outstanding('', sent.headers);
`;
  const STRICT = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    skipLibCheck: false,
    noEmit: true,
    target: 'es2022',
  };
  const NODENEXT = { ...STRICT, module: 'nodenext' };
  const BUNDLER = { ...STRICT, module: 'esnext', moduleResolution: 'bundler' };
  const COMPILATIONS: [string, object, Record<string, string>][] = [
    [
      'nodenext, without the types of Node',
      { ...NODENEXT, types: [] },
      { 'a.mts': IMPORT + TYPED, 'b.cts': IMPORT + TYPED },
    ],
    [
      'nodenext, with the types of Node',
      { ...NODENEXT, lib: ['es2023'], types: ['node'] },
      { 'a.mts': NODE_TYPED, 'b.cts': NODE_TYPED },
    ],
    ['bundler, without the types of Node', { ...BUNDLER, types: [] }, { 'a.ts': IMPORT + TYPED }],
    ['bundler, with the types of Node', { ...BUNDLER, types: ['node'] }, { 'a.ts': NODE_TYPED }],
  ];
  for (const [i, [what, compilerOptions, files]] of COMPILATIONS.entries()) {
    test(`tsc is content: ${what}`, async () => {
      const cwd = await typeProject(`types ${i}`, compilerOptions, files);
      const { code, out } = await run(process.execPath, [join(ROOT, 'node_modules', '.bin', 'tsc')], { cwd });
      assert.deepEqual([code, out], [0, '']);
    });
  }

  async function typeProject(name: string, compilerOptions: object, files: Record<string, string>): Promise<string> {
    const folder = join(installed.project, name);
    await mkdir(join(folder, 'node_modules'), { recursive: true });
    await symlink(join(ROOT, 'node_modules', '@types'), join(folder, 'node_modules', '@types'));
    for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: Object.keys(files) }));
    return folder;
  }

  test('the receiver of webhooks in the page on the client compiles, and does what the page says', async (t) => {
    const [example] = await readTour('docs/client.md', 'Webhooks', 'ts');
    assert.ok(example);
    const options = { ...NODENEXT, lib: ['es2023'], types: ['node'], noPropertyAccessFromIndexSignature: false };
    const cwd = await typeProject('receiver', options, { 'receiver.mts': example.commands });
    await output(process.execPath, [join(ROOT, 'node_modules', '.bin', 'tsc')], { cwd });
    const port = await freePort();
    await writeFile(join(cwd, 'receiver.mts'), example.commands.replace('8080', String(port)));
    const secret = 'whsec_test';
    const child = spawn(process.execPath, ['receiver.mts'], { cwd, env: { WEBHOOK_SECRET: secret } });
    t.after(() => child.kill());
    const receiver = watch(child);
    const url = `http://127.0.0.1:${port}`;
    await until(() => fetch(url).then(Boolean, () => false));
    const after = { invoice_number: '1001', outstanding: 100 };
    const body = JSON.stringify({ type: 'invoice.payment_recorded', after });
    const time = Math.floor(Date.now() / 1000);
    const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
    const post = (value: string) => fetch(url, { method: 'POST', body, headers: { 'webhook-signature': value } });
    assert.equal((await post(`t=${time},v1=${signature}`)).status, 204);
    await printed(receiver, /^1001 100$/m);
    assert.equal((await post(`t=${time},v1=${signature.replace(/./g, '0')}`)).status, 400);
  });

  const PAGE = `import { createClient } from '@case-records/client';
const { baseUrl, token, caseId } = Object.fromEntries(new URLSearchParams(location.search));
const client = createClient({ baseUrl, token });
const { data } = await client.createCaseInteraction({ caseId, body: { type: 'phone', notes: 'From a page' } });
const { data: list } = await client.getCaseInteractions({ caseId });
document.body.textContent = data.notes + ': ' + list.some(({ id }) => id === data.id);
`;

  test('esbuild bundles it for browsers without a module of Node', async (t) => {
    await writeFile(join(installed.project, 'page.js'), PAGE);
    const esbuild = join(installed.project, 'node_modules', '.bin', 'esbuild');
    const args = ['page.js', '--bundle', '--minify', '--format=esm', '--log-level=info', '--outfile=bundle.js'];
    const { code, err } = await run(esbuild, args, { cwd: installed.project });
    assert.equal(code, 0, err);
    assert.doesNotMatch(err, /warning|error/i);
    const bundle = await readFile(join(installed.project, 'bundle.js'), 'utf8');
    assert.doesNotMatch(bundle, /\bimport\b[^;]*["']node:/);
    t.diagnostic(`bundle: ${Math.round(bundle.length / 1000)} kB`);
  });

  test('Vite builds a page with it, without a warning', async () => {
    await writeFile(join(installed.project, 'page.js'), PAGE);
    const html = '<!doctype html><title>Page</title><body><script type="module" src="/page.js"></script></body>';
    await writeFile(join(installed.project, 'index.html'), html);
    const vite = join(installed.project, 'node_modules', 'vite', 'bin', 'vite.js');
    const { code, out, err } = await run(installed.nodes[22], [vite, 'build'], { cwd: installed.project });
    assert.equal(code, 0, out + err);
    assert.equal(err, '');
    assert.doesNotMatch(out, /warn|externalized/i);
  });

  test('the page works in a browser', {
    skip: !CHROMIUM && 'There is no Chromium: test/slow/packages.sh installs it.',
  }, async () => {
    const query = new URLSearchParams({ baseUrl: service.url, token: demo.token, caseId: demo.case_id });
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', `--user-data-dir=${join(installed.home, 'browser')}`];
    const wait = ['--virtual-time-budget=30000', '--dump-dom'];
    const dom = await output(CHROMIUM ?? '', [...flags, ...wait, `${page.url}/?${query}`]);
    assert.match(dom, /From a page: true/);
  });
});

test('serve ends by its signal', async () => {
  assert.equal(await service.stop(), 0, service.output.join('\n'));
});

const globalCommand = () => join(installed.globalPrefix, 'bin', 'case-records');
const cacheOf = (name: string) => ({ XDG_CACHE_HOME: join(installed.home, `cache ${name}`) });

/** Runs a command of the global installation on Node 20. */
const runGlobally = () => run(globalCommand(), ['demo', '--help'], { env: { ...node20, ...cacheOf('first start') } });

/** Runs `case-records serve` of the global installation on Node 20. */
async function startGlobally() {
  const env = {
    ...node20,
    ...cacheOf('first start'),
    DATA_DIR: join(installed.home, 'data'),
    PORT: '0',
    LOG_LEVEL: 'warn',
    WEB_CONCURRENCY: '2',
    CORS_ORIGINS: page.url,
  };
  const child = spawn(globalCommand(), ['serve'], { env, cwd: installed.home, stdio: ['ignore', 'pipe', 'pipe'] });
  const launched = watch(child);
  const [, url = ''] = await printed(launched, /listens on ([^\s"]+)/);
  const stop = () => {
    child.kill('SIGTERM');
    return launched.ended();
  };
  return { url, env, output: launched.output, stop };
}

/** Serves the files of a folder, as the server of a page would. */
async function servePage(folder: string) {
  const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript' };
  const server = createServer(async ({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://page');
    const file = join(folder, pathname === '/' ? 'index.html' : pathname);
    const content = await readFile(file).catch(() => undefined);
    response.writeHead(content ? 200 : 404, { 'content-type': types[extname(file)] ?? 'text/plain' }).end(content);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}
