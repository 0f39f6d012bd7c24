import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Answer } from './harness/http.ts';
import { app, plain } from './harness/metrics.ts';

/* ---- the OpenAPI document ---- */

// biome-ignore lint/suspicious/noExplicitAny: any part of the document
const committed: any = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8'));

const THE_TWELVE = [
  'get /cases/{caseId}/address-book',
  'post /cases/{caseId}/address-book/entry',
  'patch /cases/{caseId}/address-book/entry/{entryID}',
  'get /cases/{caseId}/interactions',
  'post /cases/{caseId}/interactions',
  'patch /cases/{caseId}/interactions/{interactionId}',
  'get /cases/{caseId}/invoices',
  'post /cases/{caseId}/invoices',
  'patch /cases/{caseId}/invoices/{invoiceId}',
  'post /cases/{caseId}/appointments',
  'patch /cases/{caseId}/appointments/{appointmentID}',
  'delete /cases/{caseId}/appointments/{appointmentID}',
];

const ALTERNATIVE_FORMS = [
  'get /cases/{caseId}/address_book',
  'post /cases/{caseId}/address_book/entry',
  'patch /cases/{caseId}/address_book/entry/{entryID}',
  'post /cases/{caseId}/address_book/entry/{entryID}',
  'post /cases/{caseId}/address-book/entry/{entryID}',
  'post /cases/{caseId}/interactions/{interactionId}',
  'post /cases/{caseId}/invoices/{invoiceId}',
  'post /cases/{caseId}/appointments/{appointmentID}',
];

// biome-ignore lint/suspicious/noExplicitAny: any part of the document
const operations: [name: string, operation: any][] = Object.entries<Record<string, object>>(committed.paths).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation] as [string, object]),
);

// biome-ignore lint/suspicious/noExplicitAny: any part of the document
function resolve(part: any): any {
  if (!part?.$ref) return part;
  return (
    part.$ref
      .split('/')
      .slice(1)
      // biome-ignore lint/suspicious/noExplicitAny: any part of the document
      .reduce((at: any, key: string) => at[key], committed)
  );
}

test('/openapi.json is the document that is committed', async () => {
  const answer = await plain('/openapi.json');
  assert.equal(answer.status, 200);
  assert.match(String(answer.headers['content-type']), /^application\/json/);
  assert.deepEqual(answer.body, committed);
});

test('the document is OpenAPI 3.1 with a title, a version and a description', () => {
  assert.match(committed.openapi, /^3\.1\.\d+$/);
  for (const member of ['title', 'version', 'description']) assert.ok(committed.info[member], member);
});

const isAddition = ({ tags }: { tags: string[] }) =>
  /^(Additions|Management|Operator|OAuth|Webhooks)/.test(tags[0] ?? '');

test('the document lists the twelve operations and their alternative forms, and nothing else in their groups', () => {
  const own = operations.filter(([, operation]) => !isAddition(operation));
  const listed = own.map(([name]) => name).filter((name) => name.includes('/cases/'));
  assert.deepEqual(listed.toSorted(), [...THE_TWELVE, ...ALTERNATIVE_FORMS].sort());
});

test('every operation has an operationId of its own', () => {
  const ids = operations.map(([, operation]) => operation.operationId);
  assert.ok(ids.every((id) => /^[A-Za-z]\w*$/.test(id)));
  assert.equal(new Set(ids).size, ids.length);
});

