import { hash } from 'node:crypto';
import { type Guard, guardedBatchInput, guardedName, guardedSingleInput } from './guard.ts';
import {
  batchInput,
  columnNames,
  type InputNames,
  type Inputs,
  type InputType,
  type InputValues,
  parameterNames,
  singleInput,
} from './inputs.ts';

/** Lists and searches have connections of their own, so that short statements never wait behind them. */
export type PoolName = 'short' | 'list' | 'search' | 'index';

/** A statement as it is sent. Each connection parses and plans it once, under its name; metrics use the name too. */
export type PreparedStatement = {
  readonly name: string;
  readonly text: string;
  /** A statement that only reads is sent again when its connection broke. */
  readonly readOnly: boolean;
  readonly pool: PoolName;
  /** Where `company_id`, `case_id` and `id` are among the values. Transactions lock rows in this order. */
  readonly key: readonly (number | undefined)[];
  /** The form for several requests: an array for each input. Returns the position of the request and its answer. */
  readonly batch?: { readonly name: string; readonly text: string; readonly types: readonly InputType[] };
  /** The same write under the conditions of a guard, whose inputs follow the statement's own. */
  readonly guarded?: (guard: Guard) => PreparedStatement;
};

/** A statement and the values of its inputs. */
export type Query = { readonly statement: PreparedStatement; readonly values: unknown[] };

/** Takes the values by name. `prepared` is what is sent. */
export type Statement<Values> = ((values: Values) => Query) & { readonly prepared: PreparedStatement };

type Text<I extends Inputs> =
  | {
      /** Inputs are parameters: `${input.id}` becomes `$3::uuid`. */
      sql: (input: InputNames<I>) => string;
    }
  | {
      /** Inputs are columns of the table expression `input`, which the text begins with: `WITH ${inputTable}, …`. */
      fromInput: (input: InputNames<I>, inputTable: string) => string;
      /** One statement may serve several requests. It returns `input.nth` and the answer, and changes a record once. */
      batch?: boolean;
      /** What the statement returns, if its text ends with the table expressions. It can be guarded then. */
      answer?: (input: InputNames<I>) => AnswerSql;
    };

/** SQL of the columns that answer a request. `from` has the column `nth`. */
export type AnswerSql = {
  /** The JSON text of the response, without placeholders. */
  json: string;
  /** The version of the record that the response shows, if it shows one. */
  version?: string;
  from: string;
};

type Declaration<I extends Inputs> = {
  inputs: I;
  /**
   * `list`: found by keys, of any length. `search`: its best plan depends on the values. `index`: it is only fast by the
   * order of an index, whatever the values.
   */
  pool?: PoolName;
} & Text<I>;

/** Declares a statement that changes nothing, not even through a function that it calls. */
export const read = <const I extends Inputs>(name: string, declaration: Declaration<I>): Statement<InputValues<I>> =>
  declare(name, declaration, true);

export const write = <const I extends Inputs>(name: string, declaration: Declaration<I>): Statement<InputValues<I>> =>
  declare(name, declaration, false);

type Parts = Readonly<Record<string, Inputs>>;
/** A part is chosen by passing its inputs, or true if it has none. */
type PartValues<P extends Parts> = {
  readonly [Part in keyof P]?: (keyof P[Part] extends never ? boolean : InputValues<P[Part]> | false) | undefined;
};
type UnionToIntersection<U> = (U extends unknown ? (u: U) => void : never) extends (u: infer I) => void ? I : never;
type AllInputs<I extends Inputs, P extends Parts> = I & UnionToIntersection<P[keyof P]> & Inputs;

type StatementVariants<I extends Inputs, P extends Parts> = (values: InputValues<I>, parts?: PartValues<P>) => Query;

