import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { GROUPS } from '../src/cli/groups.ts';
import { startApp } from './harness/app.ts';
import { runCommand } from './harness/command-line.ts';
import { caller } from './harness/http.ts';
import { mailServer } from './harness/mail-server.ts';
import { temporaryDirectory, urlOf } from './harness/service.ts';

const home = await temporaryDirectory();
after(home.remove);

describe('on a database of its own', async () => {
  const app = await startApp();
  const env = { DATABASE_URL: urlOf(app.connection), DATA_DIR: join(home.path, 'unused') };
  const type = (...args: string[]) => runCommand(env, ...args);
  const json = async (...args: string[]) => {
    const done = await type(...args, '--json');
    assert.equal(done.code, 0, done.err);
    return JSON.parse(done.out);
  };
  const newCompany = async (name = `Company ${Math.random()}`): Promise<string> =>
    (await json('company', 'create', '--name', name)).id;

  test('a company is created, shown, updated and listed', async () => {
    const made = await json(
      'company',
      'create',
      '--name',
      'Müller AG',
      '--time-zone',
      'Europe/Zurich',
      '--phone-region',
      'CH',
    );
    assert.equal(made.time_zone, 'Europe/Zurich');
    const changed = await json('company', 'update', made.id, '--reminder-lead-days', '2', '--sender-name', 'Office');
    assert.deepEqual([changed.reminder_lead_days, changed.sender_name, changed.phone_region], [2, 'Office', 'CH']);
    assert.deepEqual(await json('company', 'show', made.id), changed);
    assert.deepEqual(await json('company', 'list', '--search', 'müller'), [changed]);
  });

  test('an empty text clears a field that may be empty', async () => {
    const id = await newCompany();
    await json('company', 'update', id, '--sender-name', 'Office');
    assert.equal((await json('company', 'update', id, '--sender-name', '')).sender_name, null);
  });

  test('an adviser is named by email or identifier, and disabled, enabled and removed', async () => {
    const at = ['--company', await newCompany()];
    const made = await json(
      'adviser',
      'create',
      ...at,
      '--email',
      'Alex@firm.example',
      '--name',
      'Alex',
      '--video-provider',
      'jitsi',
    );
    assert.deepEqual([made.active, made.video_provider], [true, 'jitsi']);
    assert.deepEqual(await json('adviser', 'show', 'alex@FIRM.example', ...at), made);
    assert.equal((await json('adviser', 'disable', 'alex@firm.example', ...at)).active, false);
    assert.equal((await json('adviser', 'enable', made.id, ...at)).active, true);
    assert.equal((await json('adviser', 'update', made.id, '--no-active', '--name', 'A', ...at)).active, false);
    assert.equal((await json('adviser', 'remove', made.id, ...at)).id, made.id);
    assert.deepEqual(await json('adviser', 'list', ...at), []);
    assert.equal((await type('adviser', 'show', 'alex@firm.example', ...at)).code, 4);
    assert.equal((await json('adviser', 'list', '--removed', ...at))[0].id, made.id);
    assert.equal((await json('adviser', 'restore', made.id, ...at)).id, made.id);
    assert.equal((await type('adviser', 'restore', made.id, ...at)).code, 3);
  });

  test('a case is opened and gets customers, who are changed and removed', async () => {
    const at = ['--company', await newCompany()];
    const { id } = await json('case', 'create', ...at, '--reference', 'Smith, wills');
    const inCase = [...at, '--case', id];
    const john = await json('customer', 'create', ...inCase, '--last-name', 'Smith', '--phone', '07400 123456');
    assert.equal((await json('customer', 'update', john.id, ...inCase, '--title', 'Mr')).title, 'Mr');
    assert.equal((await json('case', 'update', id, ...at, '--reference', 'Smith, trusts')).customers[0].title, 'Mr');
    assert.deepEqual(
      (await json('customer', 'list', ...inCase)).map((found: { id: string }) => found.id),
      [john.id],
    );
    assert.equal((await json('customer', 'list', ...at, '--search', 'smith')).length, 1);
    assert.equal((await json('customer', 'show', john.id, ...inCase)).phone, '07400 123456');
    assert.equal((await json('customer', 'remove', john.id, ...inCase)).id, john.id);
    assert.deepEqual((await json('case', 'show', id, ...at)).customers, []);
    assert.equal((await json('customer', 'list', '--removed', ...inCase)).length, 1);
    assert.equal((await json('customer', 'restore', john.id, ...inCase)).id, john.id);
    assert.equal((await json('case', 'show', id, ...at)).customers.length, 1);
    assert.equal((await json('case', 'list', ...at)).length, 1);
  });

  test('custom tags are made, listed and removed, the default ones listed', async () => {
    const at = ['--company', await newCompany()];
    await json('tag', 'create', ...at, '--tag', 'vip-client');
    assert.deepEqual(
      (await json('tag', 'list', ...at)).map(({ tag }: { tag: string }) => tag),
      ['vip-client'],
    );
    await json('tag', 'remove', 'vip-client', ...at);
    assert.deepEqual(await json('tag', 'list', ...at), []);
    assert.ok((await json('tag', 'defaults')).some(({ tag }: { tag: string }) => tag === 'executor'));
  });

  test('a client gets tokens with the secret it was shown, until it is disabled', async () => {
    const at = ['--company', await newCompany()];
    const made = await json('client', 'create', ...at, '--name', 'website', '--scope', 'manage,invoices:read');
    const ask = async (client_secret: string) =>
      (
        await app.anonymous.post('/oauth/token', {
          grant_type: 'client_credentials',
          client_id: made.id,
          client_secret,
        })
      ).status;
    assert.equal(await ask(made.client_secret), 200);
    const { client_secret } = await json('client', 'rotate', made.id, ...at);
    assert.deepEqual([await ask(made.client_secret), await ask(client_secret)], [401, 200]);
    assert.deepEqual((await json('client', 'update', made.id, ...at, '--scope', 'invoices:read')).scopes, [
      'invoices:read',
    ]);
    assert.notEqual((await json('client', 'disable', made.id, ...at)).disabled_at, null);
    assert.equal(await ask(client_secret), 401);
    assert.equal((await json('client', 'enable', made.id, ...at)).disabled_at, null);
    assert.equal(await ask(client_secret), 200);
    assert.ok(!JSON.stringify(await json('client', 'list', ...at)).includes('crs_'));
    assert.equal((await json('client', 'show', made.id, ...at)).name, 'website');
  });

  test('a key opens what its scopes say, and is revoked', async () => {
    const at = ['--company', await newCompany()];
    const made = await json(
      'key',
      'create',
      ...at,
      '--name',
      'script',
      '--scope',
      'manage',
      '--scope',
      'invoices:read',
    );
    assert.deepEqual(made.scopes, ['invoices:read', 'manage']);
    assert.equal((await caller(app.baseUrl, made.key).get('/manage/company')).status, 200);
    assert.ok(!JSON.stringify(await json('key', 'list', ...at)).includes(made.key));
    assert.notEqual((await json('key', 'revoke', made.id, ...at)).revoked_at, null);
    app.clock.advance({ seconds: 3 });
    assert.equal((await caller(app.baseUrl, made.key).get('/manage/company')).status, 401);
    assert.equal((await json('key', 'show', made.id, ...at)).name, 'script');
  });

  test('events are listed with their actor, from where the last list ended', async () => {
    const id = await newCompany();
    const at = ['--company', id];
    await json('tag', 'create', ...at, '--tag', 'vip-client');
    const all = await json('events', ...at);
    assert.deepEqual(
      all.map(({ type, actor }: { type: string; actor: unknown }) => [type, actor]),
      [
        ['company.created', { type: 'operator' }],
        ['tag.created', { type: 'operator' }],
      ],
    );
    assert.equal(all[1].after.tag, 'vip-client');
    assert.deepEqual(await json('events', ...at, '--types', 'tag.*'), all.slice(1));
    assert.deepEqual(await json('events', ...at, '--after', all[0].id), all.slice(1));
    const first = await type('events', ...at, '--limit', '1');
    assert.match(
      first.out,
      new RegExp(`^ID +AT +TYPE +RECORD +ACTOR +CHANGED\n${all[0].id} .* company.created +${id} +operator$`),
    );
    assert.equal(first.err, `next page: --after ${all[0].id}`);
    const { code, err } = await type('events', ...at, '--types', 'tag.painted', '--after', 'evt_', '--limit', '501');
    assert.equal(code, 3);
    assert.match(err, /--after .*\n--limit must not be more than 500\n--types "tag.painted" is not a type of event/s);
    assert.deepEqual(await json('events', '--company', await newCompany(), '--types', 'tag.*'), []);
  });

  test('a key with the scope operator reaches all companies', async () => {
    const at = ['--company', await newCompany()];
    const { out } = await type('key', 'create', ...at, '--name', 'operator', '--scope', 'operator', '--only', 'key');
    const answer = await caller(app.baseUrl, out).get('/manage/companies');
    assert.equal(answer.status, 200, answer.text);
  });

  test('a company is named by its name, case-insensitively', async () => {
    await newCompany('Named & Partners');
    assert.equal((await type('adviser', 'list', '--company', 'named & partners')).code, 0);
    assert.deepEqual(await type('adviser', 'list', '--company', 'named'), {
      code: 4,
      out: '',
      err: 'There is no such company.',
    });
  });

  test('a name that two companies have is refused', async () => {
    await newCompany('Twins');
    await newCompany('Twins');
    const { code, err } = await type('adviser', 'list', '--company', 'Twins');
    assert.equal(code, 3);
    assert.match(err, /^--company .*identifier/);
  });

  test('if there are several companies, one must be named', async () => {
    await newCompany();
    await newCompany();
    const { code, err } = await type('adviser', 'list');
    assert.equal(code, 3);
    assert.match(err, /^--company is required/);
  });

  test("another company's records are not found", async () => {
    const at = ['--company', await newCompany()];
    const { id } = await json('case', 'create', ...at, '--reference', 'Smith');
    const { code, err } = await type('case', 'show', id, '--company', await newCompany());
    assert.deepEqual([code, err], [4, 'There is no such case.']);
  });

  test('every refused value is named with its flag, and nothing is made', async () => {
    const at = ['--company', await newCompany()];
    const { code, err } = await type('adviser', 'create', ...at, '--email', 'not-an-address', '--name', '');
    assert.equal(code, 3);
    assert.deepEqual(
      err
        .split('\n')
        .map((line) => line.split(' ', 1)[0])
        .sort(),
      ['--email', '--name'],
    );
    assert.deepEqual(await json('adviser', 'list', ...at), []);
  });

  test('a refused list is named with the flag of one of its words', async () => {
    const { code, err } = await type('key', 'create', '--company', await newCompany(), '--name', 'x', '--scope', 'all');
    assert.equal(code, 3);
    assert.match(err, /^--scope must be one of/);
  });

  test('an identifier that is none is not found', async () => {
    for (const group of ['case', 'client', 'key']) {
      assert.equal((await type(group, 'show', "'; --", '--company', await newCompany())).code, 4, group);
    }
  });

  const WRONG: [rule: string, args: string[], told: RegExp][] = [
    ['a command that there is not', ['frobnicate'], /no command "frobnicate"/],
    ['a command of a group that there is not', ['company', 'frobnicate'], /no command "company frobnicate"/],
    ['an unknown flag', ['company', 'list', '--frobnicate'], /--frobnicate/],
    ['a flag without its value', ['company', 'create', '--name'], /--name/],
    ['a missing flag', ['company', 'create'], /--name is missing/],
    ['a missing argument', ['company', 'show'], /<company-id> is missing/],
    ['a word too many', ['company', 'list', 'all'], /"all"/],
    ['a field that the answer has not', ['company', 'list', '--only', 'shoe_size'], /--only must be one of id, name/],
    [
      'a field that the answer has not, where a key would be made',
      ['key', 'create', '--name', 'lost', '--scope', 'manage', '--only', 'token'],
      /--only must be one of .*key/,
    ],
  ];
  for (const [rule, args, told] of WRONG) {
    test(`${rule} is a wrong command line`, async () => {
      await newCompany();
      const { code, err } = await type(...args);
      assert.equal(code, 2);
      assert.match(err, told);
    });
  }

  test('lists are tables with as many entries as there are, page by page', async () => {
    const at = ['--company', await newCompany()];
    for (const tag of ['a', 'bb', 'ccc']) await json('tag', 'create', ...at, '--tag', tag);
    const { out, err } = await type('tag', 'list', ...at, '--per-page', '2');
    assert.deepEqual(
      out.split('\n').map((line) => line.split(/ +/, 1)[0]),
      ['TAG', 'a', 'bb'],
    );
    assert.match(err, /^1 to 2 of 3/);
    assert.equal((await type('tag', 'list', ...at, '--per-page', '2', '--page', '2', '--only', 'tag')).out, 'ccc');
    assert.equal((await type('tag', 'list', ...at, '--per-page', '0')).code, 3);
  });

  test('a secret is shown once, with a word about it', async () => {
    const { out, err } = await type(
      'key',
      'create',
      '--company',
      await newCompany(),
      '--name',
      'x',
      '--scope',
      'manage',
    );
    assert.match(out, /^key +cr_/m);
    assert.match(err, /once/);
  });

  test('what people wrote does not steer the terminal', async () => {
    const at = ['--company', await newCompany()];
    await json('case', 'create', ...at, '--reference', 'red \u001b[31m right to left \u202e end');
    assert.doesNotMatch((await type('case', 'list', ...at)).out, /\p{Cc}(?<!\n)|\u202e/u);
  });

  test('the demonstration company works, and its file is readable by its owner only', async () => {
    const file = join(home.path, 'deep', 'demo.json');
    const { code, out, err } = await type('demo', '--file', file, '--url', app.baseUrl);
    assert.equal(code, 0, err);
    assert.ok(!out.includes('cr_'), 'the token stays in its file');
    const demo = JSON.parse(await readFile(file, 'utf8'));
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal((await caller(demo.base_url, demo.token).get(`/cases/${demo.case_id}/interactions`)).status, 200);
    const again = await type('demo', '--file', file);
    assert.equal(again.code, 2);
    assert.equal(JSON.parse(await readFile(file, 'utf8')).token, demo.token);
  });

  test('the doctor tells of a server on which an acknowledged write could be lost', async () => {
    const { code, out } = await type('doctor');
    assert.equal(code, 1);
    assert.match(out, /fault +database +.*fsync/);
  });
});

