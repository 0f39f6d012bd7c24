import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import type { Company, Context } from '../../kernel/context.ts';
import type { ShownRecord } from '../../kernel/database/database.ts';
import { invalidRequest, NotFoundError, PreconditionFailedError } from '../../kernel/errors.ts';
import { combineGuards, type Guard } from '../../kernel/sql/guard.ts';
import type { Inputs } from '../../kernel/sql/inputs.ts';
import { type Query, write } from '../../kernel/sql/statement.ts';
import { renderWallTimes } from '../../kernel/time/wall-time-placeholders.ts';
import { Type } from '../../kernel/validation/type.ts';
import { KEY_GUARD } from './idempotency.sql.ts';

/**
 * RFC 9110: ETag, If-Match and If-None-Match. The tag of a record of a case is its version; the tag of any other record
 * is a hash of the record as GET shows it.
 */

type Params = Record<string, string>;
type KeyColumn = 'company_id' | 'case_id' | 'id';

/** A record that can be read by itself, at the path below which it is also changed. */
export type ReadableRecord = {
  table: string;
  /** The columns that identify its row. By default they follow from the path. */
  key?: readonly KeyColumn[];
  /** Returns the record, or its JSON text if it has no version; throws NotFoundError if there is none. */
  show: (context: Context, params: Params) => Promise<ShownRecord | string>;
  /** SQL: the version of the record whose key is in `input`; null if `show` would not find it. */
  currentVersion?: string;
  /** Takes the lock that writes take before they lock the row. The other order would deadlock. */
  lock?: (context: Context) => Promise<void>;
  /** By default the row is found by its key. */
  lockRow?: (context: Context, params: Params) => Query;
};

export type LockableRecord = ReadableRecord & {
  lockRow: (context: Context, params: Params) => Query;
  /** For a write with If-Match, without and with an Idempotency-Key; undefined if the record has no version. */
  guards: { unkeyed: Guard; keyed: Guard } | undefined;
};

/** The readable records of all operations, by path. */
export class EtagRegistry {
  readonly #byPath = new Map<string, LockableRecord>();
  readonly #hashedSchemas = new Set<TSchema>();

