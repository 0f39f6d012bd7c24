import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createDemo } from '../../src/company/demo.ts';
import { startApp } from '../harness/app.ts';
import { Browser, findChromium, type Page } from '../harness/browser.ts';
import { caller } from '../harness/http.ts';
import { temporaryDirectory } from '../harness/service.ts';
import { until } from '../harness/until.ts';

/** The pages in a real Chromium: what a newcomer sees, and what happens when the buttons are pressed. */

const chromium = findChromium();
const skip = chromium ? false : 'There is no Chromium: test/slow/packages.sh installs it.';

const app = await startApp();
const folder = await temporaryDirectory();
const file = join(folder.path, 'demo.json');
const demo = await createDemo(app.db, app.clock.read, { baseUrl: app.baseUrl, file });
const company = caller(app.baseUrl, demo.token);
const list = `/cases/${demo.case_id}`;

let browser: Browser;
before(() => {
  if (chromium) browser = new Browser(chromium);
});
after(async () => {
  await browser?.close();
  await folder.remove();
});

const button = (text: string) =>
  `[...document.querySelectorAll('button')].find((one) => one.textContent.trim().startsWith(${JSON.stringify(text)}))`;
const link = (href: string) =>
  `[...document.querySelectorAll('a')].find((one) => one.getAttribute('href') === ${JSON.stringify(href)})`;

/** The address is part of its text, for screen readers. */
const sendButton = button('SendSend ');

async function press(page: Page, element: string): Promise<void> {
  await page.waitFor(`!!${element}`, element);
  await page.evaluate(`${element}.click()`);
}

/** Opens an operation from the list at the side, and the form that sends it. */
async function openForm(page: Page, group: string, method: string, path: string): Promise<void> {
  const anchor = `#tag/${group.toLowerCase().replace(' ', '-')}/${method}${path}`;
  await page.waitFor(`!!${button(`Open Group - ${group}`)} || !!${link(anchor)}`, `the group ${group}`);
  if (!(await page.evaluate(`!!${link(anchor)}`))) await press(page, button(`Open Group - ${group}`));
  await press(page, link(anchor));
  await press(page, button(`Test Request(${method.toLowerCase()} ${path})`));
  await page.waitFor(`!!${sendButton}?.textContent.endsWith(${JSON.stringify(path)})`, `the form of ${method} ${path}`);
}

/** Types a value in the row of a parameter, as a person would. */
async function fillIn(page: Page, name: string, value: string): Promise<void> {
  const cell = `document.querySelector('[id="${name}"] td:nth-child(3) [contenteditable]')`;
  await page.waitFor(`!!${cell}`, `the row ${name}`);
  await page.evaluate(`(${cell}.focus(), document.execCommand('selectAll'))`);
  await page.send('Input.insertText', { text: value });
  await page.evaluate(`${cell}.blur()`);
}

/** Presses the button, and returns the status of the response when the page shows it. */
async function send(page: Page): Promise<number> {
  const [requests, responses] = [page.requests.length, page.responses.length];
  await press(page, sendButton);
  await until(() => page.responses.length > responses, 'a response');
  assert.equal(page.requests.length, requests + 1, 'one press sends one request');
  const { status } = page.responses[responses] as { status: number };
  const shown = "[...document.querySelectorAll('[role=dialog] *')].map((one) => one.textContent.trim())";
  await page.waitFor(`${shown}.some((text) => text.startsWith('${status} '))`, `the status ${status}`);
  return status;
}

async function openDocs(url: string, size: { width: number; height: number } = { width: 1280, height: 900 }) {
  const page = await browser.newPage(size);
  await page.open(url);
  await page.waitFor(`!!${button('Open Group - Interactions')}`, 'the groups');
  return page;
}

/** Returns the newest record of a list. */
async function newest(path: string): Promise<string> {
  const { body, status, text } = await company.get(`${list}/${path}`);
  assert.equal(status, 200, text);
  return body.toSorted((a: { id: string }, b: { id: string }) => (a.id < b.id ? 1 : -1))[0].id;
}

const person = async () => {
  const { body } = await company.get(`${list}/address-book`);
  return body.find((item: { entity_id: string }) => item.entity_id === 'person').id;
};

const TWELVE: [group: string, method: string, path: string, record?: [string, () => Promise<string>]][] = [
  ['Address book', 'GET', '/cases/{caseId}/address-book'],
  ['Address book', 'POST', '/cases/{caseId}/address-book/entry'],
  ['Address book', 'PATCH', '/cases/{caseId}/address-book/entry/{entryID}', ['entryID', person]],
  ['Interactions', 'GET', '/cases/{caseId}/interactions'],
  ['Interactions', 'POST', '/cases/{caseId}/interactions'],
  [
    'Interactions',
    'PATCH',
    '/cases/{caseId}/interactions/{interactionId}',
    ['interactionId', () => newest('interactions')],
  ],
  ['Invoices', 'GET', '/cases/{caseId}/invoices'],
  ['Invoices', 'POST', '/cases/{caseId}/invoices'],
  ['Invoices', 'PATCH', '/cases/{caseId}/invoices/{invoiceId}', ['invoiceId', () => newest('invoices')]],
  ['Appointments', 'POST', '/cases/{caseId}/appointments'],
  [
    'Appointments',
    'PATCH',
    '/cases/{caseId}/appointments/{appointmentID}',
    ['appointmentID', () => newest('appointments')],
  ],
  [
    'Appointments',
    'DELETE',
    '/cases/{caseId}/appointments/{appointmentID}',
    ['appointmentID', () => newest('appointments')],
  ],
];

