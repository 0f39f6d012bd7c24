import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { scopesOfRole } from '../src/company/credentials/users/roles.ts';
import { COMPANY_SCOPES } from '../src/kernel/scopes.ts';
import { startApp } from './harness/app.ts';
import { assertProblem, assertRefused, ok } from './harness/assert.ts';
import { signIn } from './harness/people.ts';

const app = await startApp();
const company = await app.company();
const other = await app.company();

const body = (fields: object = {}) => ({
  email: `${randomUUID()}@company.example`,
  name: 'Una User',
  role: 'reader',
  ...fields,
});
const faults = (answer: { status: number; body: { errors: { field: string; code: string }[] }; text: string }) => {
  assert.equal(answer.status, 400, answer.text);
  return answer.body.errors.map(({ field, code }) => `${field}: ${code}`);
};
const activate = (id: string) =>
  app.sql(`UPDATE users SET state = 'active', activated_at = created_at WHERE id = $1`, [id]);

test('an invited user has what was sent, and appears in the list', async () => {
  const sent = body({ email: 'Olivia@company.example', name: 'Olivia', role: 'bookkeeper' });
  const user = await ok(company.post('/manage/users', sent));
  assert.deepEqual(
    { email: user.email, name: user.name, role: user.role, state: user.state, adviser_id: user.adviser_id },
    { ...sent, state: 'invited', adviser_id: null },
  );
  assert.equal(user.created_by.type, 'key');
  assert.deepEqual(await ok(company.get('/manage/users?search=OLIVIA')), [user]);
  assert.deepEqual(await ok(company.get(`/manage/users/${user.id}`)), user);
});

test('all faults of an invitation are in one response', async () => {
  const taken = body();
  await ok(company.post('/manage/users', taken));
  const answer = await company.post(
    '/manage/users',
    body({ email: taken.email.toUpperCase(), role: 'king', name: ' ', adviser_id: randomUUID() }),
  );
  assert.deepEqual(faults(answer).sort(), [
    'adviser_id: unknown',
    'email: taken',
    'name: too_short',
    'role: not_allowed',
  ]);
});

test('an address that another company uses is not taken, so nobody learns of it', async () => {
  const sent = body();
  await ok(other.post('/manage/users', sent));
  await ok(company.post('/manage/users', sent));
});

test('an adviser opens a case and adds a customer, and reads what booking an appointment needs', async () => {
  const adviser = await signIn(app, company, { role: 'adviser' });
  const opened = await ok(adviser.post('/manage/cases', { reference: 'Opened by an adviser' }));
  await ok(adviser.patch(`/manage/cases/${opened.id}`, { reference: 'Changed by an adviser' }));
  const customers = `/manage/cases/${opened.id}/customers`;
  await ok(adviser.post(customers, { first_name: 'Ann', last_name: 'Smith' }));
  for (const path of ['advisers', 'case-kinds', 'customers', 'custom-tags']) await ok(adviser.get(`/manage/${path}`));
  assertProblem(await adviser.post('/manage/case-kinds', { name: 'Wills' }), 403, 'insufficient_scope');
  const reader = await signIn(app, company, { role: 'reader' });
  await ok(reader.get(customers));
  assertProblem(await reader.post(customers, { first_name: 'Ann', last_name: 'Smith' }), 403, 'insufficient_scope');
});

test('an adviser of another company is unknown', async () => {
  const [adviser] = await ok(other.get('/manage/advisers'));
  assert.deepEqual(faults(await company.post('/manage/users', body({ adviser_id: adviser.id }))), [
    'adviser_id: unknown',
  ]);
});

test('an update changes what it sends; null clears the adviser', async () => {
  const [adviser] = await ok(company.get('/manage/advisers'));
  const user = await ok(company.post('/manage/users', body({ adviser_id: adviser.id })));
  const path = `/manage/users/${user.id}`;
  const renamed = await ok(company.patch(path, { name: 'Una Other' }));
  assert.deepEqual([renamed.name, renamed.role, renamed.adviser_id], ['Una Other', 'reader', adviser.id]);
  const cleared = await ok(company.patch(path, { adviser_id: null, role: 'adviser' }));
  assert.deepEqual([cleared.name, cleared.role, cleared.adviser_id], ['Una Other', 'adviser', null]);
});

test('the history of a user names each change', async () => {
  const user = await ok(company.post('/manage/users', body()));
  const path = `/manage/users/${user.id}`;
  await ok(company.patch(path, { role: 'bookkeeper' }));
  await ok(company.post(`${path}/disable`));
  await ok(company.post(`${path}/disable`));
  await ok(company.post(`${path}/enable`));
  const events: { type: string; changed: string[] | null }[] = await ok(company.get(`${path}/history`));
  assert.deepEqual(
    events.map(({ type }) => type),
    ['user.created', 'user.updated', 'user.disabled', 'user.enabled'],
  );
  assert.deepEqual(events[1]?.changed, ['role']);
});

test('the last owner keeps the role and cannot be disabled', async () => {
  const firm = await app.company();
  const owner = await ok(firm.post('/manage/users', body({ role: 'owner' })));
  const invited = await ok(firm.post('/manage/users', body({ role: 'owner' })));
  await activate(owner.id);
  // An owner who has not accepted the invitation cannot take over.
  assert.deepEqual(faults(await firm.patch(`/manage/users/${owner.id}`, { role: 'reader' })), ['role: invalid_state']);
  assert.deepEqual(faults(await firm.post(`/manage/users/${owner.id}/disable`)), ['state: invalid_state']);
  await ok(firm.patch(`/manage/users/${owner.id}`, { role: 'owner', name: 'Same' }));
  await activate(invited.id);
  await ok(firm.patch(`/manage/users/${owner.id}`, { role: 'reader' }));
  assert.deepEqual(faults(await firm.post(`/manage/users/${invited.id}/disable`)), ['state: invalid_state']);
});

