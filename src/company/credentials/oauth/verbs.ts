import { timingSafeEqual } from 'node:crypto';
import { isUuid, newId } from '../../../kernel/ids.ts';
import { toSql } from '../../../kernel/time/time.ts';
import type { AdminContext } from '../../admin-context.ts';
import { newToken, secretHash } from '../secrets.ts';
import * as sql from './statements.sql.ts';

/** OAuth 2.0: the client credentials grant (RFC 6749) and token revocation (RFC 7009). */

const PRUNE_AFTER = { hours: 24 };

type OAuthErrorCode = 'invalid_request' | 'invalid_client' | 'unsupported_grant_type' | 'invalid_scope';

/** An error with a code of RFC 6749, which allows only ASCII without quotes in the description. */
export class OAuthError extends Error {
  readonly code: OAuthErrorCode;

  constructor(code: OAuthErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

export type ClientCredentials = { id: string; secret: string };

export type Client = { company_id: string; id: string; scopes: string[]; secret_sha256: Buffer };

type IssuedToken = { access_token: string; token_type: 'Bearer'; expires_in: number; scope: string };

// An unknown client is compared with this hash, so that it takes as long to reject as a wrong secret.
const UNKNOWN_CLIENT_HASH = Buffer.alloc(32);

export async function authenticateClient({ db }: AdminContext, { id, secret }: ClientCredentials): Promise<Client> {
  const client = isUuid(id) ? await db.queryFirst<Client>(sql.findClient({ id })) : undefined;
  const secretMatches = timingSafeEqual(client?.secret_sha256 ?? UNKNOWN_CLIENT_HASH, secretHash(secret));
  if (!client || !secretMatches) throw invalidClient();
  return client;
}

/**
 * `scope` lists the requested scopes, separated by spaces; if it is undefined, all scopes of the client are granted.
 */
export async function issueToken(
  { db, clock, tokenSeconds }: AdminContext & { tokenSeconds: number },
  client: Client,
  scope: string | undefined,
): Promise<IssuedToken> {
  const requested = scope === undefined ? client.scopes : scope.split(' ');
  const unknown = requested.find((word) => !client.scopes.includes(word));
  if (unknown !== undefined)
    throw new OAuthError('invalid_scope', 'The client does not have every scope that it requests.');
  const scopes = client.scopes.filter((word) => requested.includes(word));
  const token = newToken();
  const now = clock();
  const issued = await db.queryFirst(
    sql.insertToken({
      company_id: client.company_id,
      client_id: client.id,
      client_secret_sha256: client.secret_sha256,
      id: newId(),
      secret_sha256: secretHash(token),
      scopes,
      expires_at: toSql(now.add({ seconds: tokenSeconds })),
      now: toSql(now),
      prune_before: toSql(now.subtract(PRUNE_AFTER)),
    }),
  );
  if (!issued) throw invalidClient();
  return { access_token: token, token_type: 'Bearer', expires_in: tokenSeconds, scope: scopes.join(' ') };
}

/** Ignores a token that is unknown or belongs to another client. */
export async function revokeToken({ db, clock }: AdminContext, client: Client, token: string): Promise<void> {
  await db.queryRows(
    sql.revokeToken({
      company_id: client.company_id,
      client_id: client.id,
      secret_sha256: secretHash(token),
      now: toSql(clock()),
    }),
  );
}

const invalidClient = () =>
  new OAuthError('invalid_client', 'The client is unknown or disabled, or its secret is wrong.');
