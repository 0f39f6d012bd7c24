/** The inputs of a statement: a PostgreSQL type for each name. A trailing "?" allows null. */

type ScalarTypes = {
  uuid: string;
  text: string;
  timestamptz: string;
  date: string;
  numeric: string;
  json: string;
  jsonb: string;
  interval: string;
  /** As hexadecimal text it need not be converted. */
  bytea: Buffer | ByteaText;
  int: number;
  bigint: number | string;
  boolean: boolean;
};
export type ByteaText = `\\x${string}`;
type Scalar = keyof ScalarTypes;
type NonNullType = Scalar | `${Scalar}[]`;
export type InputType = NonNullType | `${NonNullType}?`;
export type Inputs = Readonly<Record<string, InputType>>;

/** An array in PostgreSQL's notation (`pgArrayLiteral`), which `pg` does not have to convert. */
type PgArrayLiteral = string & { readonly pgArray: true };

type NonNullValue<Type extends string> = Type extends `${infer Element extends Scalar}[]`
  ? readonly (ScalarTypes[Element] | null)[] | PgArrayLiteral
  : Type extends Scalar
    ? ScalarTypes[Type]
    : never;
type InputValue<Type extends InputType> = Type extends `${infer Rest}?`
  ? NonNullValue<Rest> | null | undefined
  : NonNullValue<Type>;

/** What a caller passes: a value for each name. An input that may be null must be named as well. */
export type InputValues<I extends Inputs> = { readonly [Name in keyof I]: InputValue<I[Name]> };

/** SQL for each input, for use in the text of a statement. */
export type InputNames<I extends Inputs> = { readonly [Name in keyof I]: string };

/** `pg` looks into each element of an array; these need no escaping: identifiers, numbers, times, words. */
export const pgArrayLiteral = (values: readonly (string | number | boolean)[]): PgArrayLiteral =>
  `{${values.join(',')}}` as PgArrayLiteral;

/** Text from outside: PostgreSQL stores no NUL. */
export const stripNul = <T extends string | null>(text: T) => text?.replaceAll('\0', '') ?? null;

const typeOf = (type: InputType): string => (type.endsWith('?') ? type.slice(0, -1) : type);
export const isArrayType = (type: InputType): boolean => typeOf(type).endsWith('[]');

/** Inputs as parameters: `input.id` is `$3::uuid`. */
export const parameterNames = <I extends Inputs>(inputs: I): InputNames<I> =>
  names(inputs, (_name, type, i) => `$${i + 1}::${typeOf(type)}`);

/** Inputs as columns of the table expression `input`: `input.id` is `input.id`. */
export const columnNames = <I extends Inputs>(inputs: I): InputNames<I> => names(inputs, (name) => `input.${name}`);

/**
 * The table expression for one request. It is inlined, so the plan is the one of a statement with parameters. `from` is a
 * table expression of one row, or of none.
 */
export function singleInput(inputs: Inputs, from = ''): string {
  const columns = Object.entries(inputs).map(([name, type], i) => `$${i + 1}::${typeOf(type)} AS ${name}`);
  return `input AS NOT MATERIALIZED (SELECT ${columns.join(', ')}, 1 AS nth${from && ` ${from}`})`;
}

/**
 * The table expression for a batch: an array for each input, with an element for each request, and `nth`, the position
 * of the request in the batch. Arrays of arrays cannot differ in length, so an array travels as its text.
 */
export function batchInput(inputs: Inputs): string {
  const entries = Object.entries(inputs);
  const arrays = entries.map(([, type], i) => `$${i + 1}::${isArrayType(type) ? 'text' : typeOf(type)}[]`);
  const columns = entries.map(([name, type]) => (isArrayType(type) ? `${name}::${typeOf(type)}` : name));
  const rows = `unnest(${arrays.join(', ')}) WITH ORDINALITY AS batch (${[...Object.keys(inputs), 'nth'].join(', ')})`;
  return `input AS (SELECT ${[...columns, 'nth'].join(', ')} FROM ${rows})`;
}

function names<I extends Inputs>(inputs: I, sql: (name: string, type: InputType, i: number) => string): InputNames<I> {
  const known = Object.fromEntries(Object.entries(inputs).map(([name, type], i) => [name, sql(name, type, i)]));
  return new Proxy(known, {
    get(target, name) {
      const found = target[String(name)];
      if (found === undefined) throw new Error(`The statement has no input ${String(name)}.`);
      return found;
    },
  }) as InputNames<I>;
}
