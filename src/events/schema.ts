import { type Static, Type } from 'typebox';
import { instant, NATURAL_PATTERN, nullable } from '../kernel/validation/schema-types.ts';

export const MAX_EVENTS = 500;
export const DEFAULT_EVENTS = 100;

export const EVENT_ID_PATTERN = '^evt_[A-Za-z0-9_-]{22}$';

const image = (description: string) =>
  Type.Unsafe<Record<string, unknown> | null>({
    type: ['object', 'null'],
    additionalProperties: true,
    description,
  });

export const Event = Type.Object(
  {
    id: Type.String({
      pattern: EVENT_ID_PATTERN,
      description: 'Stays the same, here and in every delivery by webhook.',
      examples: ['evt_3q2-7wE9mXr0cVb1kqvJ5w'],
    }),
    type: Type.String({ description: 'The record and what happened to it.', examples: ['interaction.updated'] }),
    at: instant(),
    actor: Type.Object(
      {
        type: Type.Unsafe<'key' | 'client' | 'operator' | 'worker'>({
          type: 'string',
          enum: ['key', 'client', 'operator', 'worker'],
          description: 'A key or an API client; the operator at the command line; the service by itself.',
        }),
        id: Type.Optional(Type.String()),
        name: Type.Optional(Type.String({ description: 'As the credential was called at that time.' })),
      },
      { additionalProperties: false, description: 'Who did it.' },
    ),
    request_id: nullable(Type.String({ description: 'The X-Request-Id of the request that did it.' })),
    case_id: nullable(Type.String({ description: 'The case that the record belongs to.' })),
    record: Type.Object({ type: Type.String(), id: Type.String() }, { additionalProperties: false }),
    changed: Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string' },
      description: 'The fields that differ between `before` and `after`, where there are both.',
    }),
    before: image('The record as it was; null where it was made by this.'),
    after: image('The record as it became; null where it is gone.'),
  },
  { additionalProperties: false },
);

export type Event = Static<typeof Event>;

export const EventList = Type.Array(Event);

export const EventQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      pattern: `${EVENT_ID_PATTERN.slice(0, -1)}$|^latest$`,
      description:
        'The id of an event: those that came after it. `latest`: none of those that are there, only the link to what follows. By default from the beginning.',
    }),
  ),
  limit: Type.Optional(
    Type.Unsafe<string>({
      type: ['integer', 'string'],
      pattern: NATURAL_PATTERN,
      minimum: 1,
      maximum: MAX_EVENTS,
      default: DEFAULT_EVENTS,
      description: `How many at most, up to ${MAX_EVENTS}. Fewer where they are large; the link leads on to the others.`,
    }),
  ),
  types: Type.Optional(
    Type.String({
      maxLength: 2_000,
      description: 'Only these types, by commas. `invoice.*` means every type of that record.',
      examples: ['invoice.*,interaction.created'],
    }),
  ),
});
export type EventQuery = Static<typeof EventQuery>;
