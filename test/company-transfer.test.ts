import assert from 'node:assert/strict';
import { hash, randomBytes, randomUUID } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { SecretBox } from '../src/kernel/secret-box.ts';
import { COMPANY_TABLES, TABLE_TRAITS } from '../src/server/company-tables.ts';
import { importCompany } from '../src/server/company-transfer/import.ts';
import { EXPORT_ORDER } from '../src/server/company-transfer/manifest.ts';
import { ZipReader } from '../src/server/company-transfer/zip-reader.ts';
import { writeZip } from '../src/server/company-transfer/zip-writer.ts';
import { holdRestored } from '../src/server/restored-database.ts';
import { secretOwner } from '../src/webhooks/endpoints/secrets.ts';
import { startApp, type TestApp } from './harness/app.ts';
import { ok } from './harness/assert.ts';
import { Authenticator } from './harness/authenticator.ts';
import { runCommand } from './harness/command-line.ts';
import { fillCompany, rowsOf } from './harness/company-transfer.ts';
import { caller } from './harness/http.ts';
import { messageWorker, Recorder } from './harness/message-worker.ts';
import { browserOf, codeAt, enrolWithPassword, PASSWORD } from './harness/people.ts';
import { temporaryDirectory, urlOf } from './harness/service.ts';
import { webhookWorker } from './harness/webhook-worker.ts';

/** A company that is carried from one database to another. */

const PASSPHRASE = 'correct horse battery';
const SOURCE_KEY = randomBytes(32);
const TARGET_KEY = randomBytes(32);
const home = await temporaryDirectory();
after(home.remove);
const passphraseFile = join(home.path, 'passphrase');
await writeFile(passphraseFile, `${PASSPHRASE}\n`);
const sealed = ['--passphrase-file', passphraseFile];

const source = await startApp({ secrets: new SecretBox([SOURCE_KEY]) });
const openTarget = () => startApp({ secrets: new SecretBox([TARGET_KEY]) });

const environment = (app: TestApp) => ({
  DATABASE_URL: urlOf(app.connection),
  SECRETS_KEY: (app === source ? SOURCE_KEY : TARGET_KEY).toString('base64'),
});
const run = (app: TestApp, ...args: string[]) => runCommand(environment(app), 'company', ...args);
const held = (app: TestApp, ...args: string[]) => runCommand(environment(app), 'held', ...args);

let files = 0;
async function exported(companyId: string, ...flags: string[]): Promise<string> {
  const file = join(home.path, `company-${++files}.zip`);
  const { code, err } = await run(source, 'export', companyId, file, ...flags);
  assert.equal(code, 0, err);
  return file;
}

// No test changes the company in the source, except when its keys were last used.
const company = await source.company();
const { webhookSecret } = await fillCompany(source, company);
const stranger = await source.company();
await fillCompany(source, stranger);
const fileWithSecrets = await exported(company.companyId, ...sealed);
const file = await exported(company.companyId, '--without-secrets');
const exportedRows = await rowsOf(source, company.companyId);

/** Writes the file again with some of its entries changed. */
async function changed(original: string, changes: Record<string, (text: string) => string>): Promise<string> {
  const zip = await ZipReader.open(original);
  const copy = join(home.path, `changed-${++files}.zip`);
  const names = EXPORT_ORDER.map((table) => `${table}.jsonl`);
  await writeZip(copy, async (writer) => {
    for (const name of [...names, 'secrets.jsonl', 'manifest.json'].filter((one) => zip.has(one))) {
      const text = Buffer.concat(await Array.fromAsync(zip.read(name))).toString();
      await writer.add(name, [changes[name]?.(text) ?? text]);
    }
  });
  await zip.close();
  return copy;
}

/** Writes the file again with a changed entry whose checksum is right. */
async function forged(
  original: string,
  entry: string,
  change: (text: string) => string,
  changeManifest: (manifest: Record<string, unknown>) => object = (manifest) => manifest,
): Promise<string> {
  let content = '';
  const changeEntry = (text: string) => {
    content = change(text);
    return content;
  };
  return changed(original, {
    [`${entry}.jsonl`]: changeEntry,
    'manifest.json': (text) => {
      const manifest = JSON.parse(text);
      const described = manifest.tables.find(({ table }: { table: string }) => table === entry);
      Object.assign(described, { bytes: Buffer.byteLength(content), sha256: hash('sha256', content) });
      return JSON.stringify(changeManifest(manifest));
    },
  });
}

