import type { InputNames, Inputs, InputValues } from '../kernel/sql/inputs.ts';
import { joinedText, jsonArrayText } from '../kernel/sql/json.ts';
import { read, type Statement } from '../kernel/sql/statement.ts';

/** A longer list is not built as one text, neither in the database nor in the process. */
const MAX_TEXT_RECORDS = 1_000;
const MAX_TEXT_BYTES = 4_000_000;
/** Pieces of about 30 kB: many small ones, or few large ones, cost the process several times the memory. */
const PIECE_RECORDS = 100;
const PIECE_BYTES = 30_000;

const CASE_INPUTS = { company_id: 'uuid', case_id: 'uuid' } as const;
const PAGE_INPUTS = { limit: 'int', offset: 'int' } as const;
type CaseKey = InputNames<typeof CASE_INPUTS>;

type CaseListDeclaration<E extends Inputs, F extends Inputs> = {
  table: string;
  /** The alias of the table in the other properties. */
  alias: string;
  /** Joins that an element and the filters need. */
  joins: (input: CaseKey) => string;
  /** A condition on the records of a list without filters. */
  defaultFilter: string;
  /** The inputs of an element. */
  elementInputs: E;
  /** The inputs of the filters; null does not filter. */
  filterInputs: F;
  matches: (input: InputNames<F>) => string;
  /** SQL: the text of a record in the list. */
  element: (input: InputNames<E>) => string;
  order: string;
  /** For records that may have thousands of parts: none is rendered before it is known that all fit. */
  large?: {
    /** Joins that render the parts. */
    joins: (input: InputNames<E>) => string;
    /** SQL: about how many bytes an element has. */
    bytes: string;
  };
  /** For records that have more than one entry in the list: FROM and WHERE of the entries of matching records. */
  entries?: { rows: (input: CaseKey, condition: string) => string; element: string; order: string };
  /** Lists of concurrent requests share a statement. It pays for short lists only. */
  batch?: boolean;
};

/** The statements of a list of a case. They return no row if the case does not exist. */
export type CaseLists<Element, Filters> = {
  /** The list without filters as one JSON text; null if it is too long for that. */
  all: Statement<{ company_id: string; case_id: string } & Element>;
  /** The filtered list, likewise. */
  matching: Statement<{ company_id: string; case_id: string } & Element & Filters>;
  /** A page of it, null if it is too long for one text, and the number of all entries. */
  page: Statement<{ company_id: string; case_id: string } & Element & Filters & { limit: number; offset: number }>;
  /** The elements of the filtered list, several in a row, to be streamed. */
  pieces: CaseLists<Element, Filters>['matching'];
  /** The elements of a page, likewise. */
  pagePieces: CaseLists<Element, Filters>['page'];
};

export function caseLists<const E extends Inputs, const F extends Inputs>(
  name: string,
  list: CaseListDeclaration<E, F>,
): CaseLists<InputValues<E>, InputValues<F>> {
  const elementInputs = { ...CASE_INPUTS, ...list.elementInputs };
  const filterInputs = { ...elementInputs, ...list.filterInputs };
  const pageInputs = { ...filterInputs, ...PAGE_INPUTS };
  type AllNames = InputNames<typeof CASE_INPUTS & typeof PAGE_INPUTS & E & F>;
  const sql = (input: unknown) => listSql(list, input as AllNames);
  const limited = (input: InputNames<typeof PAGE_INPUTS>) => `LIMIT ${input.limit} OFFSET ${input.offset}`;
  const all = list.batch
    ? read(`${name}.list`, {
        inputs: elementInputs,
        pool: 'list',
        batch: true,
        fromInput: (input, inputTable) =>
          `WITH ${inputTable} SELECT input.nth, l.json FROM input CROSS JOIN LATERAL (${sql(input).all}) l`,
      })
    : read(`${name}.list`, { inputs: elementInputs, pool: 'list', sql: (input) => sql(input).all });
  const statements = {
    all,
    matching: read(`${name}.list_matching`, {
      inputs: filterInputs,
      pool: 'search',
      sql: (input) => sql(input).matching,
    }),
    page: read(`${name}.list_page`, {
      inputs: pageInputs,
      pool: 'search',
      sql: (input) => sql(input).page(limited(input)),
    }),
    pieces: read(`${name}.list_pieces`, { inputs: filterInputs, sql: (input) => sql(input).pieces('') }),
    pagePieces: read(`${name}.list_page_pieces`, {
      inputs: pageInputs,
      sql: (input) => sql(input).pieces(limited(input)),
    }),
  };
  // TypeScript does not relate the inputs of a generic list to their values.
  return statements as unknown as CaseLists<InputValues<E>, InputValues<F>>;
}

type ListSql = {
  all: string;
  matching: string;
  page: (limit: string) => string;
  pieces: (limit: string) => string;
};

function listSql<E extends Inputs, F extends Inputs>(
  list: CaseListDeclaration<E, F>,
  input: InputNames<typeof CASE_INPUTS & E & F>,
): ListSql {
  const theCase = `FROM cases c WHERE c.company_id = ${input.company_id} AND c.id = ${input.case_id}`;
  // The case is looked up only if no record shows that it exists. EXISTS would let the planner hash all cases in a batch.
  const inExistingCase = (sql: string) => `SELECT json FROM (${sql}) l WHERE l.n > 0 OR (SELECT true ${theCase})`;
  const rows = list.large ? largeListSql(list, list.large, input) : smallListSql(list, input);
  return {
    // A getter, because the list without filters has no filter inputs.
    get matching() {
      return inExistingCase(rows.matching());
    },
    all: inExistingCase(rows.all),
    page: (limit) =>
      `SELECT (SELECT count(*)::int ${rows.counted()}) AS total, (${rows.page(limit)}) AS json ${theCase}`,
    pieces: (limit) => rows.pieces(limit),
  };
}

