import type { Static } from 'typebox';
import { InvalidValue } from '../errors.ts';
import { nullable, text, uuid } from '../validation/schema-types.ts';
import { assertVisible } from '../validation/single-line.ts';
import { Type } from '../validation/type.ts';

const MAX_LENGTH = 255;

const options = { description: 'The id of the record in another system of the company.', examples: ['crm-4711'] };

/** What responses show. */
export const externalId = nullable(Type.String(options));

export const ExternalIdBody = Type.Object(
  { external_id: nullable(text({ minLength: 1, maxLength: MAX_LENGTH, ...options })) },
  { title: 'ExternalIdBody' },
);
export type ExternalIdBody = Static<typeof ExternalIdBody>;

export const ExternalIdRecord = Type.Object(
  { id: uuid(), external_id: externalId },
  { title: 'ExternalId', additionalProperties: false },
);

/** For an id in a path, which no schema validates. */
export function assertExternalId(id: string): void {
  assertVisible(id);
  if (id === '') throw new InvalidValue('too_short', 'must not be empty');
  if ([...id].length > MAX_LENGTH) {
    throw new InvalidValue('too_long', `must not be longer than ${MAX_LENGTH} characters`);
  }
}
