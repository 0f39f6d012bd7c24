import type { InputType } from '../sql/inputs.ts';
import type { PreparedStatement, Query } from '../sql/query.ts';
import type { Statement } from '../sql/statement.ts';

/** Transitional: statements with positional values, until all have named inputs. */
export type LegacyStatement = Statement;
export type AnyQuery = Query | LegacyStatement;

const converted = new WeakMap<LegacyStatement, PreparedStatement>();

export function toQuery(query: AnyQuery, values: unknown[] = []): Query {
  if ('statement' in query) return query;
  const known = converted.get(query);
  if (known) return { statement: known, values };
  const { name, text, takesTime, several } = query;
  const statement: PreparedStatement = {
    name,
    text,
    readOnly: /^\s*SELECT\b/.test(text),
    pool: takesTime ?? 'short',
    key: [0, 1, 2],
    ...(several && { batch: { ...several, types: several.types as InputType[] } }),
  };
  converted.set(query, statement);
  return { statement, values };
}
