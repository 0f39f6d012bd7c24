import { readForSeveral } from '../kernel/sql/batch-statement.ts';
import {
  joinedText,
  jsonArrayText,
  listStatement,
  longStatement,
  type Statement,
  statement,
} from '../kernel/sql/statement.ts';

/** A longer list is not built as one text, neither in the database nor here. */
const MAX_WHOLE_RECORDS = 1_000;
const MAX_WHOLE_BYTES = 4_000_000;
/** Texts of some 30 kB: many small ones, or few large ones, leave the process with several times the memory. */
const PIECE_RECORDS = 100;
const PIECE_BYTES = 30_000;

type CaseList = {
  /** The table of the records that are listed, and what the other parts call a row of it. */
  table: string;
  alias: string;
  /** Joins of what an element and the filters need beside the record. */
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
  /** Of a list whose elements may have thousands of parts, so that none is put together before it is known that all fit. */
  large?: {
    /** Joins of what is put together of the parts. */
    parts: string;
    /** SQL: about how many bytes an element has. */
    bytes: string;
  };
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
  /** A part of it, null if it is too long for one text, and how many there are: as above, then limit and offset. */
  page: Statement;
  /** The elements, some in a row, to be read row by row: as for `matching`. */
  pieces: Statement;
  /** The elements of a page, some in a row. Its parameters are those of `page`. */
  pagePieces: Statement;
};

export function caseLists(name: string, list: CaseList): CaseLists {
  const { own, filters, asked, large } = list;
  const matching = asked((i) => `$${2 + own.length + i}`);
  const [limit, offset] = [1, 2].map((i) => `$${2 + own.length + filters + i}`);
  const page = `LIMIT ${limit} OFFSET ${offset}`;
  const texts = large ? largeTexts(list, large, matching) : smallTexts(list, matching);
  return {
    all: listStatement(`${name}.list`, readForSeveral(['uuid', 'uuid', ...own], 'json', inExistingCase(texts.all))),
    matching: longStatement(`${name}.list_matching`, inExistingCase(texts.matching)),
    page: longStatement(
      `${name}.list_page`,
      `SELECT (SELECT count(*)::int ${texts.counted}) AS total, (${texts.page(page)}) AS json ${THE_CASE}`,
    ),
    pieces: statement(`${name}.list_pieces`, texts.pieces('')),
    pagePieces: statement(`${name}.list_page_pieces`, texts.pieces(page)),
  };
}

const THE_CASE = 'FROM cases c WHERE c.company_id = $1 AND c.id = $2';

/**
 * The case is looked for only if there is no record that says that it is there. By its first word a statement is known to
 * read, and may then be asked again. Not by EXISTS: of that the server may make one look at all cases in a batch.
 */
const inExistingCase = (list: string) => `SELECT json FROM (${list}) l WHERE l.n > 0 OR (SELECT true ${THE_CASE})`;

const inCase = (alias: string, condition: string) =>
  `WHERE ${alias}.company_id = $1 AND ${alias}.case_id = $2 AND ${condition}`;

/** SQL texts: `all` and `matching` have the columns `json` and `n`, `page` and `pieces` take what limits them. */
type Texts = {
  all: string;
  matching: string;
  counted: string;
  page: (limit: string) => string;
  pieces: (limit: string) => string;
};

/** The elements are put together first: a thousand of them are small enough to be thrown away. */
function smallTexts(list: CaseList, matching: string): Texts {
  const { table, alias, beside, usual } = list;
  const itself = {
    ...list,
    rows: (condition: string) => `FROM ${table} ${alias} ${beside} ${inCase(alias, condition)}`,
  };
  const { rows, element, order } = list.entries ?? itself;
  const counted = rows(matching);
  const entries = `SELECT ${element} AS element, row_number() OVER (ORDER BY ${order}) AS n ${counted}`;
  // The text is put together by a subquery: named twice in one, the server would put it together twice.
  const ifShort = (elementText: string, by: string, from: string) =>
    `SELECT CASE WHEN f.n <= ${MAX_WHOLE_RECORDS} AND coalesce(octet_length(f.elements), 0) <= ${MAX_WHOLE_BYTES}
                 THEN '[' || coalesce(f.elements, '') || ']' END AS json, f.n
       FROM (SELECT ${joinedText(elementText, by)} AS elements, count(*) AS n FROM ${from}) f`;
  const few = `LIMIT ${MAX_WHOLE_RECORDS + 1}`;
  return {
    all: ifShort(
      list.element,
      list.order,
      `(SELECT * FROM ${table} ${alias} ${inCase(alias, usual)} ${few}) ${alias} ${beside}`,
    ),
    matching: ifShort('l.element', 'l.n', `(${entries} ${few}) l`),
    counted,
    page: (limit) => `SELECT ${jsonArrayText('l.element', 'l.n')} FROM (${entries} ORDER BY n ${limit}) l`,
    pieces: (limit) =>
      `SELECT ${joinedText('l.element', 'l.n')} FROM (${entries} ORDER BY n ${limit}) l
        GROUP BY (l.n - 1) / ${PIECE_RECORDS} ORDER BY (l.n - 1) / ${PIECE_RECORDS}`,
  };
}

/** The records are chosen and weighed first: putting the elements together could take gigabytes. */
function largeTexts(list: CaseList, { parts, bytes }: NonNullable<CaseList['large']>, matching: string): Texts {
  const { table, alias, beside, usual, element, order } = list;
  const counted = `FROM ${table} ${alias} ${beside} ${inCase(alias, matching)}`;
  const few = `LIMIT ${MAX_WHOLE_RECORDS + 1}`;
  const isShort = `coalesce(sum(${bytes}), 0) <= ${MAX_WHOLE_BYTES}`;
  const built = `(SELECT ${jsonArrayText(element, order)} FROM few ${alias} ${beside} ${parts})`;
  const ifShort = (records: string) =>
    `WITH few AS MATERIALIZED (${records})
     SELECT CASE WHEN count(*) <= ${MAX_WHOLE_RECORDS} AND ${isShort} THEN ${built} END AS json, count(*) AS n FROM few ${alias}`;
  return {
    all: ifShort(`SELECT * FROM ${table} ${alias} ${inCase(alias, usual)} ${few}`),
    matching: ifShort(`SELECT ${alias}.* ${counted} ${few}`),
    counted,
    page: (limit) => `SELECT l.json FROM (${ifShort(`SELECT ${alias}.* ${counted} ORDER BY ${order} ${limit}`)}) l`,
    // Records are put into pieces by their weight, and elements are put together one piece after the other.
    pieces: (limit) =>
      `SELECT e.elements
         FROM (SELECT r.piece, array_agg(r.record) AS records
                 FROM (SELECT ${alias} AS record, row_number() OVER before AS n,
                              (sum(${bytes}) OVER before - ${bytes}) / ${PIECE_BYTES} AS piece
                         ${counted} WINDOW before AS (ORDER BY ${order} ROWS UNBOUNDED PRECEDING)
                        ORDER BY n ${limit}) r
                GROUP BY r.piece ORDER BY r.piece OFFSET 0) p
        CROSS JOIN LATERAL (SELECT ${joinedText(element, order)} AS elements FROM unnest(p.records) ${alias} ${beside} ${parts}) e
        ORDER BY p.piece`,
  };
}
