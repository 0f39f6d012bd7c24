import type { FastifyRequest } from 'fastify';
import type { Context } from '../../kernel/context.ts';
import type { Executor } from '../../kernel/database/database.ts';
import type { Clock } from '../../kernel/time/time.ts';
import { currentEtag, etagSuffix, type LockableRecord, requireIfMatch, versionsOf } from './etag.ts';
import { type GuardedRequest, tryGuarded } from './guarded-write.ts';
import { KEY_GUARD } from './idempotency.sql.ts';
import { keyedRequest, runOnce } from './idempotency.ts';
import type { StoredResponse } from './stored-response.ts';

/** The headers of a write that make it careful. At least one is there. */
export type Conditions = {
  key: string | undefined;
  /** The If-Match header and the record that it is about. */
  ifMatch: { expected: string; record: LockableRecord } | undefined;
  /** Whether the operation writes a record that has a version. Others may call other services, and only once. */
  isVersioned: boolean;
};

type CarefulWrite = Conditions & {
  request: FastifyRequest;
  db: Executor;
  clock: Clock;
  params: Record<string, string>;
  contextOf: (db: Executor) => Context;
  /** Performs the operation. It may be called twice: a rejected attempt is repeated in a transaction. */
  run: (context: Context) => Promise<StoredResponse>;
};

/** Performs a write with an Idempotency-Key or If-Match: as one statement if possible, otherwise in a transaction. */
export async function runCarefully(write: CarefulWrite): Promise<StoredResponse> {
  const { key, request, db, clock, contextOf, run } = write;
  const guarded = guardOf(write);
  const response = guarded && (await tryGuarded(db, guarded, (executor) => run(contextOf(executor))));
  if (response) return response;
  const work = (transaction: Executor) => runLocked(write, contextOf(transaction));
  return key === undefined ? db.transaction(work) : runOnce(request, key, { db, clock }, work);
}

async function runLocked({ ifMatch, params, run }: CarefulWrite, context: Context): Promise<StoredResponse> {
  if (!ifMatch) return run(context);
  await requireIfMatch(context, params, ifMatch.record, ifMatch.expected);
  const response = await run(context);
  if (response.headers.etag !== undefined) return response;
  const etag = await currentEtag(context, params, ifMatch.record);
  return { ...response, headers: { ...response.headers, ...(etag && { etag }) } };
}

/** Returns undefined if the write needs a transaction: `*` as a tag, or a record without a version. */
function guardOf({ key, ifMatch, isVersioned, request, db, contextOf }: CarefulWrite): GuardedRequest | undefined {
  if (!isVersioned) return undefined;
  const { company } = contextOf(db);
  const keyed = key === undefined ? undefined : { ...keyedRequest(request, key), etag_suffix: etagSuffix(company) };
  if (!ifMatch) return keyed && { guard: KEY_GUARD, values: keyed };
  const { guards } = ifMatch.record;
  const if_match = versionsOf(ifMatch.expected, company);
  if (!guards || if_match.length === 0) return undefined;
  return { guard: keyed ? guards.keyed : guards.unkeyed, values: { ...keyed, if_match } };
}
