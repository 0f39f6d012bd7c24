import type { Static } from 'typebox';
import { PAGE_QUERY } from '../../kernel/validation/paging.ts';
import { instant, nullable, optional, text, time, uuid } from '../../kernel/validation/schema-types.ts';
import { Type } from '../../kernel/validation/type.ts';

const DELIVERY_STATES = ['waiting', 'delivered', 'failed', 'dropped'] as const;

const state = (description: string) =>
  Type.Unsafe<(typeof DELIVERY_STATES)[number]>({ type: 'string', enum: [...DELIVERY_STATES], description });

const fields = {
  event_id: Type.String({
    description: 'The header `Webhook-Id`, and `id` in the body. It is the same in every delivery of the event.',
    examples: ['evt_3q2-7wE9mXr0cVb1kqvJ5w'],
  }),
  id: uuid(),
  endpoint_id: uuid(),
  event_type: Type.String({ examples: ['invoice.sent'] }),
  record_id: nullable(Type.String({ description: 'The record that the event is about; null for a ping.' })),
  state: state(
    'Failed: abandoned after three days while the endpoint accepted other events; a ping fails after one attempt. ' +
      'Dropped: the endpoint was removed, or the event is no longer stored.',
  ),
  attempts: Type.Integer({ description: 'Attempts since it was queued, or since the endpoint was resumed.' }),
  next_attempt_at: nullable(
    instant({
      description:
        'The earliest time of the next attempt. Null if it has ended, or waits for an earlier event of its record.',
    }),
  ),
  created_at: instant(),
  first_attempt_at: nullable(instant()),
  delivered_at: nullable(instant()),
  replay_of: nullable(uuid({ description: 'The delivery that this one replays.' })),
};
export const Delivery = Type.Object(fields, { title: 'WebhookDelivery', additionalProperties: false });
export const DeliveryList = Type.Array(Delivery);

const Try = Type.Object(
  {
    at: instant(),
    status: nullable(Type.Integer({ description: 'Status of the answer.', examples: [500] })),
    error: nullable(Type.String({ description: 'Why there was no answer.' })),
    ms: Type.Integer({ description: 'Duration in milliseconds.' }),
    answer: nullable(Type.String({ description: 'The first 1,000 characters of the answer.' })),
  },
  { title: 'WebhookDeliveryTry', additionalProperties: false },
);
export const DeliveryWithTries = Type.Object(
  { ...fields, tries: Type.Array(Try, { description: 'Every attempt, oldest first.' }) },
  { title: 'WebhookDeliveryWithTries', additionalProperties: false },
);

export const DeliveryQuery = Type.Object({
  ...PAGE_QUERY,
  state: Type.Optional(state('Only deliveries in this state.')),
  type: Type.Optional(Type.String({ maxLength: 100, description: 'Only events of this type.' })),
  from: Type.Optional(time({ description: 'Only deliveries that were queued at this time or later.' })),
  to: Type.Optional(time({ description: 'Only deliveries that were queued before this time.' })),
});
export type DeliveryQuery = Static<typeof DeliveryQuery>;

const bound = (description: string) =>
  optional(text({ maxLength: 100, description, examples: ['2026-06-01 09:00:00'] }));

export const ReplayBody = Type.Object(
  {
    after: bound('The id of an event: the events after it. Or a time: the events at that time or later.'),
    until: bound('The id of an event: the events up to and including it. Or a time: the events before it.'),
    types: optional(
      Type.Array(Type.String({ maxLength: 100 }), {
        maxItems: 100,
        description: "Only these of the endpoint's types.",
        examples: [['invoice.*']],
      }),
    ),
  },
  { title: 'ReplayWebhookEventsBody' },
);
export type ReplayBody = Static<typeof ReplayBody>;

export const Replayed = Type.Object(
  {
    queued: Type.Integer({ description: 'Number of events that will be sent again.' }),
    next: nullable(
      Type.String({ description: 'If there are more events, the `after` of the next request; otherwise null.' }),
    ),
  },
  { title: 'WebhookEventsReplayed', additionalProperties: false },
);
