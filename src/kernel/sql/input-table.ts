/** SQL for statements whose inputs are the table expression `input`. */

/** The two aliases mean the same record of a case. */
export const sameKey = (one: string, other: string): string =>
  `${one}.company_id = ${other}.company_id AND ${one}.case_id = ${other}.case_id AND ${one}.id = ${other}.id`;

/**
 * A table expression after `inserted AS (INSERT … RETURNING *)`: the new record under its alias with the inputs `nth`,
 * `now` and `origin`, as after an update, and with others that are no columns of the record. RETURNING of an INSERT knows
 * nothing but the new row.
 */
export const insertedWithInput = (alias: string, otherInputs: readonly string[] = []): string =>
  `${alias} AS (
      SELECT inserted.*, ${['nth', 'now', 'origin', ...otherInputs].map((input) => `input.${input}`).join(', ')}
        FROM inserted JOIN input ON ${sameKey('inserted', 'input')}
    )`;