test('each of the twelve operations answers 200 when its button is pressed', { skip }, async () => {
  const page = await openDocs(demo.docs_url);
  assert.doesNotMatch(await page.evaluate<string>('location.href'), /token|cr_/, 'the address can be copied');
  for (const [group, method, path, record] of TWELVE) {
    await openForm(page, group, method, path);
    if (record) await fillIn(page, record[0], await record[1]());
    assert.equal(await send(page), 200, `${method} ${path}`);
  }
  assert.deepEqual(page.complaints, []);
  const origins = new Set(page.requests.map(({ url }) => new URL(url).origin));
  assert.deepEqual([...origins], [app.baseUrl], 'nothing is loaded from another host');
  const lists = page.requests.filter(({ url, method }) => method === 'GET' && url.includes(list));
  assert.equal(lists.length, 3);
  for (const { url } of lists) assert.equal(new URL(url).search, '', 'no filter is sent unasked');

  // A reload has forgotten nothing, and a second press creates a second record.
  await page.open(`${app.baseUrl}/docs`);
  await openForm(page, 'Interactions', 'POST', '/cases/{caseId}/interactions');
  for (const records of [2, 3]) {
    assert.equal(await send(page), 200);
    assert.equal((await company.get(`${list}/interactions`)).body.length, records);
  }
});

test('without the link a newcomer enters token and case', { skip }, async () => {
  const page = await openDocs(`${app.baseUrl}/docs/`);
  await openForm(page, 'Interactions', 'GET', '/cases/{caseId}/interactions');
  await fillIn(page, 'caseId', demo.case_id);
  assert.equal(await send(page), 401);
  await page.waitFor(`!!${TOKEN_FIELD}`, 'the field for the token');
  await page.evaluate(`${TOKEN_FIELD}.focus()`);
  await page.send('Input.insertText', { text: demo.token });
  await page.evaluate(`${TOKEN_FIELD}.blur()`);
  assert.equal(await send(page), 200);
});

const TOKEN_FIELD = `[...document.querySelectorAll('[role=dialog] [contenteditable], [role=dialog] input')]
  .find((one) => /token/i.test(one.getAttribute('placeholder') ?? one.dataset.placeholder ?? ''))`;

test('a page that cannot load the document says so', { skip }, async () => {
  for (const [fetch, reason] of [
    ['async () => new Response("", { status: 503 })', '/openapi.json was answered with status 503'],
    ['() => Promise.reject(new TypeError("Failed to fetch"))', 'Failed to fetch'],
  ]) {
    const page = await browser.newPage({ width: 390, height: 800 });
    await page.send('Page.addScriptToEvaluateOnNewDocument', { source: `fetch = ${fetch};` });
    await page.open(`${app.baseUrl}/docs`);
    const text = await page.waitFor<string>("document.querySelector('#reference').textContent", 'a text');
    assert.equal(text, `The reference cannot be shown: ${reason}. Reload the page to try again.`);
  }
});

test('a browser that has ended can be closed', async () => {
  const ended = new Browser(process.execPath);
  await ended.close();
  await ended.close();
});

test('the pages work under a path that a proxy removes', { skip }, async () => {
  const proxy = createServer((incoming, outgoing) => {
    const { url = '', method, headers } = incoming;
    if (!url.startsWith('/records')) return void outgoing.writeHead(404).end();
    const path = url.slice('/records'.length) || '/';
    const forwarded = httpRequest(app.baseUrl + path, { method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  try {
    const root = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/records`;
    const page = await openDocs(`${root}/docs/${new URL(demo.docs_url).hash}`);
    await openForm(page, 'Invoices', 'GET', '/cases/{caseId}/invoices');
    assert.equal(await send(page), 200);
    const home = await browser.newPage({ width: 390, height: 800 });
    const keep = 'async function () { return (window.shown = JSON.parse(await this.text())); }';
    await home.send('Page.addScriptToEvaluateOnNewDocument', { source: `Response.prototype.json = ${keep};` });
    await home.open(`${root}/docs`);
    await home.waitFor(`!!${button('Open Menu')}`, 'the reference');
    const tokenUrl = 'shown.components.securitySchemes.oauth2.flows.clientCredentials.tokenUrl';
    assert.equal(await home.evaluate(tokenUrl), `${root}/oauth/token`, 'secrets go to the same address');
    assert.deepEqual([...page.complaints, ...home.complaints], []);
    for (const { url } of [...page.requests, ...home.requests]) assert.ok(url.startsWith(root), url);
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
});