for (const [name, operation] of operations.filter(([, operation]) => !isAddition(operation))) {
  test(`${name} is described in full`, () => {
    for (const member of ['summary', 'description', 'operationId']) assert.ok(operation[member]?.length > 3, member);
    assert.ok(operation.tags.length > 0);
    const schemes = operation.security.flatMap(Object.keys);
    const kinds = schemes.map((scheme: string) => {
      const { type, scheme: kind } = committed.components.securitySchemes[scheme];
      return [type, kind];
    });
    assert.deepEqual(kinds, [
      ['http', 'bearer'],
      ['oauth2', undefined],
    ]);
    for (const status of ['400', '401', '403', '404', '413', '429', '500']) {
      const response = resolve(operation.responses[status]);
      assert.ok(response?.description, status);
      assert.ok(response.content['application/problem+json'].schema, status);
    }
    const success = resolve(operation.responses['200']);
    assert.ok(success.description);
    assert.ok(success.content['application/json'].schema);
  });

  test(`${name} declares each parameter of its path`, () => {
    const inPath = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
    const declared = (operation.parameters ?? [])
      .map(resolve)
      .filter((parameter: { in: string }) => parameter.in === 'path');
    assert.deepEqual(declared.map((parameter: { name: string }) => parameter.name).sort(), inPath.sort());
    for (const parameter of declared) {
      assert.equal(parameter.required, true);
      assert.equal(parameter.schema.type, 'string');
    }
  });

  test(`${name} has a body where it takes one, and schemas that are JSON Schema`, () => {
    const takesBody = /^(post|patch)/.test(name);
    if (!isAddition(operation)) assert.equal(operation.requestBody !== undefined, takesBody);
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const contents = [operation.requestBody, ...Object.values(operation.responses)].filter(Boolean).map(resolve);
    for (const { content } of contents) {
      for (const { schema } of Object.values<{ schema: object }>(content)) ajv.compile(resolve(schema));
    }
  });
}

test('every reference of the document leads somewhere', () => {
  const targets = [...JSON.stringify(committed).matchAll(/"\$ref":"([^"]+)"/g)].map(([, target = '']) => target);
  assert.ok(targets.length > 0);
  for (const $ref of new Set(targets)) assert.ok(resolve({ $ref }), $ref);
});

test('the filter of operation 7 is documented as an optional query parameter', () => {
  const [parameter] = committed.paths['/cases/{caseId}/invoices'].get.parameters.filter(
    (candidate: { in: string }) => candidate.in === 'query',
  );
  assert.equal(parameter.name, 'show_cancelled_items');
  assert.notEqual(parameter.required, true);
});

test('the body of the POST that may delete is optional, every other body required', () => {
  for (const [name, operation] of operations) {
    const { requestBody } = operation;
    if (!requestBody || isAddition(operation)) continue;
    assert.equal(requestBody.required ?? false, name !== 'post /cases/{caseId}/appointments/{appointmentID}', name);
  }
});

/* ---- the pages ---- */

async function page(path: string): Promise<Answer> {
  const answer = await plain(path);
  const location = answer.headers.location;
  return answer.status >= 300 && answer.status < 400 && typeof location === 'string' ? page(location) : answer;
}

const references = (html: string) =>
  [...html.matchAll(/\s(?:src|href|srcset|action|data|poster)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/gi)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  );

test('/docs is a page of HTML', async () => {
  const answer = await page('/docs');
  assert.equal(answer.status, 200);
  assert.match(String(answer.headers['content-type']), /^text\/html/);
  assert.match(answer.text, /<html|<!doctype/i);
});

test('/docs asks for nothing from another host', async () => {
  const { text } = await page('/docs');
  const outside = references(text).filter((reference) => new URL(reference, app.baseUrl).origin !== app.baseUrl);
  assert.deepEqual(
    outside.filter((reference) => !reference.startsWith('data:')),
    [],
  );
  assert.ok(references(text).length > 0);
});

test('/docs tells the browser to load nothing from another host', async () => {
  const { headers } = await page('/docs');
  const policy = String(headers['content-security-policy']);
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /https?:|\*/);
});

test('everything that /docs refers to is there', async () => {
  const { text } = await page('/docs');
  for (const reference of references(text).filter((candidate) => !candidate.startsWith('data:'))) {
    const address = new URL(reference, new URL('/docs/', app.baseUrl));
    const answer = await plain(address.pathname + address.search);
    assert.equal(answer.status, 200, reference);
  }
});

test('/docs shows the document of this service', async () => {
  const { text } = await page('/docs');
  assert.match(text, /openapi\.json|Case Records/);
});
