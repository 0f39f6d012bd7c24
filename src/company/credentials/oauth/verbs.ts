import { timingSafeEqual } from 'node:crypto';
import { isUuid, newId } from '../../../kernel/ids.ts';
import { toSql } from '../../../kernel/time/time.ts';
import type { AdminContext } from '../../admin-context.ts';
import { newToken, secretHash } from '../secrets.ts';
import * as sql from './statements.sql.ts';

/** OAuth 2.0: client credentials (RFC 6749) and revocation (RFC 7009). */

const PRUNE_AFTER = { hours: 24 };

export type OAuthErrorCode = 'invalid_request' | 'invalid_client' | 'unsupported_grant_type' | 'invalid_scope';

/** The words are RFC 6749's; its description takes plain ASCII without quotes. */
export class OAuthError extends Error {
  readonly code: OAuthErrorCode;

  constructor(code: OAuthErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

export type ClientCredentials = { id: string; secret: string };

export type Client = { company_id: string; id: string; scopes: string[]; secret_sha256: Buffer };

export type IssuedToken = { access_token: string; token_type: 'Bearer'; expires_in: number; scope: string };

// Compared with where there is no such client: an unknown one takes the same steps as a wrong secret.
const UNKNOWN_CLIENT_HASH = Buffer.alloc(32);

export async function authenticateClient({ db }: AdminContext, { id, secret }: ClientCredentials): Promise<Client> {
  const client = isUuid(id) ? await db.queryFirst<Client>(sql.findClient, [id]) : undefined;
  const right = timingSafeEqual(client?.secret_sha256 ?? UNKNOWN_CLIENT_HASH, secretHash(secret));
  if (!client || !right) throw invalidClient();
  return client;
}

/** `scope`: words that are to be granted; all that the client may have where it is undefined. */
export async function issueToken(
  { db, clock, tokenSeconds }: AdminContext & { tokenSeconds: number },
  client: Client,
  scope: string | undefined,
): Promise<IssuedToken> {
  const wanted = scope === undefined ? client.scopes : scope.split(' ');
  const unknown = wanted.find((word) => !client.scopes.includes(word));
  if (unknown !== undefined)
    throw new OAuthError('invalid_scope', 'The client may not have every scope that it asks for.');
  const scopes = client.scopes.filter((word) => wanted.includes(word));
  const token = newToken();
  const now = clock();
  const issued = await db.queryFirst(sql.insertToken, [
    client.company_id,
    client.id,
    client.secret_sha256,
    newId(),
    secretHash(token),
    scopes,
    toSql(now.add({ seconds: tokenSeconds })),
    toSql(now),
    toSql(now.subtract(PRUNE_AFTER)),
  ]);
  if (!issued) throw invalidClient();
  return { access_token: token, token_type: 'Bearer', expires_in: tokenSeconds, scope: scopes.join(' ') };
}

/** A token of another client, or none at all, is left as it is. */
export async function revokeToken({ db, clock }: AdminContext, client: Client, token: string): Promise<void> {
  await db.queryRows(sql.revokeToken, [client.company_id, client.id, secretHash(token), toSql(clock())]);
}

const invalidClient = () =>
  new OAuthError('invalid_client', 'The client is unknown or disabled, or its secret is not the right one.');
