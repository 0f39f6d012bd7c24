import { type Static, Type } from 'typebox';
import { PAGE_QUERY } from '../../kernel/validation/paging.ts';
import { instant, nullable, optional, text, time, uuid } from '../../kernel/validation/schema-types.ts';

export const DELIVERY_STATES = ['waiting', 'delivered', 'failed', 'dropped'] as const;

const state = (description: string) =>
  Type.Unsafe<(typeof DELIVERY_STATES)[number]>({ type: 'string', enum: [...DELIVERY_STATES], description });

const fields = {
  event_id: Type.String({
    description: 'The header Webhook-Id, and `id` in the body. The same in every delivery of the event.',
    examples: ['evt_3q2-7wE9mXr0cVb1kqvJ5w'],
  }),
  id: uuid(),
  endpoint_id: uuid(),
  event_type: Type.String({ examples: ['invoice.sent'] }),
  record_id: nullable(Type.String({ description: 'The record that the event is about; a ping is about none.' })),
  state: state(
    'Failed: given up after three days while others were taken, a ping after one attempt. Dropped: its endpoint, or the event itself, is gone.',
  ),
  attempts: Type.Integer({ description: 'Since it was queued, or since the endpoint was resumed.' }),
  next_attempt_at: nullable(
    instant({ description: 'Of what waits and is not behind another event of its record; not before this.' }),
  ),
  created_at: instant(),
  first_attempt_at: nullable(instant()),
  delivered_at: nullable(instant()),
  replay_of: nullable(uuid({ description: 'The delivery that it repeats.' })),
};
export const Delivery = Type.Object(fields, { additionalProperties: false });
export const DeliveryList = Type.Array(Delivery);

const Try = Type.Object(
  {
    at: instant(),
    status: nullable(Type.Integer({ description: 'Of the answer.', examples: [500] })),
    error: nullable(Type.String({ description: 'Why there was no answer.' })),
    ms: Type.Integer({ description: 'How long it took.' }),
    answer: nullable(Type.String({ description: 'Its first 1,000 characters.' })),
  },
  { additionalProperties: false },
);
export const DeliveryWithTries = Type.Object(
  { ...fields, tries: Type.Array(Try, { description: 'Every attempt, the first first.' }) },
  { additionalProperties: false },
);

export const DeliveryQuery = Type.Object({
  ...PAGE_QUERY,
  state: Type.Optional(state('Only those in this state.')),
  type: Type.Optional(Type.String({ maxLength: 100, description: 'Only of events of this type.' })),
  from: Type.Optional(time({ description: 'Only those that were queued then or later.' })),
  to: Type.Optional(time({ description: 'Only those that were queued before.' })),
});
export type DeliveryQuery = Static<typeof DeliveryQuery>;

const bound = (description: string) =>
  optional(text({ maxLength: 100, description, examples: ['2026-06-01 09:00:00'] }));

export const ReplayBody = Type.Object({
  after: bound('The id of an event: those that came after it. Or a time: those that happened then or later.'),
  until: bound('The id of an event: those up to it, itself included. Or a time: those that happened before it.'),
  types: optional(
    Type.Array(Type.String({ maxLength: 100 }), {
      maxItems: 100,
      description: 'Of the types of the endpoint only these.',
      examples: [['invoice.*']],
    }),
  ),
});
export type ReplayBody = Static<typeof ReplayBody>;

export const Replayed = Type.Object(
  {
    queued: Type.Integer({ description: 'How many events go out again.' }),
    next: nullable(Type.String({ description: 'Where there are more: ask again with this as `after`.' })),
  },
  { additionalProperties: false },
);
