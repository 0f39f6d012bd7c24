/** SQL for statements whose inputs are the table expression `input`. */

/** The two aliases mean the same record of a case. */
export const sameKey = (one: string, other: string): string =>
  `${one}.company_id = ${other}.company_id AND ${one}.case_id = ${other}.case_id AND ${one}.id = ${other}.id`;

/** The written record with the inputs of its request. RETURNING of an INSERT knows nothing but the new row. */
export const withInput = (written: string): string => `${written} JOIN input ON ${sameKey(written, 'input')}`;
