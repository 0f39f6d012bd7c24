import type { Static } from 'typebox';
import { instant, nullable, POSITIVE_INTEGER_PATTERN } from '../kernel/validation/schema-types.ts';
import { Type } from '../kernel/validation/type.ts';

export const MAX_EVENTS = 500;
export const DEFAULT_EVENTS = 100;

const EVENT_ID_PATTERN = '^evt_[A-Za-z0-9_-]{22}$';

const snapshot = (description: string) =>
  Type.Unsafe<Record<string, unknown> | null>({
    type: ['object', 'null'],
    additionalProperties: true,
    description,
  });

export const Event = Type.Object(
  {
    id: Type.String({
      pattern: EVENT_ID_PATTERN,
      description: 'The same in every list and in every webhook delivery.',
      examples: ['evt_3q2-7wE9mXr0cVb1kqvJ5w'],
    }),
    type: Type.String({ description: 'The type of the record and the change.', examples: ['interaction.updated'] }),
    at: instant(),
    actor: Type.Object(
      {
        type: Type.Unsafe<'key' | 'client' | 'user' | 'operator' | 'worker'>({
          type: 'string',
          enum: ['key', 'client', 'user', 'operator', 'worker'],
          description:
            '`key` or `client`: the credential of the request. `user`: a person who signed in. `operator`: the command line. ' +
            '`worker`: the service.',
        }),
        id: Type.Optional(Type.String()),
        name: Type.Optional(Type.String({ description: 'The name of the credential at that time.' })),
      },
      { title: 'AuditEventActor', additionalProperties: false, description: 'Who made the change.' },
    ),
    request_id: nullable(Type.String({ description: 'The X-Request-Id of the request that made the change.' })),
    case_id: nullable(Type.String({ description: 'The case that the record belongs to.' })),
    record: Type.Object(
      { type: Type.String(), id: Type.String() },
      { title: 'AuditEventRecord', additionalProperties: false },
    ),
    changed: Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string' },
      description: 'The fields that differ between `before` and `after`; null if one of them is null.',
    }),
    before: snapshot('The record before the change; null if the change created it.'),
    after: snapshot('The record after the change; null if it no longer exists.'),
  },
  { title: 'AuditEvent', additionalProperties: false },
);

export type Event = Static<typeof Event>;

export const EventList = Type.Array(Event);

export const EventQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      pattern: `${EVENT_ID_PATTERN.slice(0, -1)}$|^latest$`,
      description:
        'The id of an event: returns the events after it. `latest`: returns no events, only the link to later ones. ' +
        'By default the list starts with the oldest event.',
    }),
  ),
  limit: Type.Optional(
    Type.Unsafe<string>({
      type: ['integer', 'string'],
      pattern: POSITIVE_INTEGER_PATTERN,
      minimum: 1,
      maximum: MAX_EVENTS,
      default: DEFAULT_EVENTS,
      description: `At most this many events, up to ${MAX_EVENTS}. Large events make a page shorter; follow the link.`,
    }),
  ),
  types: Type.Optional(
    Type.String({
      maxLength: 2_000,
      description: 'Only these types, separated by commas. `invoice.*` stands for every type of that record.',
      examples: ['invoice.*,interaction.created'],
    }),
  ),
});
export type EventQuery = Static<typeof EventQuery>;

export const CompanyEventQuery = Type.Object({
  ...EventQuery.properties,
  order: Type.Optional(
    Type.Unsafe<'oldest' | 'newest'>({
      type: 'string',
      enum: ['oldest', 'newest'],
      default: 'oldest',
      description:
        '`newest`: begins with the newest event, and `after` returns those that happened before it. There is no link on the ' +
        'last page.',
    }),
  ),
});
export type CompanyEventQuery = Static<typeof CompanyEventQuery>;