const interruptedImport = (app: TestApp, onProgress: (text: string) => void) =>
  importCompany(app.connection, { file, openSecrets: async () => undefined, keepsOperatorKeys: false, onProgress });

const refusal = async (app: TestApp, ...args: string[]): Promise<string> => {
  const { code, err } = await run(app, 'import', ...args);
  assert.equal(code, 1, err);
  return err;
};

test('a company in an empty database is equal to the one that was exported, table by table and by its lists', async () => {
  const target = await openTarget();
  const { code, out, err } = await run(target, 'import', fileWithSecrets, ...sealed);
  assert.equal(code, 0, err);
  assert.match(out, /^Smith & Partners was imported: \d+ rows\.\nHeld: .*2 messages/);
  for (const [table, found] of Object.entries(exportedRows)) assert.ok(found.length > 0, `${table} has a row`);
  assert.deepEqual(await rowsOf(target, company.companyId), exportedRows);
  const moved = caller(target.baseUrl, company.token);
  const lists = ['address-book', 'interactions', 'invoices', 'appointments', 'events'].map(
    (list) => `${company.path}/${list}`,
  );
  for (const path of [...lists, '/manage/clients', '/manage/advisers', '/webhooks/endpoints', '/events?limit=500']) {
    assert.deepEqual((await moved.get(path)).body, (await company.get(path)).body, path);
  }
  const [{ id = '', sealed_secret = '' } = {}] = await target.sql('SELECT id, sealed_secret FROM webhook_endpoints');
  assert.equal(new SecretBox([TARGET_KEY]).open(sealed_secret, secretOwner(company.companyId, id)), webhookSecret);
  const [account] = await target.sql('SELECT adviser_id, sealed_secret FROM video_accounts');
  const owner = [company.companyId, account?.adviser_id];
  assert.equal(new SecretBox([TARGET_KEY]).open(account?.sealed_secret, owner), 's3cr3t-of-zoom');
});

test('people of a company that was imported sign in as before: with an app, and with a passkey', async () => {
  const firm = await source.company();
  const person = await enrolWithPassword(source, firm);
  const host = 'localhost:8080';
  const origin = `http://${host}`;
  const device = new Authenticator();
  const { options } = await ok(person.post('/account/passkeys/options', undefined, { host }));
  const response = device.register(options, origin);
  await ok(person.post('/account/passkeys', { name: 'Phone', response }, { host }));
  const target = await openTarget();
  const { code, err } = await run(target, 'import', await exported(firm.companyId, ...sealed), ...sealed);
  assert.equal(code, 0, err);
  const times = (app: TestApp) => app.sql('SELECT state, activated_at FROM users WHERE id = $1', [person.userId]);
  assert.deepEqual(await times(target), await times(source));
  // The times of the file must not decide whose account an address means.
  const here = await target.sql('SELECT 1 FROM companies WHERE id = $1 AND imported_at IS NOT NULL', [firm.companyId]);
  assert.equal(here.length, 1);
  target.clock.advance({ minutes: 1 });
  const stranger = browserOf(target, undefined);
  const body = { email: person.email, password: PASSWORD, code: codeAt(target, person.codeSecret) };
  const byPassword = await ok(stranger.post('/sign-in/password', body));
  const { options: challenge } = await ok(stranger.post('/sign-in/passkey/options', {}, { host }));
  const answer = { response: device.signIn(challenge, origin) };
  const byPasskey = await ok(stranger.post('/sign-in/passkey', answer, { host }));
  assert.deepEqual([byPassword.user.id, byPasskey.user.id], [person.userId, person.userId]);
});

test('a company that was imported gets new events after the old ones, and a follower goes on', async () => {
  const target = await openTarget();
  const [, next = ''] = /<(.*)>/.exec(String((await company.get('/events?limit=500')).headers.link)) ?? [];
  await run(target, 'import', file);
  const moved = caller(target.baseUrl, company.token);
  await ok(moved.post(`${company.path}/interactions`, { type: 'phone', notes: 'new' }));
  const events = await ok(moved.get(next));
  assert.deepEqual(
    events.map((event: { after: { notes: string } }) => event.after.notes),
    ['new'],
  );
});

