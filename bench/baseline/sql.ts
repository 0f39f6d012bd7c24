/**
 * The little that the floor's statements share. Nothing of the service: what it does otherwise is what is measured.
 * JSON is put together as text, which takes the database half of what json_build_object does.
 */

export type Statement = { name: string; text: string };

/** A text that may hold anything. */
export const text = (value: string) => `to_json(${value})::text`;
/** Identifiers, times and words that need no escaping. */
export const plain = (value: string) => `'"' || ${value} || '"'`;
/** Numbers and truth values. */
export const bare = (value: string) => `(${value})::text`;
export const orNull = (json: string) => `coalesce(${json}, 'null')`;
export const NULL = `'null'`;

export const iso = (column: string) => plain(`to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`);
/** PostgreSQL's own zones will do here: nobody's appointment depends on it. */
export const wall = (column: string, zone: string) =>
  plain(`to_char(${column} AT TIME ZONE ${zone}, 'YYYY-MM-DD HH24:MI:SS')`);
/** A wall time that was sent. */
export const instant = (parameter: string, zone: string) => `(${parameter}::timestamp AT TIME ZONE ${zone})`;

/** The same for several columns of one table. */
export const columns = (write: (value: string) => string, alias: string, ...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, write(`${alias}.${name}`)]));
export const textOrNull = (value: string) => orNull(text(value));

/** Literals side by side are made one: the server would put them together for every row. */
export const object = (fields: Record<string, string>) =>
  `('{' || ${Object.entries(fields)
    .map(([key, json]) => `'"${key}":' || ${json}`)
    .join(` || ',' || `)} || '}')`.replaceAll(`' || '`, '');
export const array = (entry: string, order: string) =>
  `('[' || coalesce(string_agg(${entry}, ',' ORDER BY ${order}), '') || ']')`;
