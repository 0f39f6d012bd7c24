import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { Static, TSchema } from 'typebox';
import { type Fault, type FaultCode, InvalidValue, invalidRequest } from '../errors.ts';
import { PATTERN_MESSAGES } from './schema-types.ts';

/**
 * What a caller sent, with every fault that has been found in it so far. A verb goes on reading the other fields
 * after a fault, so that the answer names all of them at once.
 */
export class Form<T> {
  readonly body: T;
  readonly #faults: Fault[] = [];
  /** Every field at fault and every field that it is a part of: a look-up for each of a thousand lines stays cheap. */
  #faulty: Set<string> | undefined;

  constructor(body: T, faults: Fault[] = []) {
    this.body = body;
    for (const { field, code, message } of faults) this.addFault(field, code, message);
  }

  get ok(): boolean {
    return this.#faults.length === 0;
  }

  /** No body came at all: not one that is empty of fields, and not one that could not be read. */
  get bodyMissing(): boolean {
    return this.#faults.some(({ field, code }) => field === 'body' && code === 'required');
  }

  has(field: keyof T & string): boolean {
    return this.body[field] !== undefined;
  }

  /** The parsed value; undefined where nothing was sent or where the field is at fault. */
  read<V, R>(field: string, value: V, parse: (value: NonNullable<V>) => R): R | undefined {
    if (value === undefined || value === null || this.hasFault(field)) return undefined;
    try {
      return parse(value);
    } catch (error) {
      if (!(error instanceof InvalidValue)) throw error;
      this.addFault(field, error.code, error.message);
      return undefined;
    }
  }

  addFault(path: string, code: FaultCode, message: string): void {
    // A caller's own keys are part of some paths, and may be as long as the body.
    const field = path.length > LONGEST_PATH ? `${path.slice(0, LONGEST_PATH)}…` : path;
    this.#faults.push({ field, code, message });
    this.#faulty ??= new Set();
    for (
      let part = field;
      part !== '';
      part = part.slice(0, Math.max(part.lastIndexOf('.'), part.lastIndexOf('['), 0))
    ) {
      this.#faulty.add(part);
    }
  }

  /** Whether the field, or a part of it, has been refused. */
  hasFault(field: string): boolean {
    return this.#faulty !== undefined && (this.#faulty.has(field) || this.#faulty.has('body'));
  }

  /** Throws what has been found, if anything has. */
  check(): void {
    if (!this.ok) throw invalidRequest(this.#faults.slice(0, MAX_FAULTS));
  }
}

/** A caller learns of so many faults in one answer. */
export const MAX_FAULTS = 100;
const LONGEST_PATH = 200;

// strict is for authors of schemas; the union types here ("string" or "null") are meant.
const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  allowUnionTypes: true,
  // A number that no double holds is read as infinite, and refused for its size.
  strictNumbers: false,
  formats: { uuid: true, 'date-time': true },
});
const validators = new WeakMap<TSchema, ValidateFunction>();

/**
 * Ajv's own count the characters of every text, which took a twentieth of a request. A text has at most as many as it has
 * units, and at least half as many: it is seldom that they have to be counted.
 */
const lengths: Record<string, (limit: number) => (text: string) => boolean> = {
  maxLength: (most) => (text) => text.length <= most || !hasMore(text, most),
  minLength: (least) => (text) => text.length >= 2 * least || hasMore(text, least - 1),
};
for (const [keyword, compile] of Object.entries(lengths)) {
  ajv.removeKeyword(keyword).addKeyword({ keyword, type: 'string', schemaType: 'number', compile });
}

function hasMore(text: string, most: number): boolean {
  let count = 0;
  for (const _character of text) if (++count > most) return true;
  return false;
}