/** `all` and `matching` have the columns `json` and `n`, the number of records. */
type RowsSql = {
  all: string;
  matching: () => string;
  counted: () => string;
  page: (limit: string) => string;
  pieces: (limit: string) => string;
};

const inCase = (input: CaseKey, alias: string, condition: string) =>
  `WHERE ${alias}.company_id = ${input.company_id} AND ${alias}.case_id = ${input.case_id} AND ${condition}`;

const FEW = `LIMIT ${MAX_TEXT_RECORDS + 1}`;

/** Renders the elements first: a thousand of them are small enough to be thrown away. */
function smallListSql<E extends Inputs, F extends Inputs>(
  list: CaseListDeclaration<E, F>,
  input: InputNames<typeof CASE_INPUTS & E & F>,
): RowsSql {
  const { table, alias, defaultFilter } = list;
  const joins = list.joins(input);
  const element = list.element(input);
  const recordRows = (condition: string) => `FROM ${table} ${alias} ${joins} ${inCase(input, alias, condition)}`;
  const counted = () =>
    list.entries ? list.entries.rows(input, list.matches(input)) : recordRows(list.matches(input));
  const entries = () =>
    `SELECT ${list.entries?.element ?? element} AS element,
            row_number() OVER (ORDER BY ${list.entries?.order ?? list.order}) AS n ${counted()}`;
  // The text is built in a subquery: named twice in one query, PostgreSQL would build it twice.
  const ifShort = (elementText: string, order: string, from: string) =>
    `SELECT CASE WHEN f.n <= ${MAX_TEXT_RECORDS} AND coalesce(octet_length(f.elements), 0) <= ${MAX_TEXT_BYTES}
                 THEN '[' || coalesce(f.elements, '') || ']' END AS json, f.n
       FROM (SELECT ${joinedText(elementText, order)} AS elements, count(*) AS n FROM ${from}) f`;
  return {
    all: ifShort(
      element,
      list.order,
      `(SELECT * FROM ${table} ${alias} ${inCase(input, alias, defaultFilter)} ${FEW}) ${alias} ${joins}`,
    ),
    matching: () => ifShort('l.element', 'l.n', `(${entries()} ${FEW}) l`),
    counted,
    page: (limit) => `SELECT ${jsonArrayText('l.element', 'l.n')} FROM (${entries()} ORDER BY n ${limit}) l`,
    pieces: (limit) =>
      `SELECT ${joinedText('l.element', 'l.n')} FROM (${entries()} ORDER BY n ${limit}) l
        GROUP BY (l.n - 1) / ${PIECE_RECORDS} ORDER BY (l.n - 1) / ${PIECE_RECORDS}`,
  };
}

/** Chooses and weighs the records first: rendering all elements could take gigabytes. */
function largeListSql<E extends Inputs, F extends Inputs>(
  list: CaseListDeclaration<E, F>,
  { joins: partJoins, bytes }: NonNullable<CaseListDeclaration<E, F>['large']>,
  input: InputNames<typeof CASE_INPUTS & E & F>,
): RowsSql {
  const { table, alias, defaultFilter, order } = list;
  const joins = list.joins(input);
  const element = list.element(input);
  const parts = partJoins(input);
  const counted = () => `FROM ${table} ${alias} ${joins} ${inCase(input, alias, list.matches(input))}`;
  const isShort = `coalesce(sum(${bytes}), 0) <= ${MAX_TEXT_BYTES}`;
  const rendered = `(SELECT ${jsonArrayText(element, order)} FROM few ${alias} ${joins} ${parts})`;
  const ifShort = (records: string) =>
    `WITH few AS MATERIALIZED (${records})
     SELECT CASE WHEN count(*) <= ${MAX_TEXT_RECORDS} AND ${isShort} THEN ${rendered} END AS json, count(*) AS n
       FROM few ${alias}`;
  return {
    all: ifShort(`SELECT * FROM ${table} ${alias} ${inCase(input, alias, defaultFilter)} ${FEW}`),
    matching: () => ifShort(`SELECT ${alias}.* ${counted()} ${FEW}`),
    counted,
    page: (limit) => `SELECT l.json FROM (${ifShort(`SELECT ${alias}.* ${counted()} ORDER BY ${order} ${limit}`)}) l`,
    // Records are grouped by weight, and the elements are rendered one group after the other.
    pieces: (limit) =>
      `SELECT e.elements
         FROM (SELECT r.piece, array_agg(r.record) AS records
                 FROM (SELECT ${alias} AS record, row_number() OVER before AS n,
                              (sum(${bytes}) OVER before - ${bytes}) / ${PIECE_BYTES} AS piece
                         ${counted()} WINDOW before AS (ORDER BY ${order} ROWS UNBOUNDED PRECEDING)
                        ORDER BY n ${limit}) r
                GROUP BY r.piece ORDER BY r.piece OFFSET 0) p
        CROSS JOIN LATERAL (
          SELECT ${joinedText(element, order)} AS elements FROM unnest(p.records) ${alias} ${joins} ${parts}) e
        ORDER BY p.piece`,
  };
}
