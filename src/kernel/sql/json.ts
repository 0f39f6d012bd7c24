import { EPOCH_SHIFT } from '../time/wall-time-placeholders.ts';

/** SQL that builds JSON: as a json value, or as text, which costs the database half as much in lists. */

/** <YYYY-MM-DDTHH:mm:ss.ffffffZ> */
export const isoTime = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** A placeholder that `renderWallTimes` turns into a wall time. `zone` is an input made by `zonePlaceholder`. */
export const wallTime = (column: string, zone: string): string =>
  `(${zone}::text || (floor(extract(epoch FROM ${column})) + ${EPOCH_SHIFT})::text)`;

/** A piece of text: a constant, an SQL expression of type text, or what is between the parts of an object. */
type TextPart = { readonly constant: string } | { readonly sql: string } | { readonly separator: keyof Separators };

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
/** A number, a boolean or a json value; with `nullable` if it may be null. */
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

type Separators = { comma: string; colon: string };
const COMPACT: Separators = { comma: ',', colon: ':' };
/** As PostgreSQL writes an object. */
export const SPACED: Separators = { comma: ', ', colon: ' : ' };

const objectText = (fields: TypedFields): TextPart[] => [
  { constant: '{' },
  ...Object.entries(fields).flatMap(([key, { text }], i): TextPart[] => [
    ...(i === 0 ? [] : [{ separator: 'comma' } as const]),
    { constant: `"${key}"` },
    { separator: 'colon' },
    ...text,
  ]),
  { constant: '}' },
];

/** The same object as text. The objects in it have the same separators. */
export const jsonObjectText = (fields: TypedFields, separators = COMPACT): string =>
  `(${concatenation(objectText(fields), separators)})`;

export const jsonObjectField = (fields: TypedFields): JsonField => ({
  sql: jsonObject(fields),
  text: objectText(fields),
});

/** SQL: the text of a field. */
export const jsonFieldText = ({ text }: JsonField): string => concatenation(text);

/** PostgreSQL joins two adjacent constants anew for every row, so they are merged here. */
function concatenation(parts: readonly TextPart[], separators = COMPACT): string {
  const merged: ({ constant: string } | { sql: string })[] = [];
  for (const one of parts) {
    const part = 'separator' in one ? { constant: separators[one.separator] } : one;
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