type VariantDeclaration<I extends Inputs, P extends Parts> = {
  inputs: I;
  /** The inputs that each part adds. */
  parts: P;
  pool?: PoolName;
  /** A function if only the variants with certain parts can serve several requests. */
  batch?: boolean | ((has: (part: keyof P & string) => boolean) => boolean);
  /** The combinations of parts that sql/ shows, if they are too many to show all. */
  shown?: readonly (readonly (keyof P & string)[])[];
  /**
   * The text with the chosen parts. `input` has the inputs of the chosen parts only, and throws for others. Parts may
   * share an input; it then has the same value in each.
   */
  fromInput: (
    input: InputNames<AllInputs<I, P>>,
    inputTable: string,
    has: (part: keyof P & string) => boolean,
  ) => string;
  answer?: (input: InputNames<AllInputs<I, P>>, has: (part: keyof P & string) => boolean) => AnswerSql;
};

export const readVariants = <const I extends Inputs, const P extends Parts>(
  name: string,
  declaration: VariantDeclaration<I, P>,
): StatementVariants<I, P> => declareVariants(name, declaration, true);

/**
 * A statement that consists of the parts that a request needs, named after them and made at its first use: a part that
 * finds nothing to do costs time as well.
 */
export const writeVariants = <const I extends Inputs, const P extends Parts>(
  name: string,
  declaration: VariantDeclaration<I, P>,
): StatementVariants<I, P> => declareVariants(name, declaration, false);

function declare<I extends Inputs>(
  name: string,
  declaration: Declaration<I>,
  readOnly: boolean,
): Statement<InputValues<I>> {
  const { inputs } = declaration;
  const prepared = prepare(name, declaration, readOnly);
  const order = Object.keys(inputs);
  return Object.assign((values: InputValues<I>): Query => ({ statement: prepared, values: inOrder(order, values) }), {
    prepared,
  });
}

function declareVariants<I extends Inputs, P extends Parts>(
  name: string,
  { inputs, parts, pool = 'short', batch, shown, fromInput, answer }: VariantDeclaration<I, P>,
  readOnly: boolean,
): StatementVariants<I, P> {
  type Variant = { prepared: PreparedStatement; order: readonly { part: string | undefined; name: string }[] };
  const partNames = Object.keys(parts);
  const variants = new Map<number, Variant>();
  /** Each bit stands for a part. */
  const variant = (bits: number): Variant => {
    const known = variants.get(bits);
    if (known) return known;
    const chosen = partNames.filter((_part, i) => bits & (1 << i));
    const all: Inputs = Object.assign({}, inputs, ...chosen.map((part) => parts[part]));
    const has = (part: string) => chosen.includes(part);
    const text = (input: InputNames<Inputs>, inputTable: string) =>
      fromInput(input as InputNames<AllInputs<I, P>>, inputTable, has);
    const isBatchable = typeof batch === 'function' ? batch(has) : (batch ?? false);
    const answers = answer && ((input: InputNames<Inputs>) => answer(input as InputNames<AllInputs<I, P>>, has));
    const declared = { inputs: all, pool, batch: isBatchable, fromInput: text, ...(answers && { answer: answers }) };
    const prepared = prepare([name, ...chosen].join('+'), declared, readOnly);
    const partOf = (input: string) => chosen.find((part) => Object.hasOwn(parts[part] as Inputs, input));
    const added: Variant = { prepared, order: Object.keys(all).map((input) => ({ part: partOf(input), name: input })) };
    variants.set(bits, added);
    return added;
  };
  const bitsOf = (chosen: readonly string[]) => chosen.reduce((sum, part) => sum | (1 << partNames.indexOf(part)), 0);
  variantsToShow.push(() => {
    const allBits = () => Array.from({ length: 1 << partNames.length }, (_, bits) => bits);
    for (const bits of shown?.map(bitsOf) ?? allBits()) variant(bits);
  });
  const bind = (values: InputValues<I>, chosen: PartValues<P> = {}): Query => {
    const bits = partNames.reduce((sum, part, i) => (chosen[part] ? sum | (1 << i) : sum), 0);
    const { prepared, order } = variant(bits);
    const source = (part: string | undefined) =>
      (part === undefined ? values : chosen[part]) as Record<string, unknown>;
    return { statement: prepared, values: order.map(({ part, name }) => source(part)[name]) };
  };
  return bind;
}