test('a second import of the same file changes nothing, also when old rows were forgotten meanwhile', async () => {
  const target = await openTarget();
  await run(target, 'import', fileWithSecrets, ...sealed);
  await target.sql('DELETE FROM idempotency_keys');
  const rows = await rowsOf(target, company.companyId);
  const { code, out, err } = await run(target, 'import', file);
  assert.equal(code, 0, err);
  assert.match(out, /is here already, and nothing was changed/);
  assert.deepEqual(await rowsOf(target, company.companyId), rows);
});

test('an import is refused if the company is there in another state', async () => {
  const target = await openTarget();
  await run(target, 'import', file);
  await target.sql(`UPDATE customers SET title = 'Dr'`);
  assert.match(await refusal(target, file), /another state.*: a row of customers differs\. Nothing.*"company remove"/);
  const moved = caller(target.baseUrl, company.token);
  await ok(moved.post(`${company.path}/interactions`, { type: 'phone' }));
  const rows = await rowsOf(target, company.companyId);
  assert.match(await refusal(target, file), /events has \d+ rows, and \d+ of them are in the file/);
  assert.deepEqual(await rowsOf(target, company.companyId), rows);
});

test('an import that is interrupted anywhere is finished by the next one, and nobody can call before', async () => {
  const target = await openTarget();
  const secrets = new SecretBox([TARGET_KEY]);
  const openSecrets = async () => ({ secrets, passphrase: PASSPHRASE });
  const moved = caller(target.baseUrl, company.token);
  let interrupted = 0;
  for (let steps = 1; ; steps++) {
    let passed = 0;
    const onProgress = (text: string) => {
      // Checking the file writes nothing, so only the steps after it are interesting.
      if (text.startsWith('Importing') && ++passed === steps) throw new Error('interrupted');
    };
    const chosen = steps % 8 === 0 ? fileWithSecrets : file;
    const end = await importCompany(target.connection, {
      file: chosen,
      openSecrets,
      keepsOperatorKeys: false,
      onProgress,
    }).then(
      () => 'imported',
      (error: Error) => error.message,
    );
    if (end === 'imported') break;
    assert.equal(end, 'interrupted');
    interrupted += 1;
    assert.equal((await moved.get(`${company.path}/interactions`)).status, 401);
    assert.deepEqual(await target.sql('SELECT id FROM clients UNION ALL SELECT id FROM tokens'), []);
    assert.match((await run(target, 'export', company.companyId, join(home.path, 'half.zip'))).err, /not complete/);
  }
  assert.ok(interrupted > 25, `${interrupted} interruptions`);
  assert.deepEqual(await rowsOf(target, company.companyId), exportedRows);
  assert.equal((await moved.get(`${company.path}/interactions`)).status, 200);
});

test('a company that is only partly imported can be removed', async () => {
  const target = await openTarget();
  let steps = 0;
  const onProgress = (text: string) => {
    if (text.startsWith('Importing messages') && ++steps) throw new Error('interrupted');
  };
  await assert.rejects(interruptedImport(target, onProgress));
  const { code, err } = await run(target, 'remove', company.companyId, '--confirm', 'Smith & Partners');
  assert.equal(code, 0, err);
  assert.equal((await run(target, 'import', file)).code, 0);
});

test('a follower goes on in a database that was restored, among positions that the restore has skipped', async () => {
  const [, next = ''] = /<(.*)>/.exec(String((await company.get('/events?limit=3')).headers.link)) ?? [];
  const target = await openTarget();
  const stateAt = target.clock.read();
  await holdRestored({ owner: target.connection, clock: target.clock.read }, { id: randomUUID(), stateAt });
  await run(target, 'import', file);
  const moved = caller(target.baseUrl, company.token);
  assert.deepEqual((await ok(moved.get(next))).length, (await ok(company.get(next))).length);
  await target.sql('ALTER TABLE events DISABLE TRIGGER USER');
  await target.sql('DELETE FROM events');
  await target.sql('ALTER TABLE events ENABLE TRIGGER USER');
  assert.equal((await moved.get(next)).status, 400);
});

