import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Executor } from '../../kernel/database/database.ts';
import {
  IdempotencyKeyReusedError,
  InvalidRequestError,
  invalidRequest,
  NotFoundError,
  RequestInProgressError,
} from '../../kernel/errors.ts';
import type { ByteaText } from '../../kernel/sql/inputs.ts';
import { type Clock, toSql } from '../../kernel/time/time.ts';
import { Type } from '../../kernel/validation/type.ts';
import { findResponse, lockKey, storeResponse } from './idempotency.sql.ts';
import { problemOf } from './problems.ts';
import { RETENTION } from './response-retention.ts';
import { decodeBody, encodeBody, type StoredBody, type StoredResponse } from './stored-response.ts';

/** draft-ietf-httpapi-idempotency-key-header: a write with a key is performed once, however often it is sent. */

const KEY = /^[\x21-\x7e]{1,255}$/;

export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Makes a retry safe: the first response is stored for 24 hours and returned again, with ' +
        '`Idempotency-Replayed: true`.',
      examples: ['7f1c2f9e-6a38-4f0e-9f0b-1d7a5a3c9b11'],
    }),
  ),
});

export const isWrite = (method: string): boolean => ['POST', 'PATCH', 'PUT', 'DELETE'].includes(method);

/** Returns the key of a write; undefined if it has none. */
export function idempotencyKey({ method, headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined || !isWrite(method)) return undefined;
  if (typeof key === 'string' && KEY.test(key)) return key;
  throw invalidRequest([
    { field: 'Idempotency-Key', code: 'format', message: 'the header must be 1 to 255 visible ASCII characters' },
  ]);
}

/** What identifies a request with a key, and the row of its response. */
type KeyedRequest = {
  company_id: string;
  credential_id: string;
  key_sha256: ByteaText;
  request_sha256: ByteaText;
};

export function keyedRequest(request: FastifyRequest, key: string): KeyedRequest {
  const { caller } = request;
  if (!caller) throw new Error('An operation was reached without a caller.');
  const { company, credential } = caller;
  return {
    company_id: company.id,
    credential_id: credential.id,
    key_sha256: sha256(key),
    request_sha256: fingerprint(request),
  };
}

/**
 * Performs the write and stores its response in one transaction, so that a crash leaves both or neither. Rejections of
 * the request are stored too. Other errors are not, because the request may succeed when it is sent again.
 */
export function runOnce(
  request: FastifyRequest,
  key: string,
  { db, clock }: { db: Executor; clock: Clock },
  work: (db: Executor) => Promise<StoredResponse>,
): Promise<StoredResponse> {
  const { company_id, credential_id, key_sha256, request_sha256 } = keyedRequest(request, key);
  const rowKey = { company_id, credential_id, key_sha256 };
  const now = clock();
  const expired_at = toSql(now.subtract(RETENTION));
  const { authorization, cookie } = request.headers;
  const callerSecret = `${authorization ?? cookie} ${key}`;
  return db.transaction(async (transaction) => {
    const row = await transaction.queryFirst<{ locked: boolean }>(lockKey({ credential_id, key_sha256 }));
    if (!row?.locked) throw new RequestInProgressError('A request with this Idempotency-Key is in progress.');
    const stored = await transaction.queryFirst<StoredRow>(findResponse({ ...rowKey, expired_at }));
    if (stored) return replay(stored, request_sha256, callerSecret);
    const response = await responseOrRejection(request, transaction, work);
    const saved = await transaction.queryFirst(
      storeResponse({
        ...rowKey,
        expired_at,
        request_sha256,
        status: response.status,
        headers: JSON.stringify(response.headers),
        ...encodeBody(response, callerSecret),
        now: toSql(now),
      }),
    );
    if (!saved) throw new Error('Two requests stored a response under the same Idempotency-Key.');
    return response;
  });
}

type StoredRow = StoredBody & {
  request_sha256: Buffer;
  status: number;
  headers: Record<string, string>;
  etag: string | null;
};

function replay(stored: StoredRow, requestSha256: ByteaText, callerSecret: string): StoredResponse {
  if (`\\x${stored.request_sha256.toString('hex')}` !== requestSha256) {
    throw new IdempotencyKeyReusedError('This Idempotency-Key belongs to another request.');
  }
  const body = decodeBody(stored, callerSecret);
  if (body === undefined) {
    throw new IdempotencyKeyReusedError(
      'The first response contained a secret; it is returned only to the token that received it.',
    );
  }
  const etag = stored.etag === null ? {} : { etag: stored.etag };
  return { status: stored.status, headers: { ...stored.headers, ...etag, 'idempotency-replayed': 'true' }, body };
}

/** A rejection rolls back what `work` has written, but not the transaction that stores the response. */
async function responseOrRejection(
  request: FastifyRequest,
  transaction: Executor,
  work: (db: Executor) => Promise<StoredResponse>,
): Promise<StoredResponse> {
  try {
    return await transaction.transaction(work);
  } catch (error) {
    if (error instanceof InvalidRequestError || error instanceof NotFoundError) return problemOf(request, error);
    throw error;
  }
}

const fingerprint = ({ method, url, body }: FastifyRequest): ByteaText => {
  const target = `${method} ${url}\n`;
  return sha256(body instanceof Buffer ? Buffer.concat([Buffer.from(target), body]) : target);
};

const sha256 = (bytes: string | Buffer): ByteaText => `\\x${hash('sha256', bytes, 'hex')}`;
