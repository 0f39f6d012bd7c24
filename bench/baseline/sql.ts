import type { InputType } from '../../src/kernel/sql/inputs.ts';

/**
 * SQL helpers of the baseline. It shares no code with the service, because the difference is what is measured. JSON is
 * concatenated as text, which takes half the time of json_build_object.
 */

export type Statement = {
  name: string;
  text: string;
  /** The form for several requests, which only the best baseline sends: an array for each parameter. */
  batch: { text: string; types: InputType[] };
};

/** A JSON string from any text. */
export const jsonString = (value: string) => `to_json(${value})::text`;
/** A JSON string from a value that needs no escaping, such as an identifier or a time. */
export const jsonUnescaped = (value: string) => `'"' || ${value} || '"'`;
/** A number or a boolean. */
export const jsonRaw = (value: string) => `(${value})::text`;
export const nullable = (json: string) => `coalesce(${json}, 'null')`;
export const JSON_NULL = `'null'`;

export const isoTime = (column: string) =>
  jsonUnescaped(`to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`);
/** Uses the time zones of PostgreSQL, which may differ from those of Node. That does not matter here. */
export const wallTime = (column: string, zone: string) =>
  jsonUnescaped(`to_char(${column} AT TIME ZONE ${zone}, 'YYYY-MM-DD HH24:MI:SS')`);
/** Converts a wall time in a parameter to a timestamptz. */
export const toInstant = (parameter: string, zone: string) => `(${parameter}::timestamp AT TIME ZONE ${zone})`;

/** Applies `write` to several columns of one table. */
export const columns = (write: (value: string) => string, alias: string, ...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, write(`${alias}.${name}`)]));
export const nullableString = (value: string) => nullable(jsonString(value));

/** Adjacent literals are merged; otherwise the server would concatenate them for every row. */
export const jsonObject = (fields: Record<string, string>) =>
  `('{' || ${Object.entries(fields)
    .map(([key, json]) => `'"${key}":' || ${json}`)
    .join(` || ',' || `)} || '}')`.replaceAll(`' || '`, '');
export const jsonArray = (entry: string, order: string) =>
  `('[' || coalesce(string_agg(${entry}, ',' ORDER BY ${order}), '') || ']')`;

/**
 * A statement for several requests, with their parameters in the table expression `input` as p1, p2 and so on, and their
 * position as `nth`. Arrays of arrays cannot differ in length, so an array travels as its text.
 */
export function batchOf(types: InputType[], rest: string): Statement['batch'] {
  const isArray = (type: string) => type.endsWith('[]');
  const arrays = types.map((type, i) => `$${i + 1}::${isArray(type) ? 'text' : type}[]`);
  const names = types.map((_type, i) => `p${i + 1}`);
  const columns = types.map((type, i) => (isArray(type) ? `p${i + 1}::${type} AS p${i + 1}` : `p${i + 1}`));
  const text = `WITH input AS (
    SELECT ${columns.join(', ')}, nth FROM unnest(${arrays.join(', ')}) WITH ORDINALITY AS b (${names.join(', ')}, nth)
  ) ${rest}`;
  return { text, types };
}

/** Replaces the parameters of SQL for one request by those of `input`. */
export const fromInput = (sql: string): string => sql.replaceAll(/\$(\d+)(::\w+(\[\])?)?/g, 'input.p$1');

/** A list for each of several requests. */
export const batchOfLists = (types: InputType[], list: string): Statement['batch'] =>
  batchOf(types, `SELECT input.nth, l.json FROM input CROSS JOIN LATERAL (${fromInput(list)}) l (json)`);
