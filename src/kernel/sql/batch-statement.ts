/**
 * One statement for several requests that ask for the same at the same moment: what a statement costs by itself, before it
 * comes to its rows, is then paid once. See docs/decisions/0021-statement-batching.md.
 */

/** What the text of a change says differently where it is made for several at once. */
export type GivenChange = {
  /** SQL of the part that reads or writes the record itself, with the parameters of that record. */
  here: (sql: string) => string;
  /** SQL of what follows, which takes them from the record as it was written. */
  behind: (sql: string) => string;
  /** What that part has to take its parameters from. */
  from: string;
  /** What an UPDATE has to return for what follows. */
  carried: string;
  /** What stands before an answer, to tell whose it is. */
  whose: string;
};

export type Given = GivenChange & {
  /**
   * The part that an INSERT is, whose RETURNING knows nothing but its own row: $1 company, $2 case, $3 id. It is told what
   * comes first in its FROM.
   */
  insert: (sql: (first: string) => string) => string;
};

const same = (sql: string): string => sql;

/** For one: the parameters are there, whoever needs them. */
export const ONE: GivenChange = { here: same, behind: same, from: '', carried: '', whose: '' };

/** A text for one, and one for several: an array for each parameter, with an element for each of them. */
export type Texts = { one: string; several: string; types: readonly string[] };

/**
 * `as`: the record that is changed. `types`: those of the parameters. An array among them is sent as its text, because
 * arrays of arrays cannot differ in length.
 */
export function forSeveral(as: string, types: readonly string[], text: (given: Given) => string): Texts {
  const { from, here, taken } = givenTo(types);
  const several = text({
    here,
    behind: taken(as),
    from,
    carried: ', given.*',
    insert: (sql) => `given AS (SELECT * FROM ${from}), inserted AS (${here(sql('given, '))}
      ), ${as} AS (SELECT inserted.*, given.* FROM inserted 
        JOIN given ON given.p1 = inserted.company_id AND given.p2 = inserted.case_id AND given.p3 = inserted.id)`,
    whose: `${as}.nth, `,
  });
  return { one: text({ ...ONE, insert: (sql) => `${as} AS (${sql('')})` }), several, types };
}

/** The same of a statement that reads one value for one. */
export function readForSeveral(types: readonly string[], value: string, text: string): Texts {
  const { from, here } = givenTo(types);
  const several = `SELECT given.nth, one.${value} FROM ${from} CROSS JOIN LATERAL (${here(text)}) one`;
  return { one: text, several, types };
}

/** The arrays as rows, and how SQL takes a parameter from one of them, or from what has its columns. */
function givenTo(types: readonly string[]) {
  const names = types.map((_type, i) => `p${i + 1}`);
  const arrays = types.map((type, i) => `$${i + 1}::${isArray(type) ? 'text' : type}[]`);
  const taken = (from: string) => (sql: string) =>
    sql.replaceAll(/\$(\d+)/g, (_parameter, place) => {
      const type = types[Number(place) - 1];
      if (type === undefined) throw new Error(`A parameter has no type: $${place}.`);
      return isArray(type) ? `${from}.p${place}::${type}` : `${from}.p${place}`;
    });
  const from = `unnest(${arrays.join(', ')}) WITH ORDINALITY AS given (${names.join(', ')}, nth)`;
  return { from, here: taken('given'), taken };
}

export const isArray = (type: string): boolean => type.endsWith('[]');
