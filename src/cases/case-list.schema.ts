import { Type } from 'typebox';

/** True or false as a query parameter. */
export const queryFlag = (description: string) =>
  Type.Optional(
    Type.Unsafe<'true' | 'false' | '1' | '0'>({
      type: ['boolean', 'string'],
      enum: [true, false, 'true', 'false', '1', '0'],
      default: false,
      description,
    }),
  );

export const isTrue = (value: string | undefined): boolean => value === 'true' || value === '1';
