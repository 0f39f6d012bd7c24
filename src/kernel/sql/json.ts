import { EPOCH_SHIFT } from '../time/wall-time-placeholders.ts';

/** SQL that builds JSON: as a json value, or as text, which costs the database half as much in lists. */

/** <YYYY-MM-DDTHH:mm:ss.ffffffZ> */
export const isoTime = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** A placeholder that `renderWallTimes` turns into a wall time. `zone` is an input made by `zonePlaceholder`. */
export const wallTime = (column: string, zone: string): string =>
  `(${zone}::text || (floor(extract(epoch FROM ${column})) + ${EPOCH_SHIFT})::text)`;

/** A piece of text: a constant, or an SQL expression of type text. */
type TextPart = { readonly constant: string } | { readonly sql: string };

/** An expression, and its JSON text in parts. */
export type JsonField = { readonly sql: string; readonly text: readonly TextPart[] };

/** A text or a list of texts with any content. */
export const jsonString = (sql: string): JsonField => ({ sql, text: [{ sql: `to_json(${sql})::text` }] });
/** An identifier, a time or a word that needs no escaping. */
export const jsonUnescaped = (sql: string): JsonField => ({
  sql,
  text: [{ constant: '"' }, { sql: `(${sql})` }, { constant: '"' }],
});
/** A constant word that needs no escaping. */
export const jsonLiteral = (word: string): JsonField => ({ sql: `'${word}'`, text: [{ constant: `"${word}"` }] });
/** A number, a boolean or null. */
export const jsonRaw = (sql: string): JsonField => ({ sql, text: [{ sql: `(${sql})::text` }] });
/** An expression that has its JSON text already. */
export const jsonWithText = (sql: string, text: string): JsonField => ({ sql, text: [{ sql: text }] });
export const nullable = ({ sql, text }: JsonField): JsonField => ({
  sql,
  text: [{ sql: `coalesce(${concatenation(text)}, 'null')` }],
});
export const NULL: JsonField = { sql: 'null', text: [{ constant: 'null' }] };

type JsonFields = Record<string, string | JsonField>;

/** Turns { key: expression } into a JSON object with the keys in that order. */
export const jsonObject = (fields: JsonFields): string =>
  `json_build_object(${Object.entries(fields)
    .map(([key, value]) => `'${key}', ${typeof value === 'string' ? value : value.sql}`)
    .join(', ')})`;

type TypedFields = Record<string, JsonField>;

/** What is between the parts of an object. `SPACED` is how PostgreSQL writes an object. */
type Signs = { comma: string; colon: string };
const COMPACT: Signs = { comma: ',', colon: ':' };
export const SPACED: Signs = { comma: ', ', colon: ' : ' };

const objectText = (fields: TypedFields, { comma, colon }: Signs): TextPart[] => [
  { constant: '{' },
  ...Object.entries(fields).flatMap(([key, { text }], i) => [
    { constant: `${i === 0 ? '' : comma}"${key}"${colon}` },
    ...text,
  ]),
  { constant: '}' },
];

/** The same object as text. */
export const jsonObjectText = (fields: TypedFields, signs = COMPACT): string =>
  `(${concatenation(objectText(fields, signs))})`;

export const jsonObjectField = (fields: TypedFields, signs = COMPACT): JsonField => ({
  sql: jsonObject(fields),
  text: objectText(fields, signs),
});

/** SQL: the text of a field. */
export const jsonFieldText = ({ text }: JsonField): string => concatenation(text);

/** PostgreSQL joins two adjacent constants anew for every row, so they are merged here. */
function concatenation(parts: readonly TextPart[]): string {
  const merged: TextPart[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (last && 'constant' in last && 'constant' in part)
      merged[merged.length - 1] = { constant: last.constant + part.constant };
    else merged.push(part);
  }
  return merged.map((part) => ('constant' in part ? `'${part.constant}'` : part.sql)).join(' || ');
}

/** The texts of the rows, separated by commas. */
export const joinedText = (element: string, order: string): string => `string_agg(${element}, ',' ORDER BY ${order})`;

/** A JSON array of the rows, from the text of each. */
export const jsonArrayText = (element: string, order: string): string =>
  `('[' || coalesce(${joinedText(element, order)}, '') || ']')`;
