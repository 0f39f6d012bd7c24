import { arrayText, longStatement, type Statement, statement } from '../kernel/sql.ts';

/** A longer list is not built as one text, neither in the database nor here. */
const MOST_AT_ONCE = 1_000;
/** Texts of some 30 kB: many small ones, or few large ones, leave the process with several times the memory. */
const PIECE = 100;

type CaseList = {
  /** FROM and WHERE of the rows of case $2 of company $1 that meet the condition. */
  rows: (condition: string) => string;
  /** Holds for what is listed where nothing is asked for. */
  usual: string;
  /** FROM that is enough to count those, without what each row is joined with: it is worked out on every reading. */
  counted: string;
  /** The parameters from `filters` on say which rows are asked for; null asks for nothing in particular. */
  asked: (filter: (i: number) => string) => string;
  /** How many parameters there are after the case, before the filters: the element's own. */
  own: number;
  filters: number;
  /** As text. */
  element: string;
  order: string;
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
  const { rows, usual, counted, asked, own, filters, element, order } = list;
  const matching = asked((i) => `$${2 + own + i}`);
  const [limit, offset] = [1, 2].map((i) => `$${2 + own + filters + i}`);
  const inCase = 'FROM cases c WHERE c.company_id = $1 AND c.id = $2';
  const few = `FROM ${counted} WHERE company_id = $1 AND case_id = $2 AND ${usual}`;
  const whole = (condition: string, some = rows(condition)) =>
    `SELECT CASE WHEN (SELECT count(*) FROM (SELECT 1 ${some} LIMIT ${MOST_AT_ONCE + 1}) few) <= ${MOST_AT_ONCE}
                 THEN (SELECT ${arrayText(element, order)} ${rows(condition)}) END
     ${inCase}`;
  return {
    all: longStatement(`${name}.list`, whole(usual, few)),
    matching: longStatement(`${name}.list_matching`, whole(matching)),
    page: longStatement(
      `${name}.list_page`,
      `SELECT (SELECT count(*)::int ${rows(matching)}) AS total,
              (SELECT ${arrayText('l.element', 'l.n')}
                 FROM (SELECT ${element} AS element, row_number() OVER (ORDER BY ${order}) AS n ${rows(matching)}
                        ORDER BY n LIMIT ${limit} OFFSET ${offset}) l) AS json
       ${inCase}`,
    ),
    pieces: statement(
      `${name}.list_pieces`,
      `SELECT string_agg(l.element, ',' ORDER BY l.n)
         FROM (SELECT ${element} AS element, row_number() OVER (ORDER BY ${order}) - 1 AS n ${rows(matching)}) l
        GROUP BY l.n / ${PIECE} ORDER BY l.n / ${PIECE}`,
    ),
  };
}
