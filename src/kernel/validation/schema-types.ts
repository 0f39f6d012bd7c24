import type { Static, TSchema } from 'typebox';
import { DECIMAL_PATTERN } from '../money.ts';
import { TIME_PATTERN } from '../time/time.ts';
import { Type } from './type.ts';

/** Building blocks of request and response schemas. Lengths count Unicode code points. */

type Options = Record<string, unknown>;

const UUID_PATTERN = '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$';

/** A whole number from 1 in a query string. */
export const POSITIVE_INTEGER_PATTERN = '^[1-9][0-9]*$';

/** The message for a text that does not match the pattern. */
export const PATTERN_MESSAGES: Record<string, string> = {
  [POSITIVE_INTEGER_PATTERN]: 'must be a whole number from 1',
  [UUID_PATTERN]: 'must be a UUID',
  [TIME_PATTERN]: 'must be a time in the form YYYY-MM-DD HH:mm:ss',
  [DECIMAL_PATTERN]: 'must be a plain decimal number such as 60 or 60.00',
};

export const MAX_SHORT_TEXT = 1_000;
export const MAX_LONG_TEXT = 10_000;

export const text = (options: Options = {}) => Type.String({ maxLength: MAX_SHORT_TEXT, ...options });
export const booleanFlag = (options: Options = {}) => Type.Boolean(options);
export const uuid = (options: Options = {}) =>
  Type.String({ title: 'Uuid', pattern: UUID_PATTERN, format: 'uuid', ...options });

/** Wall time in the company's zone, or ISO 8601 with a zone. */
export const time = (options: Options = {}) => Type.String({ title: 'TimeInput', pattern: TIME_PATTERN, ...options });

/** A JSON number or a plain decimal string. */
export const decimal = (options: Options = {}) =>
  Type.Unsafe<number | string>({ type: ['number', 'string'], pattern: DECIMAL_PATTERN, ...options });

/** A boolean in a query string. */
export const queryFlag = (options: Options = {}) =>
  Type.Optional(
    Type.Unsafe<boolean | 'true' | 'false' | '1' | '0'>({
      type: ['boolean', 'string'],
      enum: [true, false, 'true', 'false', '1', '0'],
      default: false,
      ...options,
    }),
  );

export const isTrue = (value: Static<ReturnType<typeof queryFlag>> | undefined): boolean =>
  value === true || value === 'true' || value === '1';

/** The field may be omitted, and null means "no value". */
export function optional<T extends TSchema>(schema: T) {
  const { type, enum: values, ...rest } = schema as unknown as { type: string | string[]; enum?: unknown[] };
  const nullable = { ...rest, type: [type, 'null'].flat(), ...(values && { enum: [...values, null] }) };
  return Type.Optional(Type.Unsafe<Static<T> | null>(nullable));
}

/** The field is always present; its value may be null. */
export const nullable = <T extends TSchema>(schema: T) =>
  Type.Unsafe<Static<T> | null>({ ...schema, type: [(schema as unknown as { type: string }).type, 'null'] });

/** <YYYY-MM-DDTHH:mm:ss.ffffffZ> */
export const instant = (options: Options = {}) =>
  Type.String({
    title: 'Instant',
    format: 'date-time',
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z$',
    examples: ['2026-03-29T13:30:00.000000Z'],
    ...options,
  });

/** <YYYY-MM-DD HH:mm:ss>, wall time in the company's zone. */
export const wallTime = (options: Options = {}) =>
  Type.String({
    title: 'WallTime',
    pattern: '^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d$',
    examples: ['2026-03-29 14:30:00'],
    ...options,
  });

/** The response when a record of the company was removed. */
export const Removed = Type.Object(
  { id: uuid(), removed_at: instant() },
  { title: 'Removed', additionalProperties: false },
);

/** The response of a deletion. */
export const Deleted = Type.Object(
  { id: Type.String(), deleted_at: instant() },
  { title: 'Deleted', additionalProperties: false },
);
