/** The values of a form, flat: an item of a list has the name that faults have, such as `items[0].rate`. */
export type Values = Readonly<Record<string, string | boolean>>;

/** A field, or a list with all of its lines: a line has no name of its own that two versions would share. */
const partOf = (name: string): string => name.replace(/\[.*/, '');

const entriesOf = (values: Values, parts: readonly string[]) =>
  Object.entries(values).filter(([name]) => parts.includes(partOf(name)));

/** Returns the parts in which two versions differ. */
export function differingParts(one: Values, other: Values): string[] {
  const parts = [...new Set(Object.keys({ ...one, ...other }).map(partOf))];
  const textOf = (values: Values, part: string) => JSON.stringify(entriesOf(values, [part]).sort());
  return parts.filter((part) => textOf(one, part) !== textOf(other, part));
}

/** Returns the values with some parts of another version. */
export const takeParts = (values: Values, other: Values, parts: readonly string[]): Values =>
  Object.fromEntries([
    ...Object.entries(values).filter(([name]) => !parts.includes(partOf(name))),
    ...entriesOf(other, parts),
  ]);

/** Returns the lines of a list, each with its values in a row. */
export function linesOf(values: Values, list: string): string[] {
  const lines = new Map<string, unknown[]>();
  for (const [name, value] of entriesOf(values, [list])) {
    const line = name.slice(0, name.indexOf(']'));
    lines.set(line, [...(lines.get(line) ?? []), value]);
  }
  return [...lines.values()].map((line) => line.join(' · '));
}
