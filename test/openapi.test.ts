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

const NAMED = [
  ...['AddressBookEntry', 'Interaction', 'Invoice', 'InvoiceItem', 'Appointment', 'Payment', 'Message', 'Meeting'],
  ...['AddressBookEntryBody', 'InteractionBody', 'CreateInvoiceBody', 'CreateAppointmentBody', 'Problem', 'Fault'],
  ...['Company', 'Case', 'Customer', 'Adviser', 'ApiKey', 'ApiClient', 'WebhookEndpoint', 'AuditEvent'],
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

test('/openapi.json is the document that is committed, with the address of this service', async () => {
  const answer = await plain('/openapi.json');
  assert.equal(answer.status, 200);
  assert.match(String(answer.headers['content-type']), /^application\/json/);
  const expected = structuredClone({ ...committed, servers: [{ url: app.baseUrl }] });
  expected.components.securitySchemes.oauth2.flows.clientCredentials.tokenUrl = `${app.baseUrl}/oauth/token`;
  assert.deepEqual(answer.body, expected);
});

test('the document is smaller than 500 kB, as it is committed and as it is served', async () => {
  const answer = await plain('/openapi.json');
  for (const text of [readFileSync(new URL('../openapi.json', import.meta.url), 'utf8'), answer.text]) {
    assert.ok(Buffer.byteLength(text) < 500_000, String(Buffer.byteLength(text)));
  }
});

test('the document is OpenAPI 3.1 with a title, a version and a description', () => {
  assert.match(committed.openapi, /^3\.1\.\d+$/);
  for (const member of ['title', 'version', 'description']) assert.ok(committed.info[member], member);
});

const isAddition = (operation: { 'x-specified'?: true }) => !operation['x-specified'];

test('exactly the twelve operations are marked as specified, and they name their alternative forms', () => {
  const marked = operations.filter(([, operation]) => !isAddition(operation));
  assert.deepEqual(marked.map(([name]) => name).toSorted(), THE_TWELVE.toSorted());
  const forms = marked.flatMap(([, operation]): string[] => operation['x-alternatives'] ?? []);
  const lowerCase = forms.map((form) => form.replace(/^\w+/, (method) => method.toLowerCase()));
  assert.deepEqual([...new Set(lowerCase)].toSorted(), ALTERNATIVE_FORMS.toSorted());
});

test('an alternative form is told in the description, and is no operation of its own', () => {
  for (const [name, operation] of operations) {
    for (const form of operation['x-alternatives'] ?? []) {
      assert.ok(operation.description.includes(`\`${form}\``), `${name}: ${form}`);
      const [method, path] = form.split(' ');
      assert.equal(committed.paths[path]?.[method.toLowerCase()], undefined, form);
    }
  }
});

test('every operation has an operationId of its own, without a number at its end', () => {
  const ids = operations.map(([, operation]) => operation.operationId);
  for (const id of ids) assert.match(id, /^[a-z][A-Za-z]*$/);
  assert.equal(new Set(ids).size, ids.length);
});

test('records, bodies, problems and faults are named components', () => {
  const names = Object.keys(committed.components.schemas);
  for (const name of NAMED) assert.ok(names.includes(name), name);
});

/** Calls `visit` with every schema below a part of the document, and whether it is a component. */
// biome-ignore lint/suspicious/noExplicitAny: any part of the document
function visitSchemas(part: any, visit: (schema: any, path: string) => void, path = ''): void {
  if (typeof part !== 'object' || part === null) return;
  if (!Array.isArray(part) && (part.type !== undefined || part.anyOf || part.$ref)) visit(part, path);
  for (const [key, value] of Object.entries(part)) {
    if (!['examples', 'example', 'default', 'enum'].includes(key)) visitSchemas(value, visit, `${path}/${key}`);
  }
}

test('no object is described twice', () => {
  const places = new Map<string, string>();
  visitSchemas({ paths: committed.paths, components: committed.components }, (schema, path) => {
    if (!schema.properties || [schema.type].flat()[0] !== 'object') return;
    const { description, ...shape } = schema;
    const text = JSON.stringify(shape);
    assert.equal(places.get(text), undefined, `${path} repeats ${places.get(text)}`);
    places.set(text, path);
  });
  assert.ok(places.size > 60);
});

test('every component is used, and every tag is declared, used and in one group', () => {
  const text = JSON.stringify(committed);
  for (const [kind, components] of Object.entries<object>(committed.components)) {
    if (kind === 'securitySchemes') continue;
    for (const name in components) assert.ok(text.includes(`"#/components/${kind}/${name}"`), `${kind}/${name}`);
  }
  const declared = committed.tags.map(({ name }: { name: string }) => name);
  const used = new Set(operations.flatMap(([, { tags }]): string[] => tags));
  assert.deepEqual([...used].toSorted(), declared.toSorted());
  assert.deepEqual(
    committed['x-tagGroups'].flatMap((group: { tags: string[] }) => group.tags),
    declared,
  );
});

test('the groups of the specified operations come first, and no group is called an addition', () => {
  const declared = committed.tags.map(({ name }: { name: string }) => name);
  assert.deepEqual(declared.slice(0, 4), ['Address book', 'Interactions', 'Invoices', 'Appointments']);
  assert.doesNotMatch(declared.join(), /addition/i);
});

test('every example is valid', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  visitSchemas(committed.components.schemas, (schema, path) => {
    const validate = schema.examples && ajv.compile({ ...schema, components: committed.components });
    for (const example of schema.examples ?? []) assert.ok(validate(example), `${path}: ${JSON.stringify(example)}`);
  });
});

