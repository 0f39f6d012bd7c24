/** JSON that no serialiser writes: duplicate keys, numbers beyond a double, unpaired surrogates. */
export type JsonNode = string | boolean | null | RawJson | KnownValue | readonly JsonNode[] | JsonMembers;

/** Text that is written unchanged. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value of the calling company, by its name. */
export class KnownValue {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** An object as a list of members, because a JavaScript object cannot repeat a key and treats __proto__ specially. */
export class JsonMembers {
  readonly entries: readonly (readonly [string | KnownValue, JsonNode])[];

  constructor(entries: readonly (readonly [string | KnownValue, JsonNode])[]) {
    this.entries = entries;
  }
}

export function serialise(node: JsonNode, known: Record<string, string>): string {
  if (node instanceof RawJson) return node.text;
  if (node instanceof KnownValue) return JSON.stringify(known[node.name] ?? '');
  if (node instanceof JsonMembers) {
    const written = node.entries.map(([key, value]) => `${serialise(key, known)}:${serialise(value, known)}`);
    return `{${written.join(',')}}`;
  }
  if (Array.isArray(node)) return `[${node.map((part) => serialise(part, known)).join(',')}]`;
  return JSON.stringify(node);
}
