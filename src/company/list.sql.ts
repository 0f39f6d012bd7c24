import { longStatement, type Statement } from '../kernel/sql/statement.ts';

type ListDefinition = {
  /** How many parameters say whose list it is. They come first, then limit, offset and what is searched for. */
  scope: number;
  from: string;
  /** The name under which `element` and `order` speak of a row. */
  as: string;
  element: string;
  order: string;
  /** Whether a row is looked for: `pattern` is a parameter for LIKE, `further` the one after it. */
  matches: (pattern: string, further: string) => string;
  /** What the list belongs to: without it there is no answer, not even an empty one. */
  within?: string;
};

export type ListStatements = { all: Statement; matching: Statement };

/**
 * A page as JSON, and how many entries there are. Two statements, because each is several times slower the other way:
 * all entries are paged off an index and only counted; the matching ones are looked for once and kept.
 */
export function listStatements(
  name: string,
  { scope, from, as, element, order, matches, within }: ListDefinition,
): ListStatements {
  const $ = (i: number) => `$${scope + i}`;
  const page = (rows: string) =>
    `WITH listed AS ${rows}
     SELECT (SELECT count(*)::int FROM listed) AS total,
            (SELECT coalesce(json_agg(${element} ORDER BY ${order}), '[]')::text
               FROM (SELECT * FROM listed ${as} ORDER BY ${order} LIMIT ${$(1)} OFFSET ${$(2)}) ${as}) AS json
     ${within ? `FROM ${within}` : ''}`;
  return {
    all: longStatement(`${name}.list`, page(`NOT MATERIALIZED (SELECT ${as}.* FROM ${from})`)),
    matching: longStatement(
      `${name}.search`,
      page(`MATERIALIZED (SELECT ${as}.* FROM ${from} AND (${matches($(3), $(4))}))`),
    ),
  };
}

/** One of the expressions, which must be in lower case, contains what is searched for. */
export const searchIn =
  (...expressions: string[]) =>
  (pattern: string): string =>
    expressions.map((expression) => `${expression} LIKE lower(${pattern})`).join(' OR ');