describe('the doctor', () => {
  test('tries the mail server, without sending anything', async () => {
    const mail = await mailServer();
    const at = (url: string) => runCommand({ SMTP_URL: url, DATA_DIR: '/nonexistent' }, 'doctor');
    assert.match((await at(mail.url)).out, /ok +mail /);
    await mail.close();
    assert.match(
      (await at('smtp://user:hidden@127.0.0.1:9')).out,
      /fault +mail +127\.0\.0\.1:9 does not accept emails/,
    );
    assert.doesNotMatch((await at('smtp://user:hidden@127.0.0.1:9')).out, /hidden/);
  });

  test('names every wrong setting', async () => {
    const { code, out } = await runCommand({ PORT: 'x', LOG_LEVEL: 'loud' }, 'doctor', '--json');
    assert.equal(code, 1);
    assert.deepEqual(
      JSON.parse(out).map(({ check, state }: Record<string, string>) => [check, state]),
      [
        ['settings', 'fault'],
        ['settings', 'fault'],
      ],
    );
  });

  test('says that a database cannot be reached, without its password', async () => {
    const { code, out } = await runCommand({ DATABASE_URL: 'postgresql://unknown:hidden@127.0.0.1:9/none' }, 'doctor');
    assert.equal(code, 1);
    assert.match(out, /fault +database +The database cannot be reached/);
    assert.ok(!out.includes('hidden'));
  });
});

