import type { Static } from 'typebox';
import { externalId } from '../../kernel/external-ids/schema.ts';
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

export const INTERACTION_TYPES = [
  'phone',
  'email',
  'SMS',
  'appointment',
  'letter',
  'video_conference',
  'other',
] as const;

const type = Type.Unsafe<(typeof INTERACTION_TYPES)[number]>({
  title: 'InteractionType',
  type: 'string',
  enum: [...INTERACTION_TYPES],
  description: 'Kind of contact; case-sensitive.',
});

export const InteractionBody = Type.Object(
  {
    type,
    notes: optional(text({ maxLength: 255, examples: ['Called about the draft will'] })),
    when: optional(
      time({
        description: 'When it happened: wall time of the company, or ISO 8601 with a zone. Default: now.',
      }),
    ),
    recipient: optional(text({ maxLength: 255, examples: ['John Smith'] })),
    sender: optional(text({ maxLength: 255, examples: ['Ann Jones'] })),
  },
  {
    title: 'InteractionBody',
    examples: [{ type: 'phone', notes: 'Called about the draft will', recipient: 'John Smith', sender: 'Ann Jones' }],
  },
);
export type InteractionBody = Static<typeof InteractionBody>;

export const InteractionQuery = Type.Object({
  type: Type.Optional(type),
  from: Type.Optional(time({ description: 'Happened at this time or later.' })),
  to: Type.Optional(time({ description: 'Happened before this time.' })),
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

export const InteractionRecord = Type.Object(
  { ...common, when: instant() },
  { title: 'InteractionRecord', additionalProperties: false },
);

const element = {
  ...common,
  when: wallTime({ description: 'Wall time of the company.' }),
  icon: Type.String({ description: 'Display icon name.', examples: ['phone'] }),
  formatted_type: Type.String({ description: 'Display form of type.', examples: ['Phone'] }),
};

export const InteractionList = Type.Array(
  Type.Object(element, { title: 'ListedInteraction', additionalProperties: false }),
);

/** The response of the additional operations. */
export const Interaction = Type.Object(
  { ...element, external_id: externalId },
  { title: 'Interaction', additionalProperties: false },
);
