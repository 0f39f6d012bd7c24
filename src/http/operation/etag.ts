import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../kernel/context.ts';
import { invalidRequest, NotFoundError, PreconditionFailedError } from '../../kernel/errors.ts';
import { type Statement, statement } from '../../kernel/sql/statement.ts';
import { renderWallTimes } from '../../kernel/time/wall-time-placeholders.ts';

/**
 * RFC 9110: ETag, If-Match and If-None-Match. The tag is a hash of the record as GET shows it, so whatever a reader
 * could see differently has another one.
 */

type Params = Record<string, string>;

/** What can be read by itself, at the address under which it is changed too. */
export type ReadableRecord = {
  table: string;
  /** The JSON text of the record; throws where there is none. */
  show: (context: Context, params: Params) => Promise<string>;
  /** The lock that writes take before the record's own. Taken in another order the two would deadlock. */
  lock?: (context: Context) => Promise<void>;
};

/** Of all operations, by the path of the record. */
export class EtagRegistry {
  readonly #byPath = new Map<string, LockableRecord>();

  add(path: string, record: ReadableRecord): void {
    this.#byPath.set(path, { ...record, id: /\{(\w+)\}$/.exec(path)?.[1], hold: holdIn(record.table, path) });
  }

  /** The record that an operation works on: the one whose path its own begins with. */
  at(path: string): LockableRecord | undefined {
    const parts = path.split('/');
    for (let length = parts.length; length > 1; length--) {
      const found = this.#byPath.get(parts.slice(0, length).join('/'));
      if (found) return found;
    }
    return undefined;
  }
}

export type LockableRecord = ReadableRecord & { id: string | undefined; hold: Statement };

/** $1 company, $2 id, $3 case or null, also that of a case itself. Nobody else changes the record until the transaction ends. */
const holdIn = (table: string, path: string): Statement => {
  const inCase = table !== 'cases' && path.includes('{caseId}');
  const mine = table === 'companies' ? '$1::uuid IS NOT NULL' : 'company_id = $1';
  return statement(
    `${table}.hold`,
    `SELECT 1 FROM ${table} WHERE ${mine} AND id = $2 AND ${inCase ? 'case_id = $3' : '($3::uuid IS NULL OR $3 = id)'}
        FOR NO KEY UPDATE`,
  );
};

export const MATCH_HEADERS = {
  'if-match': Type.Optional(
    Type.String({
      description: 'The ETag of the record as it was read: the write is done only onto that state of it, else 412.',
      examples: ['"q1X9cW0ZVtE7m2b1kqvJ5w"'],
    }),
  ),
};
export const NoneMatchHeaders = Type.Object({
  'if-none-match': Type.Optional(
    Type.String({ description: 'An ETag: where the record is still the same, the answer is 304 without a body.' }),
  ),
});

export const etagOf = (json: string): string =>
  `"${createHash('sha256').update(json).digest('base64url').slice(0, 22)}"`;

/** Whether a reader who sends If-None-Match has it already. Weak comparison: the bytes need not be the same. */
export const matchesIfNoneMatch = ({ headers }: FastifyRequest, tag: string): boolean =>
  (headers['if-none-match'] ?? '').split(',').some((one) => ['*', tag, `W/${tag}`].includes(one.trim()));

const TAGS = /^\s*(\*|("[^"]*"|W\/"[^"]*")(\s*,\s*("[^"]*"|W\/"[^"]*"))*)\s*$/;

/** The tags that a write asks for; undefined for most. */
export function ifMatch({ headers }: FastifyRequest): string | undefined {
  const wanted = headers['if-match'];
  if (wanted === undefined || TAGS.test(wanted)) return wanted;
  throw invalidRequest([
    { field: 'If-Match', code: 'format', message: 'the header must hold ETags, each in quotation marks, or *' },
  ]);
}

/** Writes onto the state that the caller has seen, or not at all. To be called in a transaction. */
export async function withIfMatch<A>(
  context: Context,
  params: Params,
  { id, hold, show, lock }: LockableRecord,
  wanted: string,
  write: () => Promise<A>,
): Promise<{ answer: A; tag: string | undefined }> {
  const tagNow = async () => etagOf(renderWallTimes(await show(context, params)));
  await lock?.(context);
  await context.db.queryFirst(hold, [context.company.id, id ? params[id] : context.company.id, params.caseId ?? null]);
  const tags = wanted.split(',').map((one) => one.trim());
  const tag = await tagNow();
  if (!tags.includes('*') && !tags.includes(tag)) {
    throw new PreconditionFailedError('The record has been changed since it was read.');
  }
  const answer = await write();
  // After a deletion there is nothing left to have a tag.
  return { answer, tag: await tagNow().catch(unlessNotFound) };
}

function unlessNotFound(error: unknown): undefined {
  if (!(error instanceof NotFoundError)) throw error;
}