function prepare<I extends Inputs>(name: string, declaration: Declaration<I>, readOnly: boolean): PreparedStatement {
  const { inputs, pool = 'short' } = declaration;
  const names = Object.keys(inputs);
  const key = LOCK_ORDER.map((column) => names.indexOf(column)).map((index) => (index < 0 ? undefined : index));
  const properties = { readOnly, pool, key };
  if ('sql' in declaration)
    return register({ name: shorten(name), text: declaration.sql(parameterNames(inputs)), ...properties });
  const { batch: isBatchable, answer } = declaration;
  const columns = columnNames(inputs);
  const form = (inputTable: string, store = '') => {
    const tables = declaration.fromInput(columns, inputTable);
    return answer ? withAnswer(tables, answer(columns), store) : tables;
  };
  const forms = (formName: string, types: Inputs, guard?: Guard) => {
    const singleTable = guard ? guardedSingleInput(types, guard.condition) : singleInput(types);
    const single = { name: shorten(formName), text: form(singleTable, guard?.store), ...properties };
    if (!isBatchable) return single;
    const batchTable = guard ? guardedBatchInput(types, guard.condition) : batchInput(types);
    const text = form(batchTable, guard?.store);
    const batch = { name: shorten(`${formName}*`), text, types: Object.values(types) };
    return { ...single, batch };
  };
  const plain = forms(name, inputs);
  if (!answer || readOnly) return register(plain);
  const guardedForms = new Map<Guard, PreparedStatement>();
  const guarded = (guard: Guard): PreparedStatement => {
    const known = guardedForms.get(guard);
    if (known) return known;
    const types = { ...inputs, ...guard.inputs };
    const added = register(forms(guardedName(name, guard), types, guard));
    guardedForms.set(guard, added);
    return added;
  };
  return register({ ...plain, guarded });
}

/** SQL: the table expressions and what they answer. `store` is a table expression that uses the answer. */
function withAnswer(tables: string, { json, version = 'NULL', from }: AnswerSql, store: string): string {
  if (!store) return `${tables}\n    SELECT nth, ${version} AS version, ${json} AS json FROM ${from}`;
  return `${tables}, answer AS (
      SELECT nth, ${version} AS version, ${json} AS json FROM ${from}
    ), ${store}
    SELECT nth, version, json FROM answer`;
}

/** Inputs with these names identify the record of a statement. */
export const LOCK_ORDER = ['company_id', 'case_id', 'id'] as const;

const inOrder = (order: readonly string[], values: object): unknown[] =>
  order.map((name) => (values as Record<string, unknown>)[name]);

// PostgreSQL cuts off longer names.
const MAX_NAME_LENGTH = 63;
const DIGEST_LENGTH = 8;
/** Replaces the end of a name that is too long by a hash of the whole. */
function shorten(name: string): string {
  if (name.length <= MAX_NAME_LENGTH) return name;
  const digest = hash('sha256', name, 'base64url').slice(0, DIGEST_LENGTH);
  return `${name.slice(0, MAX_NAME_LENGTH - DIGEST_LENGTH - 1)}~${digest}`;
}

const registered = new Map<string, PreparedStatement>();
const variantsToShow: (() => void)[] = [];

/** A connection knows one text for a name, so a second text under the same name would fail at random. */
function register(statement: PreparedStatement): PreparedStatement {
  const known = registered.get(statement.name);
  if (known && known.text !== statement.text) throw new Error(`Two statements are called ${statement.name}.`);
  registered.set(statement.name, statement);
  return statement;
}

/** Every statement that has been declared, with the variants that are shown. */
export function allStatements(): PreparedStatement[] {
  for (const show of variantsToShow) show();
  return [...registered.values()];
}

/** How many rows of a kind there may be. */
export type RowLimit<Values> = { max: number; label: string; count: Statement<Values> };

/** `rows`: FROM and WHERE of the rows that count. At most `max` of them are looked at. */
export const rowLimit = <const I extends Inputs>(
  label: string,
  max: number,
  { inputs, rows }: { inputs: I; rows: (input: InputNames<I>) => string },
): RowLimit<InputValues<I>> => ({
  max,
  label,
  count: read(`${label.replaceAll(' ', '_')}.count`, {
    inputs,
    sql: (input) => `SELECT count(*)::int AS count FROM (SELECT 1 ${rows(input)} LIMIT ${max}) counted`,
  }),
});
