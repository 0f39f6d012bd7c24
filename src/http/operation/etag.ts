import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../kernel/context.ts';
import { invalidRequest, NotFoundError, PreconditionFailedError } from '../../kernel/errors.ts';
import type { Inputs } from '../../kernel/sql/inputs.ts';
import { type Query, write } from '../../kernel/sql/statement.ts';
import { renderWallTimes } from '../../kernel/time/wall-time-placeholders.ts';

/** RFC 9110: ETag, If-Match and If-None-Match. The tag is a hash of the record as GET shows it. */

type Params = Record<string, string>;
type KeyColumn = 'company_id' | 'case_id' | 'id';

/** A record that can be read by itself, at the path below which it is also changed. */
export type ReadableRecord = {
  table: string;
  /** The columns that identify its row. By default they follow from the path. */
  key?: readonly KeyColumn[];
  /** Returns the JSON text of the record; throws NotFoundError if there is none. */
  show: (context: Context, params: Params) => Promise<string>;
  /** Takes the lock that writes take before they lock the row. The other order would deadlock. */
  lock?: (context: Context) => Promise<void>;
};

export type LockableRecord = ReadableRecord & {
  /** The path parameter that holds the record's id; undefined for the company of the caller. */
  idParam: string | undefined;
  lockRow: (key: Record<KeyColumn, string>) => Query;
};

/** The readable records of all operations, by path. */
export class EtagRegistry {
  readonly #byPath = new Map<string, LockableRecord>();

  add(path: string, record: ReadableRecord): void {
    const idParam = /\{(\w+)\}$/.exec(path)?.[1];
    const key = record.key ?? (/\{caseId\}.*\{/.test(path) ? ['company_id', 'case_id', 'id'] : ['company_id', 'id']);
    this.#byPath.set(path, { ...record, idParam, lockRow: rowLock(record.table, key) });
  }

  /**
   * Returns the record that an operation changes: the one with the longest path that the operation's path begins with.
   */
  at(path: string): LockableRecord | undefined {
    const parts = path.split('/');
    for (let length = parts.length; length > 1; length--) {
      const found = this.#byPath.get(parts.slice(0, length).join('/'));
      if (found) return found;
    }
    return undefined;
  }
}

/** Locks the row until the end of the transaction. */
function rowLock(table: string, key: readonly string[]): LockableRecord['lockRow'] {
  const inputs: Inputs = Object.fromEntries(key.map((column) => [column, 'uuid'] as const));
  return write(`${table}.lock_row`, {
    inputs,
    sql: (input) => `
      SELECT 1 FROM ${table} WHERE ${key.map((column) => `${column} = ${input[column]}`).join(' AND ')}
         FOR NO KEY UPDATE`,
  });
}

export const MATCH_HEADERS = {
  'if-match': Type.Optional(
    Type.String({
      description:
        'The ETag of the record as it was read. If the record has changed since, the write is rejected with 412.',
      examples: ['"q1X9cW0ZVtE7m2b1kqvJ5w"'],
    }),
  ),
};
export const NoneMatchHeaders = Type.Object({
  'if-none-match': Type.Optional(
    Type.String({ description: 'An ETag. If the record has not changed, the response is 304 without a body.' }),
  ),
});

export const etagOf = (json: string): string =>
  `"${createHash('sha256').update(json).digest('base64url').slice(0, 22)}"`;

/** Whether the caller already has this state of the record. Weak comparison: the bytes need not be the same. */
export const matchesIfNoneMatch = ({ headers }: FastifyRequest, etag: string): boolean =>
  (headers['if-none-match'] ?? '').split(',').some((listed) => ['*', etag, `W/${etag}`].includes(listed.trim()));

const ETAG_LIST = /^\s*(\*|("[^"]*"|W\/"[^"]*")(\s*,\s*("[^"]*"|W\/"[^"]*"))*)\s*$/;

/** Returns the If-Match header of a write; undefined if it has none. */
export function ifMatch({ headers }: FastifyRequest): string | undefined {
  const expected = headers['if-match'];
  if (expected === undefined || ETAG_LIST.test(expected)) return expected;
  throw invalidRequest([
    { field: 'If-Match', code: 'format', message: 'the header must hold ETags, each in quotation marks, or *' },
  ]);
}

/** Calls `write` only if the record is still in an expected state. To be called in a transaction. */
export async function withIfMatch<R>(
  context: Context,
  params: Params,
  { idParam, lockRow, show, lock }: LockableRecord,
  expected: string,
  write: () => Promise<R>,
): Promise<{ result: R; etag: string | undefined }> {
  const currentEtag = async () => etagOf(renderWallTimes(await show(context, params)));
  const { company, db } = context;
  await lock?.(context);
  const id = (idParam ? params[idParam] : company.id) as string;
  await db.queryFirst(lockRow({ company_id: company.id, case_id: params.caseId as string, id }));
  const expectedEtags = expected.split(',').map((listed) => listed.trim());
  const etag = await currentEtag();
  if (!expectedEtags.includes('*') && !expectedEtags.includes(etag)) {
    throw new PreconditionFailedError('The record has been changed since it was read.');
  }
  const result = await write();
  // After a deletion there is no record that could have a tag.
  return { result, etag: await currentEtag().catch(unlessNotFound) };
}

function unlessNotFound(error: unknown): undefined {
  if (!(error instanceof NotFoundError)) throw error;
}