test('what is due for a company that is only partly imported cannot be released', async () => {
  const target = await openTarget();
  const onProgress = (text: string) => {
    if (text.startsWith('Importing tokens')) throw new Error('interrupted');
  };
  await assert.rejects(interruptedImport(target, onProgress));
  const none = '0 messages, 0 meetings, 0 test-messages, 0 webhooks, 0 alerts, 0 endpoints';
  assert.equal((await held(target, 'release')).out, `Released: ${none}.`);
  assert.equal((await held(target, 'drop')).out, `Dropped: ${none}.`);
  assert.equal((await run(target, 'import', file)).code, 0);
  assert.match((await held(target, 'release')).out, /2 messages/);
});

test('webhooks of an imported company wait, also those of later changes, until they are released or dropped', async () => {
  for (const end of ['release', 'drop']) {
    const target = await openTarget();
    await run(target, 'import', fileWithSecrets, ...sealed);
    await target.sql(`UPDATE webhook_endpoints SET url = 'http://127.0.0.1:9/'`);
    const moved = caller(target.baseUrl, company.token);
    const { id: before } = await ok(moved.post(`${company.path}/interactions`, { type: 'phone' }));
    const worker = webhookWorker(target);
    assert.equal(await worker.runOnce(), 0);
    const { code, out, err } = await held(target, end, '--company', company.companyId);
    assert.equal(code, 0, err);
    assert.match(out, /1 endpoints\.$/);
    const { id: after } = await ok(moved.post(`${company.path}/interactions`, { type: 'phone' }));
    await worker.runOnce();
    const queued = await target.sql<{ record_id: string }>(
      `SELECT record_id FROM webhook_deliveries WHERE event_type = 'interaction.created' AND state = 'waiting'
        ORDER BY position`,
    );
    const found = queued.map(({ record_id }) => record_id).filter((id) => id === before || id === after);
    assert.deepEqual(found, end === 'release' ? [before, after] : [after]);
  }
});

