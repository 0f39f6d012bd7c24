import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { ALL_SCOPES, COMPANY_SCOPES } from '../src/kernel/scopes.ts';
import { startApp } from './harness/app.ts';
import type { Caller } from './harness/http.ts';
import { document } from './harness/openapi.ts';

const app = await startApp();
beforeEach(() => app.clock.advance({ minutes: 1 }));

type Operation = { security?: Record<string, string[]>[] };
type Scheme = {
  type?: string;
  flows?: { clientCredentials: { tokenUrl: string; scopes: Record<string, string> } };
};

const operations = Object.entries(document.paths).flatMap(([template, methods]) =>
  Object.entries(methods as Record<string, Operation>).map(([method, { security }]) => ({
    method: method.toUpperCase(),
    template,
    security,
  })),
);
const open = operations.filter(({ template }) => template.startsWith('/oauth/'));
/** The routes by which people begin a session. */
const signIn = operations.filter(
  ({ security }) => security?.length === 1 && Object.keys(security[0] ?? {}).length === 0,
);
/** The routes of people who sign in, which no token can call. */
const personal = operations.filter(({ security }) => 'session' in (security?.[0] ?? {}));
const guarded = operations.filter((operation) => ![...open, ...signIn, ...personal].includes(operation));

// Nothing exists at these paths, so an accepted request changes nothing.
const pathOf = (template: string) => template.replaceAll(/\{\w+\}/g, '0198c0de-0000-7000-8000-000000000000');

const callers = new Map<string, Caller>();
const company = await app.company();
for (const scope of ALL_SCOPES) callers.set(scope, await company.withScopes(scope));
callers.set('none', await company.withScopes());

test('every documented route asks for a scope, or for one of several, apart from the two of OAuth', () => {
  for (const { method, template, security } of guarded) {
    const [scheme, ...others] = security ?? [];
    assert.deepEqual(Object.keys(scheme ?? {}), ['bearer'], `${method} ${template}`);
    const scopes = scheme?.bearer ?? [];
    // No client and no user can have the scope operator.
    const clients = scopes[0] === 'operator' ? [] : [...scopes.map((scope) => ({ oauth2: [scope] })), { session: [] }];
    assert.deepEqual(others, clients, `${method} ${template}`);
    assert.ok(scopes.length > 0, `${method} ${template}`);
    for (const scope of scopes)
      assert.ok((ALL_SCOPES as readonly string[]).includes(scope), `${method} ${template}: ${scope}`);
  }
  assert.deepEqual(
    open.map(({ method, template, security }) => [method, template, security]),
    [
      ['POST', '/oauth/token', [{ client: [] }, {}]],
      ['POST', '/oauth/revoke', [{ client: [] }, {}]],
    ],
  );
});

test('only the routes of OAuth and of signing in need no credential', () => {
  for (const { method, template } of signIn) assert.match(`${method} ${template}`, /^POST \/sign-in\//);
  assert.ok(signIn.length > 0);
});

test('the document says where a client gets a token, and what each of its scopes allows', () => {
  const { securitySchemes } = (document as unknown as { components: { securitySchemes: Record<string, Scheme> } })
    .components;
  const { type, flows } = securitySchemes.oauth2 ?? {};
  assert.equal(type, 'oauth2');
  assert.deepEqual(Object.keys(flows ?? {}), ['clientCredentials']);
  const { tokenUrl, scopes } = flows?.clientCredentials ?? { tokenUrl: '', scopes: {} };
  assert.equal(tokenUrl, '/oauth/token');
  assert.ok(tokenUrl in document.paths);
  assert.deepEqual(Object.keys(scopes).sort(), COMPANY_SCOPES.toSorted());
  for (const description of Object.values(scopes)) assert.match(description, /\S/);
  assert.equal(new Set(Object.values(scopes)).size, COMPANY_SCOPES.length);
});

const reads = (...scopes: string[]) => ({ read: scopes, write: ['manage'] });
/** The management routes that need not `manage`, and what their reads and their writes need. */
const OTHER_ACCESS: [RegExp, { read: string[]; write: string[] }][] = [
  [/^\/manage\/companies/, { read: ['operator'], write: ['operator'] }],
  [/^\/manage\/users/, { read: ['users'], write: ['users'] }],
  [/^\/manage\/(cases|customers)/, { read: ['cases:read', 'manage'], write: ['cases:write', 'manage'] }],
  [/^\/manage\/case-kinds(\/\{kindId\})?$/, reads('cases:read', 'manage')],
  [/^\/manage\/advisers(\/\{adviserId\})?$/, reads('appointments:read', 'cases:read', 'manage')],
  [/^\/manage\/(custom|default)-tags/, reads('address_book:read', 'manage')],
];

test('the management routes ask for manage, except what people need who work with cases', () => {
  for (const { method, template, security } of guarded) {
    if (!template.startsWith('/manage')) continue;
    const wanted = OTHER_ACCESS.find(([pattern]) => pattern.test(template))?.[1] ?? reads('manage');
    assert.deepEqual(security?.[0], { bearer: method === 'GET' ? wanted.read : wanted.write }, `${method} ${template}`);
  }
});

for (const { method, template, security } of personal) {
  test(`${method} ${template} lets in no token`, async () => {
    assert.deepEqual(security, [{ session: [] }]);
    for (const [scope, caller] of callers) {
      const answer = await caller.send(method, pathOf(template), method === 'GET' ? undefined : {});
      assert.equal(answer.status, 403, `${scope}: ${answer.text}`);
      assert.equal(answer.body.code, 'insufficient_scope');
    }
    assert.equal((await app.anonymous.send(method, pathOf(template), {})).status, 401);
  });
}

for (const { method, template, security } of guarded) {
  const needed = security?.[0]?.bearer ?? [];
  test(`${method} ${template} lets in ${needed.join(' or ')} and no other scope`, async () => {
    const path = pathOf(template);
    for (const [scope, caller] of callers) {
      const answer = await caller.send(method, path, method === 'GET' ? undefined : {});
      if (needed.includes(scope)) {
        assert.ok([200, 400, 404].includes(answer.status), `${scope}: ${answer.status} ${answer.text}`);
      } else {
        assert.equal(answer.status, 403, `${scope}: ${answer.text}`);
        assert.equal(answer.body.code, 'insufficient_scope');
        assert.equal(
          answer.headers['www-authenticate'],
          `Bearer error="insufficient_scope", scope="${needed.join(' ')}"`,
        );
      }
    }
    assert.equal((await app.anonymous.send(method, path, {})).status, 401);
  });
}

test('an operator token is no key to the records of any company, not even its own', async () => {
  const operator = await company.withScopes('operator');
  assert.equal((await operator.get('/manage/company')).status, 403);
  assert.equal((await operator.get(`${company.path}/interactions`)).status, 403);
});

test('the additional operations require a Content-Type only if a body is sent', async () => {
  const none = { 'content-type': undefined };
  const client = await company.post('/manage/clients', { name: 'x', scopes: ['manage'] });
  assert.equal((await company.get('/manage/company', none)).status, 200);
  assert.equal((await company.post(`/manage/clients/${client.body.id}/disable`, undefined, none)).status, 200);
  const refused = await company.patch('/manage/company', '{}', { 'content-type': 'text/plain' });
  assert.equal(refused.status, 400);
  assert.equal(refused.body.errors[0].field, 'Content-Type');
  const absent = await company.patch('/manage/company', undefined, none);
  assert.deepEqual([absent.status, absent.body.errors[0].field], [400, 'body']);
});
