/**
 * The language of the templates of messages: `{{field}}`, `{{#field}}…{{/field}}` for text that is there only if the
 * field has a value, and `{{^field}}…{{/field}}` for text that is there only if it has none. It is a subset of Mustache
 * without code, loops, partials and raw output, so a template that was stored can neither fail nor run for long.
 */

type Part =
  | { kind: 'text'; text: string }
  | { kind: 'field'; field: string }
  | { kind: 'section'; field: string; filled: boolean; parts: Part[] };

export type Template = { readonly parts: readonly Part[] };

/** Lines and columns count from 1, columns in characters. */
export type TemplateFault = { line: number; column: number; message: string };

export const MAX_TEMPLATE_LENGTH = 10_000;
/** With the longest value in each of them a mail stays below the size that mail servers accept. */
export const MAX_TAGS = 200;
export const MAX_SECTION_DEPTH = 8;
export const MAX_TEMPLATE_FAULTS = 20;

/** A tag, or braces that are no tag with the text they seem to enclose, or text. Each character is read at most twice. */
const TOKEN = /\{\{([^{}]*)\}\}(?!\})|\{+[^{}]*\}*|\}+|[^{}]+/g;
const TAG = /^([#^/]?)\s*([A-Za-z0-9_]+)$/;

type Token = { text: string; tag: { sign: string; field: string } | undefined; line: number; column: number };

/** Returns the template, or what is wrong with it in the order of the text. */
export function parseTemplate(
  text: string,
  fieldNames: Iterable<string>,
): { template: Template; faults?: never } | { template?: never; faults: TemplateFault[] } {
  const length = text.length > MAX_TEMPLATE_LENGTH ? [...text].length : text.length;
  if (length > MAX_TEMPLATE_LENGTH) {
    const message = `a template has at most ${MAX_TEMPLATE_LENGTH} characters; this one has ${length}`;
    return { faults: [{ line: 1, column: 1, message }] };
  }
  const parser = new Parser(new Set(fieldNames));
  const lines = text.split(/\r\n|\n|\r/);
  lines.forEach((line, index) => {
    parser.addLine(line, index + 1, index === lines.length - 1);
  });
  return parser.end();
}

class Parser {
  readonly #fieldNames: ReadonlySet<string>;
  readonly #faults: TemplateFault[] = [];
  readonly #parts: Part[] = [];
  readonly #open: { token: Token; field: string; parts: Part[] }[] = [];
  #tags = 0;

  constructor(fieldNames: ReadonlySet<string>) {
    this.#fieldNames = fieldNames;
  }

  addLine(line: string, number: number, last: boolean): void {
    const tokens = this.#tokensOf(line, number);
    const sections = tokens.filter(({ tag }) => tag !== undefined && tag.sign !== '');
    const others = tokens.filter((token) => !sections.includes(token));
    // A line that holds only the beginnings and ends of sections would otherwise leave an empty line in the message.
    if (sections.length > 0 && others.every(({ text }) => text.trim() === '')) {
      for (const token of sections) this.#addTag(token);
      return;
    }
    for (const token of tokens) {
      if (token.tag) this.#addTag(token);
      else this.#current.push({ kind: 'text', text: token.text });
    }
    if (!last) this.#current.push({ kind: 'text', text: '\n' });
  }

  end(): { template: Template; faults?: never } | { template?: never; faults: TemplateFault[] } {
    for (const { token, field } of this.#open) {
      this.#addFault(
        token,
        `the section ${shown(token.text)} is never closed: write {{/${shown(field)}}} where it ends`,
      );
    }
    if (this.#faults.length === 0) return { template: { parts: this.#parts } };
    const faults = this.#faults.sort((one, other) => one.line - other.line || one.column - other.column);
    return { faults: faults.slice(0, MAX_TEMPLATE_FAULTS) };
  }

  get #current(): Part[] {
    return this.#open.at(-1)?.parts ?? this.#parts;
  }

  #tokensOf(line: string, number: number): Token[] {
    const tokens: Token[] = [];
    let column = 1;
    for (const [text, content] of line.matchAll(TOKEN)) {
      const token: Token = { text, tag: undefined, line: number, column };
      column += [...text].length;
      tokens.push(token);
      if (content !== undefined) {
        const [, sign = '', field] = TAG.exec(content.trim()) ?? [];
        if (field === undefined) this.#addFault(token, invalidTag(text, content.trim()));
        else token.tag = { sign, field };
      } else if (/[{}]/.test(text)) {
        this.#addFault(token, strayBraces(text));
      }
    }
    return tokens;
  }

  #addTag(token: Token): void {
    const { sign, field } = token.tag as NonNullable<Token['tag']>;
    this.#tags++;
    if (this.#tags === MAX_TAGS + 1) this.#addFault(token, `a template has at most ${MAX_TAGS} tags`);
    if (sign === '/') {
      this.#closeSection(token, field);
      return;
    }
    if (!this.#fieldNames.has(field)) {
      this.#addFault(token, `there is no field ${shown(field)}; the fields are ${[...this.#fieldNames].join(', ')}`);
    }
    if (sign === '') {
      this.#current.push({ kind: 'field', field });
      return;
    }
    if (this.#open.length === MAX_SECTION_DEPTH) {
      this.#addFault(token, `sections are nested at most ${MAX_SECTION_DEPTH} deep`);
    }
    const parts: Part[] = [];
    this.#current.push({ kind: 'section', field, filled: sign === '#', parts });
    this.#open.push({ token, field, parts });
  }

  #closeSection(token: Token, field: string): void {
    const index = this.#open.findLastIndex((section) => section.field === field);
    const inner = this.#open.at(-1);
    if (index === -1 || !inner) {
      this.#addFault(token, `${shown(token.text)} closes a section that is not open`);
      return;
    }
    if (inner.field !== field) {
      const place = `line ${inner.token.line}, column ${inner.token.column}`;
      const texts = [shown(token.text), shown(inner.token.text)];
      this.#addFault(token, `${texts[0]} comes before the end of ${texts[1]} of ${place}; close that first`);
    }
    // The sections in between count as closed, so that one mistake is one fault.
    this.#open.length = index;
  }

  #addFault({ line, column }: Token, message: string): void {
    this.#faults.push({ line, column, message });
  }
}

