import { batchInput, type Inputs, singleInput } from './inputs.ts';

/**
 * Conditions that a write checks by itself, and what it stores together with its answer. So a careful request costs one
 * statement, which is batched like any other.
 */
export type Guard = {
  readonly name: string;
  /** Follow the inputs of the statement. */
  readonly inputs: Inputs;
  /** SQL on a row of `input`. Requests that do not meet it are not served: the statement returns no row for them. */
  readonly condition: string;
  /** SQL: a table expression that uses `answer` (nth, version, json) and `input`. */
  readonly store?: string;
};

/** Both conditions, checked by one statement, and what the first one stores. */
export const combineGuards = (one: Guard, other: Guard): Guard => ({
  name: `${one.name} ${other.name}`,
  inputs: { ...one.inputs, ...other.inputs },
  condition: `${one.condition} AND ${other.condition}`,
  ...(one.store !== undefined && { store: one.store }),
});

export const guardedName = (statement: string, guard: Guard): string => `${statement} ${guard.name}`;

/**
 * The table `input` of one request, empty if the condition is not met. Only the condition is materialized: the planner
 * would not see parameters behind a materialized `input`, and would read the whole index of a small table.
 */
export const guardedSingleInput = (inputs: Inputs, condition: string): string =>
  `guard AS MATERIALIZED (WITH ${singleInput(inputs)} SELECT FROM input WHERE ${condition}),
    ${singleInput(inputs, 'FROM guard')}`;

/** The table `input` of a batch, without the requests that do not meet the condition. */
export const guardedBatchInput = (inputs: Inputs, condition: string): string =>
  `input AS MATERIALIZED (
      WITH ${batchInput(inputs)}
      SELECT * FROM input WHERE ${condition})`;
