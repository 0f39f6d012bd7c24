/**
 * SQL helpers of the baseline. It shares no code with the service, because the difference is what is measured. JSON is
 * concatenated as text, which takes half the time of json_build_object.
 */

export type Statement = { name: string; text: string };

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