describe('help', () => {
  test('names every command', async () => {
    const { out } = await runCommand({}, '--help');
    for (const { name } of GROUPS) assert.match(out, new RegExp(`^  ${name} `, 'm'));
    assert.equal((await runCommand({})).out, out);
  });

  test('of every command has a summary, its flags and an example that can be typed', async () => {
    for (const group of GROUPS) {
      for (const command of (await group.load()).commands) {
        const { code, out } = await runCommand({}, ...command.name.split(' '), '--help');
        assert.equal(code, 0, command.name);
        assert.ok(out.includes(command.summary), command.name);
        assert.ok(command.examples.length > 0, command.name);
        for (const example of command.examples) assert.ok(example.startsWith(command.name), example);
        assert.match(out, /--json/);
      }
    }
  });

  test('the page about the command line names every command', async () => {
    const page = await readFile(new URL('../docs/command-line.md', import.meta.url), 'utf8');
    for (const group of GROUPS) {
      for (const { name } of (await group.load()).commands) {
        const [noun, verb] = name.split(' ');
        const row = page.split('\n').find((line) => line.startsWith(`| \`${noun}\` |`)) ?? '';
        assert.ok(verb === undefined ? row !== '' : row.includes(`\`${verb}\``), name);
      }
    }
  });

  test('every example is a command line that is understood', async () => {
    for (const group of GROUPS) {
      for (const { examples, name } of (await group.load()).commands) {
        if (['serve', 'worker'].includes(name)) continue;
        for (const example of examples) {
          const words = [...example.matchAll(/"([^"]*)"|(\S+)/g)]
            .map(([, quoted, plain]) => quoted ?? plain ?? '')
            // The test has no standard input.
            .map((word) => (word === '-' ? 'secret' : word));
          const { code, err } = await runCommand(
            { DATABASE_URL: 'postgresql://127.0.0.1:9/none', DATA_DIR: '/nonexistent' },
            ...words,
          );
          assert.equal(code, 1, `${example}: ${err}`);
        }
      }
    }
  });
});
