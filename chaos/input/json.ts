/** JSON that no serialiser would write: keys twice, numbers that no double holds, halves of surrogate pairs. */
export type Node = string | boolean | null | Raw | Known | readonly Node[] | Members;

/** As it is. */
export class Raw {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Something that the calling firm has, by its name. */
export class Known {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** An object; not one of JavaScript's, which holds a key once and keeps __proto__ for itself. */
export class Members {
  readonly entries: readonly (readonly [string | Known, Node])[];

  constructor(entries: readonly (readonly [string | Known, Node])[]) {
    this.entries = entries;
  }
}

export function write(node: Node, known: Record<string, string>): string {
  if (node instanceof Raw) return node.text;
  if (node instanceof Known) return JSON.stringify(known[node.name] ?? '');
  if (node instanceof Members) {
    const written = node.entries.map(([key, value]) => `${write(key, known)}:${write(value, known)}`);
    return `{${written.join(',')}}`;
  }
  if (Array.isArray(node)) return `[${node.map((part) => write(part, known)).join(',')}]`;
  return JSON.stringify(node);
}