test('nothing is sent for an imported company until it is released, and then once', async () => {
  const target = await openTarget();
  const { out: imported } = await run(target, 'import', fileWithSecrets, ...sealed);
  assert.match(imported, /2 messages, 1 meetings, 1 test-messages, .* endpoints.*"case-records held release --company/);
  const email = new Recorder();
  const worker = messageWorker(target, { email });
  await worker.runOnce();
  assert.deepEqual(email.sent, []);
  assert.match((await held(target, 'list', '--company', company.companyId)).out, /messages +Smith & Partners/);
  const { out } = await held(target, 'release', '--company', company.companyId);
  assert.match(out, /^Released: 2 messages, 1 meetings, 1 test-messages, .* 1 endpoints\.$/);
  assert.match(
    (await held(target, 'release', '--company', company.companyId)).out,
    /^Released: 0 messages.* 0 endpoints/,
  );
  await worker.runOnce();
  await worker.runOnce();
  assert.equal(email.sent.filter(({ recipient }) => recipient === company.customers[0].email).length, 1);
});

test('the file has the rows of no other company and only its owner can read it', async () => {
  const zip = await ZipReader.open(fileWithSecrets);
  for (const table of EXPORT_ORDER) {
    const text = Buffer.concat(await Array.fromAsync(zip.read(`${table}.jsonl`))).toString();
    for (const id of [stranger.companyId, stranger.caseId, stranger.customers[0].id, stranger.adviser]) {
      assert.ok(!text.includes(id), `${table} has ${id}`);
    }
  }
  await zip.close();
  assert.equal((await stat(fileWithSecrets)).mode & 0o777, 0o600);
});

test('the file has secrets only sealed under the passphrase', async () => {
  for (const flags of [sealed, ['--without-secrets'], []]) {
    const zip = await ZipReader.open(await exported(company.companyId, ...flags));
    assert.equal(zip.has('secrets.jsonl'), flags === sealed);
    for (const name of ['webhook_endpoints.jsonl', 'video_accounts.jsonl', 'secrets.jsonl'].filter((one) =>
      zip.has(one),
    )) {
      const text = Buffer.concat(await Array.fromAsync(zip.read(name))).toString();
      for (const secret of [webhookSecret, 's3cr3t-of-zoom']) assert.ok(!text.includes(secret), name);
      if (name !== 'secrets.jsonl') assert.doesNotMatch(text, /v1\./);
    }
    await zip.close();
  }
  const { err } = await run(source, 'export', company.companyId, join(home.path, 'without.zip'));
  assert.match(err, /^2 secrets of video accounts and webhooks are left out: there was no passphrase\.$/);
});

test('an import without the passphrase of the secrets, or with another one, stores nothing', async () => {
  const target = await openTarget();
  assert.match(await refusal(target, fileWithSecrets), /2 sealed secrets.*--passphrase-file.*--without-secrets/);
  const other = join(home.path, 'other');
  await writeFile(other, 'another passphrase');
  assert.match(await refusal(target, fileWithSecrets, '--passphrase-file', other), /passphrase is not the one/);
  await writeFile(other, 'short');
  assert.match(await refusal(target, fileWithSecrets, '--passphrase-file', other), /at least 12 characters/);
  const DATABASE_URL = urlOf(target.connection);
  assert.match(
    (await runCommand({ DATABASE_URL }, 'company', 'import', fileWithSecrets, ...sealed)).err,
    /SECRETS_KEY is not set/,
  );
  assert.deepEqual(await target.sql('SELECT id FROM companies'), []);
  const { err } = await run(target, 'import', fileWithSecrets, '--without-secrets');
  assert.match(err, /2 secrets .* are missing: run "adviser connect".*"webhook rotate"/);
});

test('secrets that SECRETS_KEY does not decrypt are not exported', async () => {
  const path = join(home.path, 'undecryptable.zip');
  const env = { DATABASE_URL: urlOf(source.connection), SECRETS_KEY: TARGET_KEY.toString('base64') };
  const { code, err } = await runCommand(env, 'company', 'export', company.companyId, path, ...sealed);
  assert.equal(code, 1);
  assert.match(err, /SECRETS_KEY does not decrypt a secret in video_accounts.*--without-secrets/);
  assert.ok(!(await readdir(home.path)).some((name) => name.startsWith('undecryptable')));
});

test('a file that is not an export, is cut off or is damaged stores nothing', async () => {
  const target = await openTarget();
  const bytes = await readFile(file);
  const broken = join(home.path, 'broken.zip');
  const tried = async (content: Uint8Array | string) => {
    await writeFile(broken, content);
    return refusal(target, broken);
  };
  assert.match(await tried('not a zip file'), /not a zip file, or it is incomplete/);
  assert.match(await tried(''), /not a zip file, or it is incomplete/);
  assert.match(await tried(bytes.subarray(0, bytes.length - 30)), /not a zip file, or it is incomplete/);
  await writeZip(join(home.path, 'other.zip'), async (zip) => {
    await zip.add('letter.txt', ['hello']);
  });
  assert.match(await refusal(target, join(home.path, 'other.zip')), /not the export of a company/);
  // The content follows the header and its 20 bytes of sizes.
  const content = bytes.indexOf('events.jsonl') + 'events.jsonl'.length + 20;
  for (let at = content; at < content + 1_000; at += 71) {
    const flipped = Buffer.from(bytes);
    flipped[at] = (flipped[at] ?? 0) ^ 0x10;
    assert.match(await tried(flipped), /damaged/);
  }
  const renamed = await changed(file, { 'cases.jsonl': (text) => text.replace('Smith', 'Smyth') });
  assert.match(await refusal(target, renamed), /checksum of cases\.jsonl is not the one in its manifest/);
  assert.deepEqual(await target.sql('SELECT id FROM companies'), []);
  assert.match(await refusal(target, join(home.path, 'none.zip')), /no such file/i);
});

test('a file of a later release, or of one that is too old, is refused with words', async () => {
  const target = await openTarget();
  const withManifest = async (change: (manifest: Record<string, unknown>) => unknown) =>
    refusal(
      target,
      await changed(file, {
        'manifest.json': (text) => JSON.stringify({ ...JSON.parse(text), ...(change(JSON.parse(text)) as object) }),
      }),
    );
  assert.match(await withManifest(() => ({ migration: '9999_later' })), /later release.*Update this service/);
  assert.match(await withManifest(() => ({ migration: '0019_message_contents' })), /too old/);
  assert.match(await withManifest(() => ({ format_version: 2 })), /has format 2, which this version/);
  const { companyId: id } = company;
  assert.match(await withManifest(() => ({ company: { id, name: 'Smith\u001b[2J' } })), /not the export/);
  assert.match(await withManifest(() => ({ last_position: '9999999999999999' })), /not the export/);
  assert.match(await withManifest(({ tables }) => ({ tables: (tables as object[]).slice(1) })), /not the export/);
  assert.match(
    await withManifest(({ tables }) => ({ tables: [...(tables as object[]), { table: 'migrations' }] })),
    /"migrations"/,
  );
  type Tables = { tables: { table: string; columns: string[] }[] };
  const columnsOf = (change: (columns: string[]) => string[]) => (manifest: Record<string, unknown>) => ({
    tables: (manifest as Tables).tables.map((one) =>
      one.table === 'cases' ? { ...one, columns: change(one.columns) } : one,
    ),
  });
  assert.match(await withManifest(columnsOf((columns) => [...columns, 'dropped'])), /too old/);
  assert.match(await withManifest(columnsOf((columns) => columns.slice(1))), /too old/);
  assert.match(await withManifest(columnsOf((columns) => [...columns, '1; DROP TABLE cases'])), /not the export/);
  assert.deepEqual(await target.sql('SELECT id FROM companies'), []);
});

test('a file goes into a later schema, whose new columns have their defaults', async () => {
  const target = await openTarget();
  await target.sql(`ALTER TABLE cases ADD priority integer NOT NULL DEFAULT 3`);
  await target.sql('ALTER TABLE people ADD nickname text');
  const { code, err } = await run(target, 'import', file);
  assert.equal(code, 0, err);
  assert.deepEqual(await target.sql('SELECT DISTINCT priority FROM cases'), [{ priority: 3 }]);
});

test('a case of a file from before 0028 was opened when it was created, and is open', async () => {
  const target = await openTarget();
  const columns = ['opened_at', 'closed_at', 'state', 'kind_id', 'responsible_adviser_id', 'external_id'];
  type Tables = { tables: { table: string; columns: string[] }[] };
  let cases = '';
  const older = await changed(fileWithSecrets, {
    'cases.jsonl': (text) => {
      cases = text.replaceAll(/^.+$/gm, (line) => {
        const kept = Object.entries(JSON.parse(line)).filter(([name]) => !columns.includes(name));
        return JSON.stringify(Object.fromEntries(kept));
      });
      return cases;
    },
    'manifest.json': (text) => {
      const manifest: Tables = JSON.parse(text);
      const tables = manifest.tables.map((one) => {
        if (one.table !== 'cases') return one;
        const kept = one.columns.filter((name) => !columns.includes(name));
        return { ...one, columns: kept, bytes: Buffer.byteLength(cases), sha256: hash('sha256', cases) };
      });
      return JSON.stringify({ ...manifest, tables, migration: '0023_first_organizers.sql' });
    },
  });
  const { code, err } = await run(target, 'import', older, ...sealed);
  assert.equal(code, 0, err);
  const opened = 'SELECT count(*)::int AS n FROM cases WHERE opened_at = created_at AND closed_at IS NULL';
  assert.deepEqual(await target.sql(opened), await target.sql('SELECT count(*)::int AS n FROM cases'));
});

test('rows of another company in a file are refused', async () => {
  const target = await openTarget();
  const other = await source.company();
  const signed = await forged(file, 'cases', (text) => text.replaceAll(company.companyId, other.companyId));
  assert.match(await refusal(target, signed), /row of another company in cases\.jsonl/);
});

test('a file whose events lie beyond its last position, or whose last position is out of bounds, is refused', async () => {
  const target = await openTarget();
  const beyond = (text: string) => text.replace(/("position"):\d+/, '$1:999999999999999');
  const stored = () =>
    target.sql('SELECT 1 FROM events UNION ALL SELECT 1 FROM event_positions WHERE last_value > 1e14');
  assert.match(await refusal(target, await forged(file, 'events', beyond)), /event after the last position/);
  assert.deepEqual(await stored(), []);
  const far = (manifest: object) => ({ ...manifest, last_position: '4000000000000001' });
  assert.match(await refusal(target, await forged(file, 'events', String, far)), /not the export/);
  const early = (manifest: object) => ({ ...manifest, last_position: '3999999999999999' });
  assert.match(await refusal(target, await forged(file, 'events', String, early)), /that no service has reached yet/);
  const endpoint = (text: string) => text.replaceAll(/("position"):\d+/g, '$1:4000000000000001');
  assert.match(await refusal(target, await forged(file, 'webhook_endpoints', endpoint)), /position that cannot be/);
  assert.deepEqual(await stored(), []);
});

test('new events of an imported company come after everything that its endpoints and its followers have seen', async () => {
  const other = await source.company();
  const moving = await source.company();
  const endpoint = { url: 'https://firm.example/', types: ['*'] };
  await ok(moving.post('/webhooks/endpoints', endpoint));
  // More than an import leaves between the last position of the file and new events.
  const passMany = () => source.sql(`SELECT setval('event_positions', last_value + 20000) FROM event_positions`);
  await passMany();
  await ok(other.post(`${other.path}/interactions`, { type: 'phone' }));
  // The endpoint goes beyond the last event of its company.
  await webhookWorker(source).runOnce();
  await passMany();
  await ok(moving.post(`${moving.path}/interactions`, { type: 'phone' }));
  const [, latest = ''] = /<(.*)>/.exec(String((await moving.get('/events?after=latest')).headers.link)) ?? [];
  // The last event is deleted after the retention.
  const position = 'SELECT max(position) FROM events WHERE company_id = $1';
  const [seen] = await source.sql<{ max: string }>(position, [moving.companyId]);
  await source.sql('ALTER TABLE events DISABLE TRIGGER USER');
  await source.sql(`DELETE FROM events WHERE position = (${position})`, [moving.companyId]);
  await source.sql('ALTER TABLE events ENABLE TRIGGER USER');
  const moved = await exported(moving.companyId, '--without-secrets');
  const [event] = await source.sql<{ max: string }>(position, [moving.companyId]);
  const asBefore = (manifest: object) => ({ ...manifest, last_position: event?.max });
  for (const chosen of [moved, await forged(moved, 'events', String, asBefore)]) {
    const target = await openTarget();
    assert.equal((await run(target, 'import', chosen)).code, 0);
    await held(target, 'release');
    const there = caller(target.baseUrl, moving.token);
    const { id } = await ok(there.post(`${moving.path}/interactions`, { type: 'phone' }));
    const [written] = await target.sql<{ max: string }>(position, [moving.companyId]);
    await webhookWorker(target).runOnce();
    const queued = await target.sql('SELECT record_id FROM webhook_deliveries WHERE record_id = $1', [id]);
    assert.equal(queued.length, 1);
    if (chosen !== moved) continue;
    assert.ok(Number(written?.max) > Number(seen?.max));
    assert.equal((await ok(there.get(latest))).length, 1);
  }
});

test('a key of a file reaches other companies only if the operator says so', async () => {
  const reaching = await source.company();
  const stored = [reaching.companyId];
  await source.sql(`UPDATE tokens SET scopes = scopes || '{operator}', name = 'Root' WHERE company_id = $1`, stored);
  await source.sql(
    `INSERT INTO clients (company_id, id, secret_sha256, name, scopes, created_at, updated_at)
     VALUES ($1, gen_random_uuid(), sha256('x'), 'Forged', '{operator,manage}', now(), now())`,
    stored,
  );
  const reachingFile = await exported(reaching.companyId, '--without-secrets');
  const scopes = (app: TestApp) =>
    app.sql(
      `SELECT DISTINCT 'operator' = ANY (scopes) AS operator FROM (
         SELECT company_id, scopes FROM tokens UNION ALL SELECT company_id, scopes FROM clients) t WHERE company_id = $1`,
      stored,
    );
  const target = await openTarget();
  const { out, err } = await run(target, 'import', reachingFile);
  assert.match(out, /"operator".* was left out of these keys: Root, Forged\. .*--with-operator-keys/, err);
  assert.deepEqual(await scopes(target), [{ operator: false }]);
  assert.match((await run(target, 'import', reachingFile)).out, /is here already, and nothing was changed/);
  const moved = caller(target.baseUrl, reaching.token);
  assert.equal((await moved.get('/manage/companies')).status, 403);
  await ok(moved.get(`${reaching.path}/interactions`));
  const trusting = await openTarget();
  const kept = await run(trusting, 'import', reachingFile, '--with-operator-keys');
  assert.match(kept.out, /These keys have the scope "operator".*: Root, Forged\./);
  assert.deepEqual(await scopes(trusting), [{ operator: true }]);
  await ok(caller(trusting.baseUrl, reaching.token).get('/manage/companies'));
});

test('an import that finds its own part in another state says that it is there, and how to remove it', async () => {
  const target = await openTarget();
  const onProgress = (text: string) => {
    if (text.startsWith('Importing messages')) throw new Error('interrupted');
  };
  await assert.rejects(interruptedImport(target, onProgress));
  await target.sql(`UPDATE customers SET title = 'Dr'`);
  const err = await refusal(target, file);
  assert.match(err, /is only partly imported, .*: a row of customers differs\. Remove it with "company remove"/);
  assert.doesNotMatch(err, /Nothing was changed/);
});

test('an export never replaces a file and leaves no part of one', async () => {
  const before = await readFile(file);
  const { code, err } = await run(source, 'export', company.companyId, file);
  assert.equal(code, 1);
  assert.match(err, /exists already/);
  assert.deepEqual(await readFile(file), before);
  const { code: notFound } = await run(source, 'export', source.connection.database, join(home.path, 'none.zip'));
  assert.equal(notFound, 4);
  assert.deepEqual(
    (await readdir(home.path)).filter((name) => /partial|none/.test(name)),
    [],
  );
});

test('of two exports to one file one is refused, and the file is whole', async () => {
  const path = join(home.path, 'twice.zip');
  const results = await Promise.all(
    [1, 2].map(() => run(source, 'export', company.companyId, path, '--without-secrets')),
  );
  assert.deepEqual(results.map(({ code }) => code).sort(), [0, 1]);
  assert.match(results.map(({ err }) => err).join(), /exists already/);
  assert.equal((await run(await openTarget(), 'import', path)).code, 0);
  assert.ok(!(await readdir(home.path)).some((name) => name.includes('partial')));
});

test('a lost connection ends an import with an error, and the next one goes on', async () => {
  const target = await openTarget();
  const openSecrets = async () => {
    await target.sql(
      `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'case-records company import'
          AND datname = current_database()`,
    );
    return undefined;
  };
  const options = { file: fileWithSecrets, openSecrets, keepsOperatorKeys: false, onProgress: () => {} };
  await assert.rejects(importCompany(target.connection, options), /terminat|ECONNRESET|EPIPE|closed|not queryable/i);
  assert.equal((await run(target, 'import', file)).code, 0);
});

test('every table with leases is known as one of jobs, and every column with a secret as one of secrets', async () => {
  const columns = await source.sql<{ table: string; column: string }>(
    `SELECT table_name AS table, column_name AS column FROM information_schema.columns WHERE table_schema = 'public'`,
  );
  const leased = columns.filter(({ column }) => column === 'lease_until').map(({ table }) => table);
  const jobs = COMPANY_TABLES.filter((table) => TABLE_TRAITS[table]?.openJob !== undefined);
  assert.deepEqual(leased.sort(), [...jobs].sort());
  const { SECRET_COLUMNS } = await import('../src/server/company-transfer/sealed-secrets.ts');
  const known = SECRET_COLUMNS.map(({ table, column }) => `${table}.${column}`);
  const found = columns
    .filter(({ table, column }) => column.startsWith('sealed_') && table !== 'idempotency_keys')
    .map(({ table, column }) => `${table}.${column}`);
  assert.deepEqual(found.sort(), known.sort());
});