/** `exact` is the same body with long numbers as their text; it is what the verbs read, once `body` has been judged. */
export function readForm<S extends TSchema>(schema: S, body: unknown, exact: unknown = body): Form<Static<S>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return new Form({} as Static<S>, [{ field: 'body', code: 'type', message: 'must be one JSON object' }]);
  }
  const crowded = tooMany(schema, body as Record<string, unknown>);
  if (crowded.length > 0) {
    const emptied = { ...body, ...Object.fromEntries(crowded.map(({ field }) => [field, undefined])) };
    // A required one is not missing: it is what was emptied.
    const others = faultsOf(schema, emptied).filter((other) => !crowded.some(({ field }) => field === other.field));
    return new Form(emptied as Static<S>, [...crowded, ...others]);
  }
  return new Form(exact as Static<S>, faultsOf(schema, body));
}

function faultsOf(schema: TSchema, body: object): Fault[] {
  const validate = validators.get(schema) ?? validatorOf(schema);
  if (validate(body)) return [];
  const errors = (validate.errors ?? []).slice(0, MAX_FAULTS);
  // What has the wrong type is no allowed value either; the one says it all.
  const mistyped = new Set(errors.filter(({ keyword }) => keyword === 'type').map(({ instancePath }) => instancePath));
  return errors.filter(({ keyword, instancePath }) => keyword !== 'enum' || !mistyped.has(instancePath)).map(toFault);
}

function validatorOf(schema: TSchema): ValidateFunction {
  const validate = ajv.compile(schema);
  validators.set(schema, validate);
  return validate;
}

type Bound = [field: string, most: number];
const bounds = new WeakMap<TSchema, Bound[]>();

/** Before the schema is walked: naming every fault of a million lines is no service to anybody. */
function tooMany(schema: TSchema, body: Record<string, unknown>): Fault[] {
  const faults: Fault[] = [];
  for (const [field, most] of bounds.get(schema) ?? boundsOf(schema)) {
    const value = body[field];
    if (typeof value !== 'object' || value === null || countOf(value) <= most) continue;
    faults.push(fault(field, 'too_many', `must not have more than ${most} entries`));
  }
  return faults;
}

function boundsOf(schema: TSchema): Bound[] {
  const { properties = {} } = schema as {
    properties?: Record<string, { maxItems?: number; maxProperties?: number }>;
  };
  const found = Object.entries(properties).flatMap(([field, { maxItems, maxProperties }]): Bound[] => {
    const most = maxItems ?? maxProperties;
    return most === undefined ? [] : [[field, most]];
  });
  bounds.set(schema, found);
  return found;
}

const countOf = (value: object) => (Array.isArray(value) ? value.length : Object.keys(value).length);

const KINDS: Record<string, string> = {
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
};

function toFault(error: ErrorObject): Fault {
  const field = fieldOf(error.instancePath);
  const params = error.params as {
    missingProperty: string;
    type: string | string[];
    allowedValues: unknown[];
    allowedValue: unknown;
    pattern: string;
  };
  switch (error.keyword) {
    case 'required':
      return fault(field ? `${field}.${params.missingProperty}` : params.missingProperty, 'required', 'is required');
    case 'type': {
      if (error.data === null) return fault(field, 'required', 'is required and cannot be null');
      const kinds = [params.type].flat().map((kind) => KINDS[kind] ?? kind);
      return fault(field, 'type', `must be ${kinds.join(' or ')}`);
    }
    case 'enum':
      return fault(
        field,
        'not_allowed',
        `must be one of: ${[...new Set(params.allowedValues.filter((value) => value !== null).map(String))].join(', ')}`,
      );
    case 'const':
      return fault(field, 'not_allowed', `must be ${params.allowedValue}`);
    case 'maxLength':
      return fault(field, 'too_long', `must not be longer than ${error.schema} characters`);
    case 'minLength':
      return fault(field, 'too_short', 'must not be empty');
    case 'pattern':
      return fault(field, 'format', PATTERN_MESSAGES[params.pattern] ?? 'has the wrong form');
    default:
      return fault(field, 'format', error.message ?? 'has the wrong form');
  }
}

const fault = (field: string, code: FaultCode, message: string): Fault => ({ field, code, message });

/** "/items/0/rate" becomes "items[0].rate". */
function fieldOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path ? `${path}.${part}` : part), '');
}
