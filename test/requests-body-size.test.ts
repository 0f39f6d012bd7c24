import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { assertProblem } from './harness/assert.ts';
import { document } from './harness/openapi.ts';
import {
  app,
  assertFaultList,
  BODIES,
  bodyOf,
  chunk,
  documented,
  fill,
  head,
  idsOf,
  interactionsOf,
  LAST_CHUNK,
  MEBIBYTE,
  nameOf,
  raw,
  recordsOf,
} from './harness/requests.ts';

const formsWithBody = documented.filter(({ takesBody }) => takesBody);

test('a body of exactly 1 MiB is read', async () => {
  const company = await app.company();
  const answer = await company.post(`${company.path}/interactions`, '{"type":"phone"}'.padEnd(MEBIBYTE));
  assert.equal(answer.status, 200, answer.text);
});

test('the size of a body is counted in bytes, not in letters', async () => {
  const company = await app.company();
  const frame = '{"type":"phone","unknown":""}';
  const room = MEBIBYTE - frame.length;
  const filled = frame.replace('""', `"${'😀'.repeat(Math.floor(room / 4))}${'x'.repeat(room % 4)}"`);
  assert.equal(Buffer.byteLength(filled), MEBIBYTE);
  assert.equal((await company.post(`${company.path}/interactions`, filled)).status, 200);
  assertProblem(await company.post(`${company.path}/interactions`, `${filled} `), 413, 'body_too_large');
});

for (const form of formsWithBody) {
  test(`${nameOf(form)} refuses a body of one byte more than 1 MiB`, async () => {
    const company = await app.company();
    const path = fill(form.template, await idsOf(company));
    const before = await recordsOf(company);
    const body = JSON.stringify(bodyOf(form, company)).padEnd(MEBIBYTE + 1);
    assertProblem(await company.send(form.method, path, body), 413, 'body_too_large');
    assert.deepEqual(await recordsOf(company), before);
  });
}

test('a DELETE with a body of more than 1 MiB deletes nothing, and is 404 for an appointment that never existed', async () => {
  const company = await app.company();
  const { appointmentID } = await idsOf(company);
  const path = `${company.path}/appointments`;
  const before = await recordsOf(company);
  const body = '{}'.padEnd(MEBIBYTE + 1);
  assertProblem(await company.send('DELETE', `${path}/${appointmentID}`, body), 413, 'body_too_large');
  assertProblem(await company.send('DELETE', `${path}/${randomUUID()}`, body), 404, 'not_found');
  assert.deepEqual(await recordsOf(company), before);
});

test('a body that is too large for an unknown case is 404, and without a token 401', async () => {
  const body = '{"type":"phone"}'.padEnd(MEBIBYTE + 1);
  const company = await app.company();
  assertProblem(await company.post(`/cases/${randomUUID()}/interactions`, body), 404, 'not_found');
  assertProblem(await app.anonymous.post(`${company.path}/interactions`, body), 401, 'invalid_token');
});

type Secured = Record<string, { security?: Record<string, string[]>[] }>;

for (const [template, methods] of Object.entries(document.paths as unknown as Record<string, Secured>)) {
  for (const [method, { security }] of Object.entries(methods)) {
    if (method === 'get' || !template.includes('{')) continue;
    const isForCookies = !security?.some((scheme) => 'bearer' in scheme);
    const creates = template === '/manage/cases/by-external-id/{externalId}' && method === 'put';
    if (isForCookies || creates) continue;
    test(`${method.toUpperCase()} ${template} of what never existed is 404, however large the body`, async () => {
      const caller = await (await app.company()).withScopes(...(security?.[0]?.bearer ?? []));
      const path = template.replaceAll(/\{\w+\}/g, randomUUID());
      assertProblem(await caller.send(method.toUpperCase(), path, '{}'.padEnd(MEBIBYTE + 1)), 404, 'not_found');
    });
  }
}