test('generators that make a type of each component find different names', () => {
  const names = Object.values(committed.components as Record<string, object>).flatMap((kind) => Object.keys(kind));
  const types = names.map((name) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, ''));
  assert.deepEqual(
    types.filter((type, i) => types.indexOf(type) !== i),
    [],
  );
});

test('an optional parameter has no example, which a reference page would send', () => {
  const all = [...Object.values(committed.components.parameters), ...operations.flatMap(([, one]) => one.parameters)];
  for (const parameter of all.filter(Boolean).map(resolve)) {
    if (parameter.required) continue;
    assert.equal(
      parameter.example ?? parameter.examples ?? resolve(parameter.schema).examples,
      undefined,
      parameter.name,
    );
  }
});

test('a specified operation without a body has the header that the specification demands', () => {
  for (const [name, operation] of operations) {
    const header = (operation.parameters ?? [])
      .map(resolve)
      .find((one: { name: string }) => one.name === 'Content-Type');
    assert.equal(header !== undefined, !isAddition(operation) && !operation.requestBody, name);
    if (header)
      assert.deepEqual([header.in, header.required, header.schema.enum], ['header', true, ['application/json']]);
  }
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
      ['apiKey', undefined],
    ]);
    for (const status of ['400', '401', '403', '404', '413', '429', '500']) {
      const response = resolve(operation.responses[status] ?? operation.responses.default);
      assert.ok(response?.description, status);
      assert.ok(operation.responses[status] || response.description.includes(`- ${status}: `), status);
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
      for (const { schema } of Object.values<{ schema: { $ref?: string } }>(content)) {
        ajv.compile({ ...schema, components: committed.components });
      }
    }
  });
}

test('every reference of the document leads somewhere', () => {
  const targets = [...JSON.stringify(committed).matchAll(/"\$ref":"([^"]+)"/g)].map(([, target = '']) => target);
  assert.ok(targets.length > 0);
  for (const $ref of new Set(targets)) assert.ok(resolve({ $ref }), $ref);
});

test('the filter of operation 7 is documented as an optional query parameter', () => {
  const [parameter] = committed.paths['/cases/{caseId}/invoices'].get.parameters
    .map(resolve)
    .filter((candidate: { in: string }) => candidate.in === 'query');
  assert.equal(parameter.name, 'show_cancelled_items');
  assert.notEqual(parameter.required, true);
});

test('every body of a specified operation is required', () => {
  for (const [name, { requestBody }] of operations.filter(([, operation]) => !isAddition(operation))) {
    if (requestBody) assert.equal(requestBody.required, true, name);
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
    const address = new URL(reference, new URL('/docs', app.baseUrl));
    const answer = await plain(address.pathname + address.search);
    assert.equal(answer.status, 200, reference);
  }
});

test('/docs shows the document of this service', async () => {
  const { text } = await page('/docs');
  assert.match(text, /openapi\.json|Case Records/);
});
