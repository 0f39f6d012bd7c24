import { COMPANY_SCOPES } from '../../src/kernel/scopes.ts';
import type { TestCompany } from './app.ts';
import { ok } from './assert.ts';
import { type Caller, caller } from './http.ts';
import { openWebhooks } from './webhooks.ts';

/** What a credential made ends with it. The clock does not move, so every used token stays in the cache of callers. */

export const { app, receiver, worker } = await openWebhooks();
export const KEYS = '/manage/keys';
export const CLIENTS = '/manage/clients';
export const ENDPOINTS = '/webhooks/endpoints';
export const ALL = 'also=endpoints,keys,clients';
export const SECRET_PATH = 'https://receiver.example:8443/hook/secret-path?token=secret-query';
export const UNKNOWN = '0198c0de-0000-7000-8000-000000000000';
export const FULL = { scopes: COMPANY_SCOPES };

export type Made = { type: string; id: string; name: string; state: string; changed_by: { id: string } | null };
export type Credential = { id: string; token: string; caller: Caller };

export const credential = (id: string, token: string): Credential => ({
  id,
  token,
  caller: caller(app.baseUrl, token),
});

export async function keyOf(maker: Caller, body: object = {}): Promise<Credential> {
  const { id, key } = await ok(maker.post(KEYS, { name: 'made', ...FULL, ...body }));
  return credential(id, key);
}

export async function tokenOf({ id, client_secret }: { id: string; client_secret: string }): Promise<Credential> {
  const grant = { grant_type: 'client_credentials', client_id: id, client_secret };
  return credential(id, (await ok(app.anonymous.post('/oauth/token', grant))).access_token);
}

export const clientOf = async (maker: Caller): Promise<Credential> =>
  tokenOf(await ok(maker.post(CLIENTS, { name: 'made', ...FULL })));

export const endpointOf = async (maker: Caller, body: object = {}): Promise<string> =>
  (await ok(maker.post(ENDPOINTS, { url: SECRET_PATH, types: ['*'], ...body }))).id;

export const revoke = (company: Caller, id: string, query = '') => ok(company.delete(`${KEYS}/${id}?${query}`));
export const idsOf = (made: Made[]) => made.map(({ id }) => id).sort();
export const ids = (...all: string[]) => all.sort();

export async function statesOf(company: TestCompany): Promise<Record<string, boolean>> {
  const rows = await app.sql<{ id: string; works: boolean }>(
    `SELECT id, revoked_at IS NULL AS works FROM tokens WHERE company_id = $1 AND client_id IS NULL
     UNION ALL SELECT id, disabled_at IS NULL FROM clients WHERE company_id = $1
     UNION ALL SELECT id, state <> 'disabled' AND removed_at IS NULL FROM webhook_endpoints WHERE company_id = $1`,
    [company.companyId],
  );
  return Object.fromEntries(rows.map(({ id, works }) => [id, works]));
}

/** leaked → client → key → endpoint, and something of each kind made by the leaked key itself. */
export async function leak(company: TestCompany) {
  const leaked = await keyOf(company, { name: 'leaked' });
  const client = await clientOf(leaked.caller);
  const key = await keyOf(client.caller);
  const far = await endpointOf(key.caller);
  const near = await endpointOf(leaked.caller);
  return { leaked, client, key, far, near };
}
