import { readForSeveral } from '../kernel/several.ts';
import { arrayText, listStatement, longStatement, type Statement, statement } from '../kernel/sql.ts';

/** A longer list is not built as one text, neither in the database nor here. */
const MOST_AT_ONCE = 1_000;
/** Texts of some 30 kB: many small ones, or few large ones, leave the process with several times the memory. */
const PIECE = 100;

type CaseList = {
  /** The table of the records that are listed, and what the other parts call a row of it. */
  table: string;
  alias: string;
  /** Joins of what an element needs beside the record. */
  beside: string;
  /** Holds for what is listed where nothing is asked for. */
  usual: string;
  /** The parameters from `filters` on say which records are asked for; null asks for nothing in particular. */
  asked: (filter: (i: number) => string) => string;
  /** The types of the parameters after the case, before the filters: the element's own. */
  own: readonly string[];
  filters: number;
  /** As text: all that a record has in the list. */
  element: string;
  /** An element may have thousands of parts: of the usual list none is put together before it is known that all of them fit. */
  large?: true;
  order: string;
  /** Where a record has more than one entry: FROM and WHERE of these for the records that meet the condition. */
  entries?: { rows: (condition: string) => string; element: string; order: string };
};

/** The statements of a list that belongs to a case. Without the case there is no row, not even an empty list. */
export type CaseLists = {
  /** The usual list as one JSON text; null where it is too long for that. $1 company, $2 case, the element's own. */
  all: Statement;
  /** What is asked for, in the same way. As above, then the filters. */
  matching: Statement;
  /** A part of it and how many there are: as above, then limit and offset. */
  page: Statement;
  /** The elements, some in a row, to be read row by row: as for `matching`. */
  pieces: Statement;
};

export function caseLists(name: string, list: CaseList): CaseLists {
  const { table, alias, beside, usual, asked, own, filters } = list;
  const inCase = (condition: string) => `WHERE ${alias}.company_id = $1 AND ${alias}.case_id = $2 AND ${condition}`;
  const itself = { ...list, rows: (condition: string) => `FROM ${table} ${alias} ${beside} ${inCase(condition)}` };
  const { rows, element, order } = list.entries ?? itself;
  const matching = asked((i) => `$${2 + own.length + i}`);
  const [limit, offset] = [1, 2].map((i) => `$${2 + own.length + filters + i}`);
  const theCase = 'FROM cases c WHERE c.company_id = $1 AND c.id = $2';
  const entries = `SELECT ${element} AS element, row_number() OVER (ORDER BY ${order}) AS n ${rows(matching)}`;
  /** The case is looked for only where nothing else says that it is there. */
  const whole = (array: string, some: string, as: string) => {
    const few = `(${some} LIMIT ${MOST_AT_ONCE + 1})`;
    const ifFew = (json: string, from: string) =>
      `SELECT CASE WHEN count(*) <= ${MOST_AT_ONCE} THEN ${json} END AS json, count(*) AS n FROM ${from}`;
    const found = list.large
      ? `WITH few AS MATERIALIZED ${few} ${ifFew(`(SELECT ${array} FROM few ${as})`, 'few')}`
      : ifFew(array, `${few} ${as}`);
    // By its first word a statement is known to read, and may then be asked again. Not by EXISTS: of that the server may
    // make one look at all cases, where it is one of several lists.
    return `SELECT json FROM (${found}) l WHERE l.n > 0 OR (SELECT true ${theCase})`;
  };
  const records = `SELECT * FROM ${table} ${alias} ${inCase(usual)}`;
  const types = ['uuid', 'uuid', ...own];
  const all = whole(arrayText(list.element, list.order), records, `${alias} ${beside}`);
  return {
    all: listStatement(`${name}.list`, readForSeveral(types, 'json', all)),
    matching: longStatement(`${name}.list_matching`, whole(arrayText('l.element', 'l.n'), entries, 'l')),
    page: longStatement(
      `${name}.list_page`,
      `SELECT (SELECT count(*)::int ${rows(matching)}) AS total,
              (SELECT ${arrayText('l.element', 'l.n')}
                 FROM (${entries} ORDER BY n LIMIT ${limit} OFFSET ${offset}) l) AS json
       ${theCase}`,
    ),
    pieces: statement(
      `${name}.list_pieces`,
      `SELECT string_agg(l.element, ',' ORDER BY l.n)
         FROM (${entries}) l
        GROUP BY (l.n - 1) / ${PIECE} ORDER BY (l.n - 1) / ${PIECE}`,
    ),
  };
}
