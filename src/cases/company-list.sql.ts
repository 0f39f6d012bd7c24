import type { InputNames, Inputs, InputValues } from '../kernel/sql/inputs.ts';
import { isoTime, jsonArrayText, jsonObjectField, jsonString, jsonUnescaped, nullable } from '../kernel/sql/json.ts';
import { read, type Statement } from '../kernel/sql/statement.ts';

/** About how long a page may become. The first record of a page is shown whatever its size. */
const MAX_PAGE_BYTES = 2_000_000;

const PAGE_INPUTS = {
  company_id: 'uuid',
  limit: 'int',
  scan: 'int',
  after_id: 'uuid',
  reads_cases: 'boolean',
} as const;
type PageNames = InputNames<typeof PAGE_INPUTS>;
/** Whether the caller may see the reference of a case. */
type CaseReader = { reads_cases: string };
type KeyType = 'timestamptz' | 'text';
export type Direction = 'asc' | 'desc';

/** A way through the records of a company, in the order of an index. */
type Walk<F extends Inputs> = {
  /** SQL: what the list is sorted by; records with the same key are sorted by their id. */
  key: string;
  keyType: KeyType;
  /** Conditions that an index of the key serves. The records of all branches are merged in its order. */
  branches: (input: InputNames<F>) => readonly string[];
};

/**
 * A branch for each value of an array with at most `count` values. A row per value, joined to the table, would read a page
 * of each before they are sorted; branches are merged, and read one record more each than the page has of them.
 */
export const branchPerValue = (values: string, count: number, condition: (value: string) => string): string[] =>
  Array.from({ length: count }, (_, i) => condition(`(${values})[${i + 1}]`));

type CompanyListDeclaration<F extends Inputs, W extends string> = {
  table: string;
  /** The alias of the table in the other properties. */
  alias: string;
  /** The inputs of the filters and of an element. */
  inputs: F;
  /** A condition on every record of the list. */
  listed: string;
  walks: Readonly<Record<W, Walk<F>>>;
  /** A condition on the records that a walk finds, with all filters. Null does not filter. */
  matches: (input: InputNames<F>) => string;
  /** Joins that render parts of a record. */
  joins?: (input: InputNames<F>) => string;
  /** SQL: the text of a record. */
  element: (input: InputNames<F> & CaseReader) => string;
  /** SQL: about how many bytes it has, if it can be large. */
  bytes?: (input: InputNames<F>) => string;
};

type PageValues = InputValues<typeof PAGE_INPUTS> & { after_key: string; until: string };
export type CompanyPageStatement<Filters> = Statement<PageValues & Filters>;
export type CompanyLists<W extends string, Filters> = Readonly<
  Record<W, Readonly<Record<Direction, CompanyPageStatement<Filters>>>>
>;

/**
 * The statements that return a page of a list of the whole company: the records as JSON, and where the next page starts,
 * if there may be one. A page walks an index from `after` to `until` and looks at no more than `scan` records.
 */
export function companyLists<const F extends Inputs, W extends string>(
  name: string,
  list: CompanyListDeclaration<F, W>,
): CompanyLists<W, InputValues<F>> {
  const walks = Object.entries<Walk<F>>(list.walks).map(([walkName, walk]) => [
    walkName,
    { asc: statement(name, walkName, list, walk, 'asc'), desc: statement(name, walkName, list, walk, 'desc') },
  ]);
  return Object.fromEntries(walks);
}

function statement<F extends Inputs, W extends string>(
  name: string,
  walkName: string,
  list: CompanyListDeclaration<F, W>,
  walk: Walk<F>,
  direction: Direction,
) {
  const inputs = { ...PAGE_INPUTS, after_key: walk.keyType, until: walk.keyType, ...list.inputs };
  type AllNames = InputNames<F> & PageNames & Record<'after_key' | 'until', string>;
  return read(`${name}.of_company_by_${walkName}_${direction}`, {
    inputs,
    pool: 'search',
    sql: (input) => pageSql(list, walk, direction, input as unknown as AllNames),
  }) as unknown as CompanyPageStatement<InputValues<F>>;
}

