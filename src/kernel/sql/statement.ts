export { pgArrayLiteral, stripNul } from './inputs.ts';
export * from './json.ts';

import type { Texts } from './batch-statement.ts';

/** Named, so that each connection parses and plans it once. The name is also its label in the metrics. */
export type Statement = {
  readonly name: string;
  readonly text: string;
  readonly takesTime?: 'list' | 'search';
  /** The same for several at once. It gives a row for each that has an answer: which of them, from 1 on, and the answer. */
  readonly several?: { readonly name: string; readonly text: string; readonly types: readonly string[] };
};

const LONGEST_NAME = 63;
const textByName = new Map<string, string>();

/** A connection takes a name for one text only: another text under it would fail there, now and then. */
function named(name: string, text: string): { name: string; text: string } {
  if (name.length > LONGEST_NAME) throw new Error(`The server would cut off the end of ${name}.`);
  const known = textByName.get(name);
  if (known !== undefined && known !== text) throw new Error(`Two statements are called ${name}.`);
  textByName.set(name, text);
  return { name, text };
}

export function statement(name: string, text: string | Texts): Statement {
  if (typeof text === 'string') return named(name, text);
  const { one, several, types } = text;
  return { ...named(name, one), several: { ...named(`${name}*`, several), types } };
}

/** A list that is found by its keys. It takes its time, and short ones do not wait behind it. */
export const listStatement = (name: string, text: string | Texts): Statement => ({
  ...statement(name, text),
  takesTime: 'list',
});

/** What takes its time too, and whose best plan depends on what is asked for. */
export const longStatement = (name: string, text: string): Statement => ({
  ...named(name, text),
  takesTime: 'search',
});

/** How many of something there may be. */
export type RowLimit = { max: number; label: string; count: Statement };

/** `rows`: FROM and WHERE of what counts. No more of them are looked at than there may be. */
export const rowLimit = (what: string, most: number, rows: string): RowLimit => ({
  max: most,
  label: what,
  count: statement(
    `${what.replaceAll(' ', '_')}.count`,
    `SELECT count(*)::int AS count FROM (SELECT 1 ${rows} LIMIT ${most}) counted`,
  ),
});

/** Gives the statement that has these parts. `bare`: the one that has none, for whoever looks through them all. */
export type StatementVariants<Part extends string> = ((parts: readonly (Part | false)[]) => Statement) & {
  bare: Statement;
};

/**
 * A statement that consists of the parts that are needed, named after them and made when it is first needed: a part that
 * finds nothing to do, or a parameter that may be null, costs as well.
 */
export function statementVariants<Part extends string>(
  name: string,
  text: (parts: readonly Part[]) => string | Texts,
): StatementVariants<Part> {
  const made = new Map<string, Statement>();
  const having = (wanted: readonly (Part | false)[]) => {
    const parts = wanted.filter((part) => part !== false);
    const whole = [name, ...parts].join('+');
    const known = made.get(whole) ?? statement(whole, text(parts));
    made.set(whole, known);
    return known;
  };
  return Object.assign(having, { bare: having([]) });
}