const MAX_SHOWN_LENGTH = 40;
const shown = (text: string): string =>
  text.length <= MAX_SHOWN_LENGTH ? text : `${text.slice(0, MAX_SHOWN_LENGTH)}…`;

function invalidTag(text: string, content: string): string {
  if (content === '') return 'the tag has no field: write {{field}}';
  return `${shown(text)} is no tag; the tags are {{field}}, {{#field}}, {{^field}} and {{/field}}`;
}

function strayBraces(text: string): string {
  if (text.startsWith('{{{')) return 'a tag has two braces on each side: write {{field}}';
  if (text.startsWith('{{')) return `${shown(text)} is not closed: write }} after the field, on the same line`;
  if (text.startsWith('{')) return 'a tag has two braces on each side, and braces have no other use';
  return 'these braces close no tag, and braces have no other use';
}

/** Fields without a value count as empty. The values are inserted as they are. */
export function renderTemplate({ parts }: Template, fields: Readonly<Record<string, string>>): string {
  return render(parts, new Map(Object.entries(fields)));
}

function render(parts: readonly Part[], values: ReadonlyMap<string, string>): string {
  let text = '';
  for (const part of parts) {
    if (part.kind === 'text') text += part.text;
    else if (part.kind === 'field') text += values.get(part.field) ?? '';
    else if (Boolean(values.get(part.field)) === part.filled) text += render(part.parts, values);
  }
  return text;
}

/** More fields than this around a field are never looked into. */
const MAX_CONDITIONS = 8;

/** Whether one of the fields, if all of them have a value, is in every text that is made from the template. */
export const alwaysShows = ({ parts }: Template, fields: readonly string[]): boolean =>
  showsGiven(parts, fields, new Map(fields.map((field) => [field, true])));

/** `filled` says of some fields whether they have a value. What is shown in both cases of another is always shown. */
function showsGiven(parts: readonly Part[], fields: readonly string[], filled: ReadonlyMap<string, boolean>): boolean {
  const { shown, condition } = lookFor(parts, fields, filled);
  if (shown || condition === undefined) return shown;
  if (filled.size - fields.length >= MAX_CONDITIONS) return false;
  return [true, false].every((value) => showsGiven(parts, fields, new Map([...filled, [condition, value]])));
}

/** `condition` is a field on which it depends whether one of the fields is shown. */
function lookFor(
  parts: readonly Part[],
  fields: readonly string[],
  filled: ReadonlyMap<string, boolean>,
): { shown: boolean; condition?: string | undefined } {
  let condition: string | undefined;
  for (const part of parts) {
    if (part.kind === 'text') continue;
    if (part.kind === 'field') {
      if (fields.includes(part.field)) return { shown: true };
      continue;
    }
    const value = filled.get(part.field);
    if (value !== undefined && value !== part.filled) continue;
    const inside = lookFor(part.parts, fields, filled);
    if (value !== undefined && inside.shown) return inside;
    if (value === undefined && (inside.shown || inside.condition !== undefined)) condition ??= part.field;
    condition ??= inside.condition;
  }
  return { shown: false, condition };
}
