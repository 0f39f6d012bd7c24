import type { InputNames, Inputs, InputValues } from '../kernel/sql/inputs.ts';
import { read, type Statement } from '../kernel/sql/statement.ts';

const PAGE_INPUTS = { limit: 'int', offset: 'int' } as const;
const PATTERN_INPUT = { pattern: 'text' } as const;
type PageValues = InputValues<typeof PAGE_INPUTS>;
type PatternValue = InputValues<typeof PATTERN_INPUT>;

type ListDeclaration<I extends Inputs, S extends Inputs> = {
  /** The inputs that select the list, such as its company. */
  inputs: I;
  /** The inputs that only a search uses, besides `pattern`. */
  searchInputs?: S;
  table: string;
  /** The alias of the table in the other properties. */
  alias: string;
  /** A condition on the rows of the list; every row by default. */
  where?: (input: InputNames<I>) => string;
  element: string;
  order: string;
  /** Whether a row matches a search. `pattern` is a LIKE pattern. */
  matches: (input: InputNames<I & S & typeof PATTERN_INPUT>) => string;
  /** FROM and WHERE of the record that the list belongs to. If that does not exist, the list returns no row. */
  parent?: (input: InputNames<I>) => string;
};

/** The statements of a list. Each returns a page as JSON and the number of all entries. */
export type ListStatements<Values> = {
  all: Statement<Values & PageValues>;
  search: Statement<Values & PageValues & PatternValue>;
};

/**
 * Two statements, because each is several times slower in the form of the other: the whole list is paged from an index
 * and only counted; the matches of a search are found once and kept.
 */
export function listStatements<const I extends Inputs, const S extends Inputs = Record<never, never>>(
  name: string,
  list: ListDeclaration<I, S>,
): ListStatements<InputValues<I & S>> {
  const { table, alias, element, order, where = () => 'true', matches, parent } = list;
  const pageInputs = { ...list.inputs, ...PAGE_INPUTS };
  const searchInputs = { ...pageInputs, ...PATTERN_INPUT, ...list.searchInputs };
  type AllNames = InputNames<I & S & typeof PAGE_INPUTS & typeof PATTERN_INPUT>;
  const rows = (input: AllNames) => `SELECT ${alias}.* FROM ${table} ${alias} WHERE ${where(input)}`;
  const page = (input: AllNames, listed: string) =>
    `WITH listed AS ${listed}
     SELECT (SELECT count(*)::int FROM listed) AS total,
            (SELECT coalesce(json_agg(${element} ORDER BY ${order}), '[]')::text
               FROM (SELECT * FROM listed ${alias} ORDER BY ${order}
                      LIMIT ${input.limit} OFFSET ${input.offset}) ${alias}) AS json
     ${parent ? `FROM ${parent(input)}` : ''}`;
  const wholeList = (input: AllNames) => page(input, `NOT MATERIALIZED (${rows(input)})`);
  const matchingRows = (input: AllNames) => page(input, `MATERIALIZED (${rows(input)} AND (${matches(input)}))`);
  const statements = {
    all: read(`${name}.list`, {
      inputs: pageInputs,
      pool: 'search',
      sql: (input) => wholeList(input as unknown as AllNames),
    }),
    search: read(`${name}.search`, {
      inputs: searchInputs,
      pool: 'search',
      sql: (input) => matchingRows(input as unknown as AllNames),
    }),
  };
  // TypeScript does not relate the inputs of a generic list to their values.
  return statements as unknown as ListStatements<InputValues<I & S>>;
}

/** SQL: whether one of the expressions, which must be in lower case, contains the text of the search. */
export const anyContains =
  (...expressions: string[]) =>
  (input: { pattern: string }): string =>
    expressions.map((expression) => `${expression} LIKE lower(${input.pattern})`).join(' OR ');
