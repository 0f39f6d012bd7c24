import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { GROUPS } from '../src/cli/groups.ts';
import { NO_TERMINAL } from '../src/cli/terminal.ts';
import { COMPANY_SCOPES } from '../src/kernel/scopes.ts';
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

  test('a company is named by its name, or by the beginning of its name or identifier, in any case', async () => {
    const id = await newCompany('Named & Partners');
    for (const word of ['named & partners', 'NAMED', id, id.slice(0, -2)]) {
      assert.equal((await json('company', 'show', word)).id, id, word);
    }
    assert.deepEqual(await type('adviser', 'list', '--company', 'amed'), {
      code: 4,
      out: '',
      err: 'There is no company named "amed".',
    });
  });

  test('a name that fits several companies is refused with a list of them, and a whole name wins', async () => {
    const first = await newCompany('Twins');
    const { id: second } = await json('company', 'create', '--name', 'Twins & Sons');
    assert.equal((await json('company', 'show', 'twins')).id, first);
    const { code, err } = await type('adviser', 'list', '--company', 'twin');
    assert.equal(code, 3);
    assert.match(err, new RegExp(`^"twin" fits more than one.*\\n  ${first}  Twins\\n  ${second}  Twins & Sons$`));
  });

  test('an empty name names nothing', async () => {
    await newCompany();
    for (const word of ['', ' ']) assert.equal((await type('adviser', 'list', '--company', word)).code, 4);
  });

  test('LIKE patterns and quotes in a name mean themselves', async () => {
    await newCompany('Percent & Partners');
    for (const word of ['%', '_ercent', "'; --", '\\'])
      assert.equal((await type('company', 'show', word)).code, 4, word);
  });

  test('a second company with the same name is created only when it is confirmed', async () => {
    const id = await newCompany('Same & Same');
    const refused = await type('company', 'create', '--name', 'same & same');
    assert.equal(refused.code, 3);
    assert.match(refused.err, new RegExp(`^--name is the name of another company \\(${id}\\).*--yes`));
    const questions: string[] = [];
    const answering = (answer: string) => ({
      ...NO_TERMINAL,
      ask: async (question: string) => {
        questions.push(question);
        return answer;
      },
    });
    const create = (answer: string) =>
      runCommand({ env, terminal: answering(answer) }, 'company', 'create', '--name', 'Same & Same', '--only', 'id');
    assert.equal((await create('')).code, 3);
    assert.equal((await create('y')).code, 0);
    assert.match(questions[0] ?? '', /^A company named "Same & Same" exists already/);
    assert.equal((await type('company', 'create', '--name', 'Same & Same', '--yes')).code, 0);
    assert.equal((await json('company', 'list', '--search', 'same & same')).length, 3);
  });

  test('cases, customers, advisers, clients, keys and endpoints are named by what people call them', async () => {
    const at = ['--company', await newCompany()];
    const { id: caseId } = await json('case', 'create', ...at, '--reference', 'Smith, wills');
    await json('case', 'create', ...at, '--reference', 'Smith, trusts');
    assert.equal((await json('case', 'show', 'smith, w', ...at)).id, caseId);
    assert.equal((await type('case', 'show', 'smith', ...at)).code, 3);
    const inCase = [...at, '--case', 'smith, wills'];
    const name = ['--first-names', 'John', '--last-name', 'Smith', '--email', 'john@client.example'];
    const { id: customer } = await json('customer', 'create', ...inCase, ...name);
    for (const word of ['john smith', 'Smith', 'john@client', customer.slice(0, 20)]) {
      assert.equal((await json('customer', 'show', word, ...inCase)).id, customer, word);
    }
    await json('customer', 'remove', 'John Smith', ...inCase);
    assert.equal((await type('customer', 'show', 'John Smith', ...inCase)).code, 4);
    assert.equal((await json('customer', 'restore', 'John Smith', ...inCase)).id, customer);
    const adviser = await json('adviser', 'create', ...at, '--email', 'ada@company.example', '--name', 'Ada Adviser');
    assert.equal((await json('adviser', 'show', 'ada adv', ...at)).id, adviser.id);
    await json('adviser', 'remove', 'ada@company.example', ...at);
    assert.equal((await json('adviser', 'restore', 'Ada', ...at)).id, adviser.id);
    const client = await json('client', 'create', ...at, '--name', 'Web site', '--scope', 'manage');
    assert.equal((await json('client', 'show', 'web', ...at)).id, client.id);
    const key = await json('key', 'create', ...at, '--name', `export ${caseId}`, '--scope', 'manage');
    assert.equal((await json('key', 'show', 'export', ...at)).id, key.id);
    assert.equal((await json('credential', 'show', `export ${caseId}`))[0].id, key.id);
    const sealed = { ...env, SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') };
    const url = 'https://company.example/hooks';
    const made = await runCommand(sealed, 'webhook', 'create', ...at, '--url', url, '--type', '*', '--only', 'id');
    assert.equal(made.code, 0, made.err);
    assert.equal((await json('webhook', 'show', 'https://company', ...at)).id, made.out);
  });

  test('--scope all grants every scope of a company, and not the one of the operator', async () => {
    const at = ['--company', await newCompany()];
    for (const group of ['key', 'client']) {
      const made = await json(group, 'create', ...at, '--name', 'everything', '--scope', 'all');
      assert.deepEqual(made.scopes.toSorted(), [...COMPANY_SCOPES].sort(), group);
    }
  });

  test('a wrong word is answered with the closest one', async () => {
    const at = ['--company', await newCompany()];
    const suggestions: [args: string[], told: string][] = [
      [['compnay'], 'Did you mean "company"?'],
      [['company', 'udpate'], 'Did you mean "update"?'],
      [['company', 'list', '--serach', 'x'], 'Did you mean "--search"?'],
      [['company', 'list', '--only', 'nme'], 'Did you mean "name"?'],
      [['key', 'create', ...at, '--name', 'x', '--scope', 'invoice:read'], 'Did you mean "invoices:read"?'],
      [['key', 'create', ...at, '--name', 'x', '--scope', 'al'], 'Did you mean "all"?'],
      [['company', 'create', '--name', 'x', '--time-zone', 'Europe/Londn'], 'Did you mean "Europe/London"?'],
      [['completion', 'bsh'], 'Did you mean "bash"?'],
    ];
    for (const [args, told] of suggestions) assert.ok((await type(...args)).err.includes(told), args.join(' '));
    assert.doesNotMatch((await type('frobnicate')).err, /Did you mean/);
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
    const { code, err } = await type(
      'key',
      'create',
      '--company',
      await newCompany(),
      '--name',
      'x',
      '--scope',
      'none',
    );
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
    ['a missing argument', ['company', 'show'], /<company> is missing/],
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

  test('on a terminal a table has local times, colours, and lines that fit', async () => {
    const at = ['--company', await newCompany()];
    const reference = 'A long reference that has many words in it, more than a line of the terminal can hold';
    const { id } = await json('case', 'create', ...at, '--reference', reference);
    const show = async (columns: number, color = false) => {
      const display = { columns, color, timeZone: 'Asia/Kolkata' };
      const done = await runCommand({ env, terminal: { ...NO_TERMINAL, display } }, 'case', 'list', ...at);
      return done.out;
    };
    for (const columns of [60, 80, 120]) {
      const lines = (await show(columns)).split('\n');
      for (const line of lines) assert.ok(line.length <= columns, `${columns}: ${line}`);
      for (const word of [...reference.split(' '), id])
        assert.ok(lines.join(' ').includes(word), `${columns}: ${word}`);
    }
    assert.match(await show(120), /^ID +REFERENCE +CUSTOMERS +CREATED AT\n/);
    const { created_at } = await json('case', 'show', id, ...at);
    const local = Temporal.Instant.from(created_at).toZonedDateTimeISO('Asia/Kolkata').toPlainDateTime();
    assert.ok((await show(200)).includes(local.toString({ smallestUnit: 'minute' }).replace('T', ' ')));
    assert.match(await show(60), /created_at +\S+ \d\d:\d\d:\d\d \+05:30/);
    assert.match(await show(60), /^id +0/);
    assert.ok((await show(120, true)).startsWith('\u001b[1mID\u001b[22m'));
    assert.ok(!(await show(120)).includes('\u001b'));
    assert.match((await type('case', 'list', ...at)).out, /T\d\d:\d\d:\d\dZ$/m);
  });

  test('on a terminal the help fits, and nothing of it is lost', async () => {
    for (const args of [
      ['--help'],
      ['company'],
      ['key', 'create', '--help'],
      ['webhook', '--help'],
      ['events', '--help'],
    ]) {
      const wordsOf = (text: string) => text.split(/\s+/).sort();
      const { out: full } = await type(...args);
      for (const columns of [50, 80, 200]) {
        const display = { columns, color: false, timeZone: 'Europe/London' };
        const { out } = await runCommand({ env, terminal: { ...NO_TERMINAL, display } }, ...args);
        assert.deepEqual(wordsOf(out), wordsOf(full));
        // An example is copied as one line.
        const lines = (out.split(/^Examples?:/m)[0] ?? '').split('\n');
        const isLongWord = (line: string) => !line.trim().includes(' ');
        for (const line of lines)
          assert.ok(line.length <= Math.min(columns, 100) || isLongWord(line), `${columns}: ${line}`);
      }
    }
  });

  test('an empty list says so', async () => {
    const at = ['--company', await newCompany()];
    assert.equal((await type('case', 'list', ...at)).err, 'none');
    await json('case', 'create', ...at, '--reference', 'Only one');
    assert.equal((await type('case', 'list', ...at, '--page', '2')).err, 'none of 1');
  });

  test('candidates and questions do not steer the terminal either', async () => {
    const id = await newCompany('Steering \u202e one');
    await newCompany('Steering \u202e two');
    const candidates = await type('company', 'show', 'steering');
    const question = await type('company', 'remove', id);
    assert.deepEqual([candidates.code, question.code], [3, 3]);
    for (const { err } of [candidates, question]) {
      assert.ok(err.includes('Steering') && !err.includes('\u202e'), err);
    }
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

test('--version prints the version', async () => {
  const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
  for (const word of ['--version', '-V', '-v', 'version'])
    assert.equal((await runCommand({}, word)).out, `case-records ${version}`);
});

describe('completion', () => {
  const complete = async (...words: string[]) => {
    const script = (await runCommand({}, 'completion', 'bash')).out;
    const call = `COMP_WORDS=(case-records ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}`;
    const { stdout } = await promisify(execFile)('bash', [
      '-c',
      `${script}\n${call}; _case_records; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ]);
    return stdout.trim().split('\n');
  };

  test('of bash offers commands, flags and the words of a flag', async () => {
    assert.deepEqual(await complete('co'), ['company', 'completion']);
    assert.deepEqual(await complete('company', ''), ['create', 'list', 'show', 'update', 'export', 'import', 'remove']);
    assert.deepEqual(await complete('key', 'create', '--sc'), ['--scope']);
    assert.deepEqual(await complete('key', 'create', '--scope', 'inv'), ['invoices:read', 'invoices:write']);
    assert.deepEqual(await complete('doctor', '--j'), ['--json']);
  });

  test('is printed for every shell, with every command', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { out } = await runCommand({}, 'completion', shell);
      for (const { name } of GROUPS) assert.ok(out.includes(name), `${shell}: ${name}`);
    }
    assert.equal((await runCommand({}, 'completion', 'cmd')).code, 2);
  });
});

describe('help', () => {
  test('names every command', async () => {
    const { out } = await runCommand({}, '--help');
    for (const { name } of GROUPS) assert.match(out, new RegExp(`^  ${name} `, 'm'));
    assert.equal((await runCommand({})).out, out);
    assert.match((await runCommand({}, 'help', 'company')).out, /^case-records company: /);
    assert.match((await runCommand({}, '--help', 'company', 'remove')).out, /^case-records company remove: /);
  });

  test('of every command has a summary, its flags and an example that can be typed', async () => {
    for (const group of GROUPS) {
      for (const command of (await group.load()).commands) {
        const { code, out } = await runCommand({}, ...command.name.split(' '), '--help');
        assert.equal(code, 0, command.name);
        assert.ok(out.replaceAll(/\n(?=\S)/g, ' ').includes(command.summary), command.name);
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
        // These do not end by themselves, or need no database.
        if (['serve', 'worker', 'completion'].includes(name)) continue;
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
