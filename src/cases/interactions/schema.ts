import type { Static } from 'typebox';
import { PAGE_QUERY } from '../../kernel/validation/paging.ts';
import {
  instant,
  nullable,
  optional,
  queryFlag,
  text,
  time,
  uuid,
  wallTime,
} from '../../kernel/validation/schema-types.ts';
import { Type } from '../../kernel/validation/type.ts';

const INTERACTION_TYPES = ['phone', 'email', 'SMS', 'appointment', 'letter', 'video_conference', 'other'] as const;

const type = Type.Unsafe<(typeof INTERACTION_TYPES)[number]>({
  type: 'string',
  enum: [...INTERACTION_TYPES],
  description: 'Kind of contact; case-sensitive.',
  examples: ['phone'],
});

export const InteractionBody = Type.Object({
  type,
  notes: optional(text({ maxLength: 255, examples: ['Called about the draft will'] })),
  when: optional(
    time({
      description: 'When it happened: wall time of the company, or ISO 8601 with a zone. Default: now.',
      examples: ['2026-03-29 14:30:00'],
    }),
  ),
  recipient: optional(text({ maxLength: 255, examples: ['John Smith'] })),
  sender: optional(text({ maxLength: 255, examples: ['Ann Jones'] })),
});
export type InteractionBody = Static<typeof InteractionBody>;

export const InteractionQuery = Type.Object({
  type: Type.Optional(type),
  from: Type.Optional(time({ description: 'Happened at this time or later.', examples: ['2026-03-01 00:00:00'] })),
  to: Type.Optional(time({ description: 'Happened before this time.', examples: ['2026-04-01 00:00:00'] })),
  deleted: queryFlag({ description: 'Only deleted interactions, for example to restore one.' }),
  ...PAGE_QUERY,
});
export type InteractionQuery = Static<typeof InteractionQuery>;

const common = {
  id: uuid(),
  type,
  notes: Type.String(),
  sender: nullable(Type.String()),
  recipient: Type.String(),
  customer_case_id: uuid(),
};

export const InteractionRecord = Type.Object({ ...common, when: instant() }, { additionalProperties: false });

export const InteractionElement = Type.Object(
  {
    ...common,
    when: wallTime({ description: 'Wall time of the company.' }),
    icon: Type.String({ description: 'Display icon name.', examples: ['phone'] }),
    formatted_type: Type.String({ description: 'Display form of type.', examples: ['Phone'] }),
  },
  { additionalProperties: false },
);

export const InteractionList = Type.Array(InteractionElement);
