import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Database, Executor } from '../../kernel/database/database.ts';
import {
  IdempotencyKeyReusedError,
  InvalidRequestError,
  invalidRequest,
  NotFoundError,
  RequestInProgressError,
} from '../../kernel/errors.ts';
import { type Clock, toSql } from '../../kernel/time/time.ts';
import { findAnswer, keepAnswer, lockKey } from './idempotency.sql.ts';
import { problemOf } from './problems.ts';
import { decodeBody, encodeBody, type StoredBody, type StoredResponse } from './stored-response.ts';

/** RFC draft-ietf-httpapi-idempotency-key-header: a write that carries a key is done once, however often it is sent. */

const KEPT_FOR = { hours: 24 };
const KEY = /^[\x21-\x7e]{1,255}$/;

export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Makes a retry safe: the first answer is kept for 24 hours and given again, with `Idempotency-Replayed: true`.',
      examples: ['7f1c2f9e-6a38-4f0e-9f0b-1d7a5a3c9b11'],
    }),
  ),
});

export const isWrite = (method: string): boolean => ['POST', 'PATCH', 'PUT', 'DELETE'].includes(method);

/** The key that a write carries; undefined for most. */
export function idempotencyKey({ method, headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined || !isWrite(method)) return undefined;
  if (typeof key === 'string' && KEY.test(key)) return key;
  throw invalidRequest([
    { field: 'Idempotency-Key', code: 'format', message: 'the header must be 1 to 255 visible ASCII characters' },
  ]);
}

/**
 * The write and its answer are one transaction: a crash leaves both or neither. Refusals are kept as well, faults of
 * ours are not: a request that failed because of them is to be sent again.
 */
export function runOnce(
  request: FastifyRequest,
  key: string,
  { db, clock }: { db: Database; clock: Clock },
  work: (db: Executor) => Promise<StoredResponse>,
): Promise<StoredResponse> {
  const { caller } = request;
  if (!caller) throw new Error('An operation was reached without a caller.');
  const place = [caller.company.id, caller.credential.id, sha256(key)];
  const now = clock();
  const since = toSql(now.subtract(KEPT_FOR));
  const secret = `${request.headers.authorization} ${key}`;
  return db.transaction(async (transaction) => {
    const lock = sha256(`${place[0]} ${place[1]} ${key}`).readBigInt64BE();
    const held = await transaction.queryFirst<{ free: boolean }>(lockKey, [lock]);
    if (!held?.free) throw new RequestInProgressError('A request with this Idempotency-Key is under way.');
    const kept = await transaction.queryFirst<Kept>(findAnswer, [...place, since]);
    if (kept) return replay(kept, request, secret);
    const answer = await answerOrRefusal(request, transaction, work);
    const { body, sealed_body } = encodeBody(answer, secret);
    const headers = JSON.stringify(answer.headers);
    const values = [...place, since, fingerprint(request), answer.status, headers, body, sealed_body, toSql(now)];
    if (!(await transaction.queryFirst(keepAnswer, values)))
      throw new Error('An answer was kept by two requests at once.');
    return answer;
  });
}

type Kept = StoredBody & { request_sha256: Buffer; status: number; headers: Record<string, string> };

function replay(kept: Kept, request: FastifyRequest, secret: string): StoredResponse {
  if (!kept.request_sha256.equals(fingerprint(request))) {
    throw new IdempotencyKeyReusedError('This Idempotency-Key belongs to another request.');
  }
  const body = decodeBody(kept, secret);
  if (body === undefined) {
    throw new IdempotencyKeyReusedError('The first answer showed a secret; only the token that got it gets it again.');
  }
  return { status: kept.status, headers: { ...kept.headers, 'idempotency-replayed': 'true' }, body };
}

async function answerOrRefusal(
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

const fingerprint = ({ method, url, body }: FastifyRequest): Buffer => {
  const hash = createHash('sha256').update(`${method} ${url}\n`);
  return (body instanceof Buffer ? hash.update(body) : hash).digest();
};

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
