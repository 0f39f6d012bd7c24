import type { PoolName, Query } from '../../src/kernel/sql/statement.ts';

/** A statement of a test, with positional values. */
export const testQuery = (name: string, text: string, values: unknown[] = [], pool: PoolName = 'short'): Query => ({
  statement: { name, text, readOnly: /^\s*SELECT\b/.test(text), pool, key: [] },
  values,
});
