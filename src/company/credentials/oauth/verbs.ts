import { timingSafeEqual } from 'node:crypto';
import { isUuid, newId } from '../../../kernel/ids.ts';
import { toSql } from '../../../kernel/time/time.ts';
import type { AdminContext } from '../../admin-context.ts';
import { digest, newToken } from '../secrets.ts';
import * as sql from './statements.sql.ts';

/** OAuth 2.0: client credentials (RFC 6749) and revocation (RFC 7009). */

const FORGOTTEN_AFTER = { hours: 24 };

export type RefusalCode = 'invalid_request' | 'invalid_client' | 'unsupported_grant_type' | 'invalid_scope';

/** The words are RFC 6749's; its description takes plain ASCII without quotes. */
export class Refusal extends Error {
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}

export type Credentials = { id: string; secret: string };

export type Client = { company_id: string; id: string; scopes: string[]; secret_sha256: Buffer };

export type Grant = { access_token: string; token_type: 'Bearer'; expires_in: number; scope: string };

// Compared with where there is no such client: an unknown one takes the same steps as a wrong secret.
const NOBODY = Buffer.alloc(32);

export async function authenticateClient({ db }: AdminContext, { id, secret }: Credentials): Promise<Client> {
  const client = isUuid(id) ? await db.queryFirst<Client>(sql.findClient, [id]) : undefined;
  const right = timingSafeEqual(client?.secret_sha256 ?? NOBODY, digest(secret));
  if (!client || !right) throw refusedClient();
  return client;
}

/** `scope`: words that are to be granted; all that the client may have where it is undefined. */
export async function issueToken(
  { db, clock, tokenSeconds }: AdminContext & { tokenSeconds: number },
  client: Client,
  scope: string | undefined,
): Promise<Grant> {
  const wanted = scope === undefined ? client.scopes : scope.split(' ');
  const unknown = wanted.find((word) => !client.scopes.includes(word));
  if (unknown !== undefined)
    throw new Refusal('invalid_scope', 'The client may not have every scope that it asks for.');
  const scopes = client.scopes.filter((word) => wanted.includes(word));
  const token = newToken();
  const now = clock();
  const issued = await db.queryFirst(sql.insertToken, [
    client.company_id,
    client.id,
    client.secret_sha256,
    newId(),
    digest(token),
    scopes,
    toSql(now.add({ seconds: tokenSeconds })),
    toSql(now),
    toSql(now.subtract(FORGOTTEN_AFTER)),
  ]);
  if (!issued) throw refusedClient();
  return { access_token: token, token_type: 'Bearer', expires_in: tokenSeconds, scope: scopes.join(' ') };
}

/** A token of another client, or none at all, is left as it is. */
export async function revokeToken({ db, clock }: AdminContext, client: Client, token: string): Promise<void> {
  await db.queryRows(sql.revokeToken, [client.company_id, client.id, digest(token), toSql(clock())]);
}

const refusedClient = () =>
  new Refusal('invalid_client', 'The client is unknown or disabled, or its secret is not the right one.');
