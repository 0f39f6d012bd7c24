import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { findCompany } from '../../src/company/company.ts';
import { linkAddress } from '../../src/company/credentials/links/verbs.ts';
import { CreateUserBody } from '../../src/company/credentials/users/schema.ts';
import { createUser } from '../../src/company/credentials/users/verbs.ts';
import { SecretBox } from '../../src/kernel/secret-box.ts';
import { readForm } from '../../src/kernel/validation/form.ts';
import { startApp } from '../harness/app.ts';
import { Browser, findChromium, type Page } from '../harness/browser.ts';
import { codeAt, PASSWORD } from '../harness/people.ts';

/** A person with a real browser: cookies, fetch metadata and passkeys as they are. */

const chromium = findChromium();
const skip = chromium === undefined && 'Chromium is not installed';
const app = await startApp({ secrets: new SecretBox([randomBytes(32)]) });
const site = app.baseUrl.replace('127.0.0.1', 'localhost');
const company = await app.company();
const browser = chromium === undefined ? undefined : new Browser(chromium);
after(() => browser?.close());

async function invite(): Promise<string> {
  const context = { db: app.db, clock: app.clock.read, company: await findCompany(app, company.companyId) };
  const body = { email: `${randomUUID()}@company.example`, name: 'Nora New', role: 'adviser' };
  const { secret } = await createUser(context, readForm(CreateUserBody, body), 'print');
  return linkAddress(site, secret ?? '');
}

async function newPage(): Promise<Page> {
  const page = await (browser as Browser).newPage({ width: 800, height: 900 });
  await page.send('WebAuthn.enable');
  return page;
}

/** An authenticator whose owner is there and has been checked. */
const addAuthenticator = (page: Page) =>
  page.send<{ authenticatorId: string }>('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  });

const isShown = (id: string) => `!document.getElementById(${JSON.stringify(id)}).hidden`;
const textOf = (id: string) => `document.getElementById(${JSON.stringify(id)}).textContent`;
const click = (page: Page, selector: string) =>
  page.evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);
const fill = (page: Page, form: string, name: string, value: string) =>
  page.evaluate(`document.getElementById('${form}').elements['${name}'].value = ${JSON.stringify(value)}`);

test('a person accepts an invitation, adds a passkey, signs out and signs in with it', { skip }, async () => {
  const page = await newPage();
  await addAuthenticator(page);
  await page.open(await invite());
  await page.waitFor(isShown('with-link'), 'the link');
  assert.equal(await page.evaluate('location.hash'), '');
  await click(page, '#link-form button');
  await page.waitFor(`${isShown('signed-in')} && ${textOf('who')}.startsWith('Welcome')`, 'the welcome');
  await click(page, '#passkey-form button');
  await page.waitFor(`${textOf('who')}.includes('(adviser)')`, 'the full session');
  assert.equal((await page.evaluate<string>(textOf('recovery-codes'))).split('\n').length, 10);
  assert.equal(await page.evaluate('document.cookie'), '', 'scripts cannot read the cookies');
  await click(page, '#sign-out');
  await page.waitFor(`!${isShown('signed-in')}`, 'the end of the session');
  await page.waitFor(isShown('signed-out'), 'the form');
  await click(page, '#use-passkey');
  await page.waitFor(`${textOf('who')}.includes('Nora New')`, 'the session');
  const complaints = page.complaints.filter((text) => !text.includes('401'));
  assert.deepEqual(complaints, []);
});

test('a person chooses a password and an app instead', { skip }, async () => {
  const page = await newPage();
  await page.open(await invite());
  await page.waitFor(isShown('with-link'), 'the link');
  await click(page, '#link-form button');
  await page.waitFor(isShown('signed-in'), 'the session');
  await fill(page, 'new-password-form', 'password', PASSWORD);
  await click(page, '#new-password-form button');
  await page.waitFor(`${textOf('factors')}.includes('Password')`, 'the password');
  await click(page, '#prepare-codes');
  const secret = await page.waitFor<string>(textOf('secret'), 'the secret');
  await fill(page, 'codes-form', 'code', codeAt(app, secret));
  await click(page, '#codes-form button');
  await page.waitFor(`${textOf('who')}.includes('(adviser)')`, 'the full session');
});

test('after the sign-in the page leads back, and never to another place', { skip }, async () => {
  const page = await newPage();
  await addAuthenticator(page);
  await page.open(await invite());
  await page.waitFor(isShown('with-link'), 'the link');
  await click(page, '#link-form button');
  await page.waitFor(isShown('signed-in'), 'the session');
  await click(page, '#passkey-form button');
  await page.waitFor(`${textOf('who')}.includes('(adviser)')`, 'the full session');
  for (const next of [
    ...['https://evil.example/', '//evil.example/', '/\\evil.example/', '\\\\evil.example', 'javascript:alert(1)'],
    ...[`${site}.evil.example/`, `${site.replace('://', '://evil@')}:1/`, 'data:text/html,x', 'http://[', ''],
  ]) {
    await page.open(`${site}/sign-in?next=${encodeURIComponent(next)}`);
    await page.waitFor(isShown('signed-in'), `the account instead of ${next}`);
    assert.equal(await page.evaluate('location.pathname + document.getElementById("continue").hidden'), '/sign-intrue');
  }
  await page.open(`${site}/sign-in?again&next=${encodeURIComponent('/healthz?a=1#b')}`);
  await page.waitFor(isShown('signed-out'), 'the form, for a person who has signed in');
  await click(page, '#use-passkey');
  await page.waitFor(`location.href === '${site}/healthz?a=1#b'`, 'the page that asked for the sign-in');
  await page.open(`${site}/sign-in?account&next=${encodeURIComponent('/healthz?a=1#b')}`);
  await page.waitFor(isShown('signed-in'), 'the account, although the person has signed in');
  assert.equal(await page.evaluate('document.getElementById("continue").href'), `${site}/healthz?a=1#b`);
});

test('a page of another origin cannot use the session: neither a form, nor a script, nor a frame', {
  skip,
}, async () => {
  const page = await newPage();
  await addAuthenticator(page);
  await page.open(await invite());
  await page.waitFor(isShown('with-link'), 'the link');
  await click(page, '#link-form button');
  await page.waitFor(isShown('signed-in'), 'the session');
  await click(page, '#passkey-form button');
  await page.waitFor(`${textOf('who')}.includes('(adviser)')`, 'the full session');
  const before = await app.sql('SELECT count(*) FROM interactions');
  // 127.0.0.1 is another site than localhost, and another port a sibling.
  await page.open(`${app.baseUrl}/healthz`);
  const status = await page.evaluate<string>(
    `fetch('${site}${company.path}/interactions', { method: 'POST', mode: 'no-cors', credentials: 'include',
       body: '{"type":"phone"}' }).then((response) => response.type + response.status, (error) => 'refused')`,
  );
  assert.ok(['opaque0', 'refused'].includes(status), status);
  assert.deepEqual(await app.sql('SELECT count(*) FROM interactions'), before);
  const framed = await page.evaluate<string>(
    `new Promise((resolve) => {
       const frame = document.createElement('iframe');
       frame.onload = () => { try { resolve(frame.contentDocument ? 'readable' : 'closed'); } catch { resolve('closed'); } };
       frame.src = '${site}/sign-in';
       document.body.append(frame);
     })`,
  );
  assert.equal(framed, 'closed');
});
