import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { Static, TSchema } from 'typebox';
import { type Fault, type FaultCode, InvalidValue, invalidRequest } from '../errors.ts';
import { PATTERN_MESSAGES } from './schema-types.ts';

/**
 * The validated input of a request, with the faults found so far. A verb goes on reading the other fields after a
 * fault, so that one response names all faults.
 */
export class Form<T> {
  readonly body: T;
  readonly #faults: Fault[] = [];
  /** The fields with faults, and the fields that contain them, so that `hasFault` is cheap for thousands of items. */
  #faultyFields: Set<string> | undefined;

  constructor(body: T, faults: Fault[] = []) {
    this.body = body;
    for (const { field, code, message } of faults) this.addFault(field, code, message);
  }

  get ok(): boolean {
    return this.#faults.length === 0;
  }

  /** Whether no body was sent. An empty object and an unreadable body do not count as missing. */
  get bodyMissing(): boolean {
    return this.#faults.some(({ field, code }) => field === 'body' && code === 'required');
  }

  has(field: keyof T & string): boolean {
    return this.body[field] !== undefined;
  }

  /** Returns the parsed value; undefined if the field was not sent or has a fault. */
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
    // Some paths contain keys chosen by the caller, which may be as long as the body.
    const field = path.length > MAX_PATH_LENGTH ? `${path.slice(0, MAX_PATH_LENGTH)}…` : path;
    this.#faults.push({ field, code, message });
    this.#faultyFields ??= new Set();
    for (
      let part = field;
      part !== '';
      part = part.slice(0, Math.max(part.lastIndexOf('.'), part.lastIndexOf('['), 0))
    ) {
      this.#faultyFields.add(part);
    }
  }

  /** Whether the field or a part of it has a fault. */
  hasFault(field: string): boolean {
    return this.#faultyFields !== undefined && (this.#faultyFields.has(field) || this.#faultyFields.has('body'));
  }

  /** Throws InvalidRequestError if there are faults. */
  check(): void {
    if (!this.ok) throw invalidRequest(this.#faults.slice(0, MAX_FAULTS));
  }
}

/** The number of faults in one response. */
export const MAX_FAULTS = 100;
const MAX_PATH_LENGTH = 200;

// Ajv's strict mode rejects union types such as "string" or "null" unless they are allowed.
const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  allowUnionTypes: true,
  // JSON.parse reads a number beyond the doubles as Infinity, which is later rejected for its size.
  strictNumbers: false,
  formats: { uuid: true, 'date-time': true },
});
const validators = new WeakMap<TSchema, ValidateFunction>();

/**
 * Ajv's keywords count the characters of every text, which took 5 % of the time of a request. A text of n UTF-16 units
 * has between n/2 and n characters, so the characters rarely have to be counted.
 */
const lengthKeywords: Record<string, (limit: number) => (text: string) => boolean> = {
  maxLength: (max) => (text) => text.length <= max || !isLongerThan(text, max),
  minLength: (min) => (text) => text.length >= 2 * min || isLongerThan(text, min - 1),
};
for (const [keyword, compile] of Object.entries(lengthKeywords)) {
  ajv.removeKeyword(keyword).addKeyword({ keyword, type: 'string', schemaType: 'number', compile });
}

function isLongerThan(text: string, max: number): boolean {
  let count = 0;
  for (const _character of text) if (++count > max) return true;
  return false;
}

/** `body` is validated. The verbs read `exact`, which is the same body with long numbers as texts. */
export function readForm<S extends TSchema>(schema: S, body: unknown, exact: unknown = body): Form<Static<S>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return new Form({} as Static<S>, [{ field: 'body', code: 'type', message: 'must be one JSON object' }]);
  }
  const oversized = oversizedFields(schema, body as Record<string, unknown>);
  if (oversized.length > 0) {
    const emptied = { ...body, ...Object.fromEntries(oversized.map(({ field }) => [field, undefined])) };
    // An oversized field that is required would be reported as missing, because it was emptied.
    const others = faultsOf(schema, emptied).filter((other) => !oversized.some(({ field }) => field === other.field));
    return new Form(emptied as Static<S>, [...oversized, ...others]);
  }
  return new Form(exact as Static<S>, faultsOf(schema, body));
}

function faultsOf(schema: TSchema, body: object): Fault[] {
  const validate = validators.get(schema) ?? validatorOf(schema);
  if (validate(body)) return [];
  const errors = (validate.errors ?? []).slice(0, MAX_FAULTS);
  // A value of the wrong type also fails `enum`; one fault is enough.
  const mistyped = new Set(errors.filter(({ keyword }) => keyword === 'type').map(({ instancePath }) => instancePath));
  return errors.filter(({ keyword, instancePath }) => keyword !== 'enum' || !mistyped.has(instancePath)).map(toFault);
}

function validatorOf(schema: TSchema): ValidateFunction {
  const validate = ajv.compile(schema);
  validators.set(schema, validate);
  return validate;
}

type Bound = [field: string, max: number];
const bounds = new WeakMap<TSchema, Bound[]>();

/** Runs before the schema is validated, which would collect the faults of every one of a million items. */
function oversizedFields(schema: TSchema, body: Record<string, unknown>): Fault[] {
  const faults: Fault[] = [];
  for (const [field, max] of bounds.get(schema) ?? boundsOf(schema)) {
    const value = body[field];
    if (typeof value !== 'object' || value === null || countOf(value) <= max) continue;
    faults.push(fault(field, 'too_many', `must not have more than ${max} entries`));
  }
  return faults;
}

function boundsOf(schema: TSchema): Bound[] {
  const { properties = {} } = schema as {
    properties?: Record<string, { maxItems?: number; maxProperties?: number }>;
  };
  const found = Object.entries(properties).flatMap(([field, { maxItems, maxProperties }]): Bound[] => {
    const max = maxItems ?? maxProperties;
    return max === undefined ? [] : [[field, max]];
  });
  bounds.set(schema, found);
  return found;
}

const countOf = (value: object) => (Array.isArray(value) ? value.length : Object.keys(value).length);

const TYPE_NAMES: Record<string, string> = {
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
      const types = [params.type].flat().map((type) => TYPE_NAMES[type] ?? type);
      return fault(field, 'type', `must be ${types.join(' or ')}`);
    }
    case 'enum': {
      const allowed = new Set(params.allowedValues.filter((value) => value !== null).map(String));
      return fault(field, 'not_allowed', `must be one of: ${[...allowed].join(', ')}`);
    }
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

/** Turns "/items/0/rate" into "items[0].rate". */
function fieldOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path ? `${path}.${part}` : part), '');
}