test('of two owners who are disabled concurrently, one stays', async () => {
  const firm = await app.company();
  const owners = [];
  for (let i = 0; i < 2; i++) {
    const owner = await ok(firm.post('/manage/users', body({ role: 'owner' })));
    await activate(owner.id);
    owners.push(owner);
  }
  const answers = await Promise.all(owners.map(({ id }) => firm.post(`/manage/users/${id}/disable`)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400]);
});

test('a caller gives only roles whose scopes it has', async () => {
  const users = await company.withScopes('users', ...scopesOfRole('reader'));
  const reader = await ok(users.post('/manage/users', body()));
  assert.deepEqual(faults(await users.post('/manage/users', body({ role: 'bookkeeper' }))), ['role: not_allowed']);
  assert.deepEqual(faults(await users.patch(`/manage/users/${reader.id}`, { role: 'owner' })), ['role: not_allowed']);
  const manage = await company.withScopes(...COMPANY_SCOPES.filter((scope) => scope !== 'users'));
  assert.equal((await manage.get('/manage/users')).status, 403);
});

test('the end of a credential lists the users that it invited, and ends them if asked to', async () => {
  const key = await ok(company.post('/manage/keys', { name: 'leaked', scopes: COMPANY_SCOPES }));
  const { caller } = await import('./harness/http.ts');
  const user = await ok(caller(app.baseUrl, key.key).post('/manage/users', body()));
  const revoked = await ok(company.delete(`/manage/keys/${key.id}`));
  assert.deepEqual(
    revoked.still_working.map(({ type, id }: { type: string; id: string }) => [type, id]),
    [['user', user.id]],
  );
  const { also_ended: ended } = await ok(company.delete(`/manage/keys/${key.id}?also=users`));
  assert.deepEqual([ended[0].id, ended[0].state], [user.id, 'disabled']);
  assert.equal((await ok(company.get(`/manage/users/${user.id}`))).state, 'disabled');
});

test('roles have the scopes that the page of sign-in says', () => {
  const reads = COMPANY_SCOPES.filter((scope) => scope.endsWith(':read'));
  assert.deepEqual([...scopesOfRole('owner')], [...COMPANY_SCOPES]);
  assert.deepEqual([...scopesOfRole('reader')], reads);
  assert.deepEqual(new Set(scopesOfRole('bookkeeper')), new Set([...reads, 'invoices:write']));
  for (const scope of ['manage', 'users', 'webhooks'] as const) assert.ok(!scopesOfRole('adviser').has(scope));
  assert.ok(scopesOfRole('adviser').has('appointments:write'));
});

test('a role is given back only by a caller who has its scopes', async () => {
  const company = await app.company();
  await ok(company.post('/manage/users', { name: 'Olivia', email: 'olivia@firm.example', role: 'owner' }));
  const { id } = await ok(company.post('/manage/users', { name: 'Otto', email: 'otto@firm.example', role: 'owner' }));
  await ok(company.post(`/manage/users/${id}/disable`));
  const caller = await company.withScopes('users');
  assertRefused(await caller.post(`/manage/users/${id}/enable`), { role: 'not_allowed' });
  await ok(company.post(`/manage/users/${id}/enable`));
});

test('users are ended with what invited them only by a caller who may end users', async () => {
  const company = await app.company();
  const { id } = await ok(company.post('/manage/keys', { name: 'site', scopes: ['manage'] }));
  const caller = await company.withScopes('manage');
  assertRefused(await caller.delete(`/manage/keys/${id}?also=users`), { also: 'not_allowed' });
  await ok(caller.delete(`/manage/keys/${id}?also=endpoints,keys,clients`));
});

test('ways to sign in are reset, and invitations repeated, only by a caller who has the scopes of the role', async () => {
  const company = await app.company();
  await signIn(app, company);
  const owner = await signIn(app, company);
  const invited = await ok(company.post('/manage/users', body({ role: 'owner' })));
  const caller = await company.withScopes('users');
  assertRefused(await caller.post(`/manage/users/${owner.userId}/reset-factors`), { role: 'not_allowed' });
  assertRefused(await caller.post(`/manage/users/${invited.id}/invitation`), { role: 'not_allowed' });
  await ok(owner.get('/session'));
  await ok(company.post(`/manage/users/${invited.id}/invitation`));
  await ok(company.post(`/manage/users/${owner.userId}/reset-factors`));
});

test('nobody else resets the ways to sign in of the last owner who can sign in', async () => {
  const company = await app.company();
  const owner = await signIn(app, company);
  await ok(company.post('/manage/users', body({ role: 'owner' })));
  const path = `/manage/users/${owner.userId}/reset-factors`;
  assertRefused(await company.post(path), { state: 'invalid_state' });
  await ok(owner.get('/session'));
  await ok(owner.post(path));
});

test('a caller with `users` alone neither ends nor sees keys, clients and endpoints of the user it ends', async () => {
  const company = await app.company();
  await signIn(app, company);
  const owner = await signIn(app, company);
  await ok(owner.post('/manage/keys', { name: 'secret project', scopes: ['manage'] }));
  const invited = await ok(owner.post('/manage/users', body()));
  const caller = await company.withScopes('users');
  const path = `/manage/users/${owner.userId}/disable`;
  for (const kind of ['endpoints', 'keys', 'clients']) {
    assertRefused(await caller.post(`${path}?also=${kind}`), { also: 'not_allowed' }, kind);
  }
  const { still_working: working } = await ok(caller.post(path));
  assert.deepEqual(
    working.map(({ id }: { id: string }) => id),
    [invited.id],
  );
});