function pageSql<F extends Inputs, W extends string>(
  { table, alias, listed, matches, joins = () => '', element, bytes = () => '0' }: CompanyListDeclaration<F, W>,
  { key, keyType, branches }: Walk<F>,
  direction: Direction,
  input: InputNames<F> & PageNames & Record<'after_key' | 'until', string>,
): string {
  // The keys of texts are folded, and so are prefixes of them.
  const bound = (name: 'after_key' | 'until') => (keyType === 'text' ? `fold_text(${input[name]})` : input[name]);
  const [beyond, before] = direction === 'asc' ? ['>', '<'] : ['<', '>='];
  const order = (source: string, way: string = direction) => `${source}.sort_key ${way}, ${source}.id ${way}`;
  const records = branches(input).map(
    (condition) => `
      (SELECT ${alias}.*, ${key} AS sort_key FROM ${table} ${alias}
         WHERE ${alias}.company_id = ${input.company_id} AND ${listed} AND ${condition}
           AND (${key}, ${alias}.id) ${beyond} (${bound('after_key')}, ${input.after_id})
           AND ${key} ${before} ${bound('until')}
         ORDER BY ${key} ${direction}, ${alias}.id ${direction} LIMIT ${input.scan})`,
  );
  const position = (from: string, condition: string) =>
    `SELECT e.sort_key, e.id FROM ${from} e WHERE ${condition} ORDER BY ${order('e', direction === 'asc' ? 'desc' : 'asc')} LIMIT 1`;
  // A record may be found by several branches. The walk counts it each time: it looks at no more than `scan` records.
  const distinct = records.length > 1 ? `DISTINCT ON (${alias}.sort_key, ${alias}.id) ` : '';
  const hasMore = '(SELECT count(*) FROM found) > (SELECT count(*) FROM shown)';
  return `
    WITH scanned AS MATERIALIZED (
      SELECT s.* FROM (${records.join(' UNION ALL ')}) s ORDER BY ${order('s')} LIMIT ${input.scan}
    ), found AS MATERIALIZED (
      SELECT ${alias}.*, row_number() OVER before AS n, sum(${bytes(input)}) OVER before AS bytes
        FROM (SELECT ${distinct}${alias}.* FROM scanned ${alias} WHERE ${matches(input)} ORDER BY ${order(alias)} LIMIT ${input.limit} + 1) ${alias}
      WINDOW before AS (ORDER BY ${order(alias)} ROWS UNBOUNDED PRECEDING)
    ), shown AS MATERIALIZED (
      SELECT * FROM found f WHERE f.n <= ${input.limit} AND (f.n = 1 OR f.bytes <= ${MAX_PAGE_BYTES})
    )
    SELECT (SELECT ${jsonArrayText(element(input), `${alias}.n`)} FROM shown ${alias} ${joins(input)}) AS json,
           ${keyType === 'timestamptz' ? isoTime('next.sort_key') : 'next.sort_key'} AS key, next.id
      FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
        (${position('shown', hasMore)})
        UNION ALL
        (${position('scanned', `NOT (${hasMore}) AND (SELECT count(*) FROM scanned) = ${input.scan}`)})
      ) next ON true`;
}

/**
 * What a record shows in a list of the company in addition to the list of its case. The case is looked up by its key, so
 * that no plan reads all cases.
 */
export const companyFields = (alias: string, { reads_cases }: CaseReader) => ({
  external_id: nullable(jsonString(`${alias}.external_id`)),
  created_at: jsonUnescaped(isoTime(`${alias}.created_at`)),
  updated_at: jsonUnescaped(isoTime(`${alias}.updated_at`)),
  case: jsonObjectField({
    id: jsonUnescaped(`${alias}.case_id`),
    reference: nullable(
      jsonString(
        `(SELECT c.reference FROM cases c
           WHERE ${reads_cases} AND c.company_id = ${alias}.company_id AND c.id = ${alias}.case_id)`,
      ),
    ),
  }),
});

/** SQL: the condition on the external id. Null does not filter. */
export const isExternalId = (alias: string, externalId: string) =>
  `(${externalId} IS NULL OR ${alias}.external_id = ${externalId})`;