test('what takes no body does nothing when one comes that is too large', async () => {
  const company = await app.company();
  const [adviser] = (await company.get('/manage/advisers')).body;
  const [key] = (await company.get('/manage/keys')).body;
  const client = (await company.post('/manage/clients', { name: 'site', scopes: ['manage'] })).body;
  const customer = `/manage/cases/${company.caseId}/customers/${company.customers[0].id}`;
  const state = () =>
    Promise.all(
      ['advisers', 'customers', 'clients', 'tokens', 'custom_tags', 'messages'].map((table) =>
        app.sql(`SELECT to_jsonb(t) - 'last_used_at' AS row FROM ${table} t WHERE company_id = $1`, [
          company.companyId,
        ]),
      ),
    );
  const before = await state();
  for (const [method, path] of [
    ['DELETE', `/manage/advisers/${adviser.id}`],
    ['DELETE', customer],
    ['DELETE', '/manage/custom-tags/vip-client'],
    ['DELETE', `/manage/keys/${key.id}`],
    ['POST', `/manage/clients/${client.id}/rotate`],
    ['POST', `/manage/clients/${client.id}/disable`],
    ['POST', `/manage/clients/${client.id}/enable`],
  ] as const) {
    assertProblem(await company.send(method, path, '{}'.padEnd(MEBIBYTE + 1)), 413, 'body_too_large');
    assert.deepEqual(await state(), before, path);
  }
});

test('a length of many gigabytes is refused before a byte of it has come', async () => {
  const company = await app.company();
  const path = `${company.path}/interactions`;
  assertProblem(await raw(head(company, 'POST', path, { 'Content-Length': 99_999_999_999 })), 413, 'body_too_large');
});

test('a body in chunks is refused at the same size', async () => {
  const company = await app.company();
  const send = (size: number) => {
    const body = Buffer.from('{"type":"phone"}'.padEnd(size));
    const start = head(company, 'POST', `${company.path}/interactions`, { 'Transfer-Encoding': 'chunked' });
    return raw(
      Buffer.concat([
        Buffer.from(start),
        chunk(body.subarray(0, 1000)),
        chunk(body.subarray(1000)),
        Buffer.from(LAST_CHUNK),
      ]),
    );
  };
  assert.equal((await send(MEBIBYTE)).status, 200);
  assertProblem(await send(MEBIBYTE + 1), 413, 'body_too_large');
  assert.equal((await interactionsOf(company)).length, 1);
});

test('at most a hundred faults are listed', async () => {
  const company = await app.company();
  const items = (count: number) => ({ ...BODIES.invoices?.(company), items: Array(count).fill({}) });
  for (const [count, listed] of [
    [25, 100],
    [26, 100],
    [1000, 100],
  ] as const) {
    const answer = await company.post(`${company.path}/invoices`, items(count));
    assertProblem(answer, 400, 'invalid_request');
    assert.equal(answer.body.errors.length, listed);
    assert.equal(answer.body.errors[0].field, 'items[0].description');
  }
});

test('a hundred thousand bad items are answered quickly, with too_many', async () => {
  const company = await app.company();
  for (const item of [{}, null, 1]) {
    const body = { ...BODIES.invoices?.(company), items: Array(100_000).fill(item) };
    const begin = process.cpuUsage();
    assertFaultList(await company.post(`${company.path}/invoices`, body), 'items: too_many');
    assert.ok(process.cpuUsage(begin).user < 2_000_000, 'within two seconds of work');
  }
});

test('a hundred thousand forbidden characters are answered quickly', async () => {
  const company = await app.company();
  const begin = process.cpuUsage();
  const answer = await company.post(`${company.path}/interactions`, {
    type: 'phone',
    unknown: Array(100_000).fill('\0'),
  });
  assertProblem(answer, 400, 'invalid_request');
  assert.equal(answer.body.errors.length, 100);
  assert.ok(process.cpuUsage(begin).user < 2_000_000, 'within two seconds of work');
});
