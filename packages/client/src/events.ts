import type { EventRecords, ListEventsEntry } from './operations.ts';

/** The record before and after the change. Only `message.resent` creates a record under another name. */
type Snapshots<Kind extends keyof EventRecords, Action extends string> = {
  before: `${Kind}.${Action}` extends `${string}.created` | 'message.resent' ? null : EventRecords[Kind]['snapshot'];
  after: `${Kind}.${Action}` extends 'tag.removed' ? null : EventRecords[Kind]['snapshot'];
};

type EventOf<Kind extends keyof EventRecords, Action extends string> = Omit<
  ListEventsEntry,
  'type' | 'record' | 'before' | 'after'
> & {
  /** The type of the record and the change. */
  type: `${Kind}.${Action}`;
  record: { type: Kind; id: string };
} & Snapshots<Kind, Action>;

/** A change of a record. `type` tells which, and with it the types of `before` and `after`. */
export type RecordEvent = {
  [Kind in keyof EventRecords]: {
    [Action in EventRecords[Kind]['action']]: EventOf<Kind, Action>;
  }[EventRecords[Kind]['action']];
}[keyof EventRecords];

/** Sent on request, to try an endpoint. It is not in the event log. */
export type PingEvent = { type: 'ping'; id: string; at: string; endpoint_id: string };

/** What a webhook posts. Versions to come may add types: ignore those that you do not know. */
export type WebhookEvent = RecordEvent | PingEvent;