  /** `response`: the schema of the record as GET shows it. */
  add(path: string, record: ReadableRecord, response: TSchema): void {
    if (record.currentVersion === undefined) this.#hashedSchemas.add(response);
    // The path of the company of the caller has none.
    const idParam = /\{(\w+)\}$/.exec(path)?.[1];
    const key = record.key ?? (/\{caseId\}.*\{/.test(path) ? ['company_id', 'case_id', 'id'] : ['company_id', 'id']);
    const unkeyed = record.currentVersion === undefined ? undefined : ifMatchGuard(record.currentVersion);
    const guards = unkeyed && { unkeyed, keyed: combineGuards(KEY_GUARD, unkeyed) };
    const lockRow = record.lockRow ?? rowLock(record.table, key, idParam);
    this.#byPath.set(path, { ...record, lockRow, guards });
  }

  /** Whether an operation responds with the tag of a record: it creates one of a case, or shows one as GET does. */
  isShown(path: string, response: TSchema): boolean {
    return this.showsHashed(response) || this.#versionedLists().includes(path);
  }

  /** Whether an operation creates or changes a record that has a version. */
  isVersioned(path: string): boolean {
    return this.#versionedLists().some((list) => `${path}/`.startsWith(`${list}/`));
  }

  /** The paths at which records with a version are created. */
  #versionedLists(): string[] {
    const versioned = [...this.#byPath].filter(([, { currentVersion }]) => currentVersion !== undefined);
    return versioned.map(([path]) => path.slice(0, path.lastIndexOf('/')));
  }

  /** Whether an operation responds with a record, as GET shows it, whose tag is a hash. */
  showsHashed(response: TSchema): boolean {
    return this.#hashedSchemas.has(response);
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
function rowLock(table: string, key: readonly KeyColumn[], idParam: string | undefined): LockableRecord['lockRow'] {
  const inputs: Inputs = Object.fromEntries(key.map((column) => [column, 'uuid'] as const));
  const lock = write(`${table}.lock_row`, {
    inputs,
    sql: (input) => `
      SELECT 1 FROM ${table} WHERE ${key.map((column) => `${column} = ${input[column]}`).join(' AND ')}
         FOR NO KEY UPDATE`,
  });
  return ({ company }, params) =>
    lock({ company_id: company.id, case_id: params.caseId, id: idParam ? params[idParam] : company.id });
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

/** A write that creates the record unless it exists: RFC 9110 lets `*` forbid the update. */
export const CreateOnlyHeaders = {
  'if-none-match': Type.Optional(
    Type.String({ description: '`*`: only create. If the record exists, the answer is 412.', examples: ['*'] }),
  ),
};

/** Whether a write that creates or updates is to create only. */
export function isCreateOnly({ headers }: FastifyRequest): boolean {
  const expected = headers['if-none-match'];
  if (expected === undefined || expected.trim() === '*') return expected !== undefined;
  throw invalidRequest([{ field: 'If-None-Match', code: 'format', message: 'the header must be *' }]);
}

/** The tag of a record without a version. */
export const hashedEtag = (json: string): string => `"${hash('sha256', json, 'base64url').slice(0, 22)}"`;

/** The tag of a version. Wall times change with the time zone of the company, so the zone is part of the tag. */
export const versionEtag = (version: string, company: Company): string => `"${version}${etagSuffix(company)}`;
/** What follows the version in a tag. */
export const etagSuffix = ({ timeZone }: Company): string => `-${timeZone}"`;

/** A record that is written only if its version is among those of the If-Match header. */
const ifMatchGuard = (currentVersion: string): Guard => ({
  name: 'if_match',
  inputs: { if_match: 'text[]' },
  condition: `${currentVersion} = ANY (input.if_match)`,
});

/** Returns the versions of the tags that can match: weak tags never do, nor do those made for another time zone. */
export function versionsOf(expected: string, company: Company): string[] {
  const end = etagSuffix(company);
  return listedTags(expected)
    .filter((tag) => tag.startsWith('"') && tag.endsWith(end))
    .map((tag) => tag.slice(1, -end.length));
}

const listedTags = (header: string): string[] => header.split(',').map((listed) => listed.trim());

/** Whether the caller already has this state of the record. Weak comparison: the bytes need not be the same. */
export const matchesIfNoneMatch = ({ headers }: FastifyRequest, etag: string): boolean =>
  listedTags(headers['if-none-match'] ?? '').some((listed) => ['*', etag, `W/${etag}`].includes(listed));

const ETAG_LIST = /^\s*(\*|("[^"]*"|W\/"[^"]*")(\s*,\s*("[^"]*"|W\/"[^"]*"))*)\s*$/;

/** Returns the If-Match header of a write; undefined if it has none. */
export function ifMatch({ headers }: FastifyRequest): string | undefined {
  const expected = headers['if-match'];
  if (expected === undefined || ETAG_LIST.test(expected)) return expected;
  throw invalidRequest([
    { field: 'If-Match', code: 'format', message: 'the header must hold ETags, each in quotation marks, or *' },
  ]);
}

/** The tag of a record as `show` returned it. */
const etagOf = (shown: ShownRecord | string, company: Company): string =>
  typeof shown === 'string' ? hashedEtag(renderWallTimes(shown)) : versionEtag(shown.version as string, company);

/** Throws unless the record is in an expected state, and locks it in that state until the transaction ends. */
export async function requireIfMatch(
  context: Context,
  params: Params,
  { lockRow, show, lock }: LockableRecord,
  expected: string,
): Promise<void> {
  const { company, db } = context;
  await lock?.(context);
  await db.queryFirst(lockRow(context, params));
  const etag = etagOf(await show(context, params), company);
  const tags = listedTags(expected);
  if (tags.includes('*') || tags.includes(etag)) return;
  throw new PreconditionFailedError('The record has been changed since it was read.');
}

/** Returns the tag of the record after a write; undefined if it was deleted. */
export async function currentEtag(context: Context, params: Params, { show }: LockableRecord) {
  try {
    return etagOf(await show(context, params), context.company);
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}
