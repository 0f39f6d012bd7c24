import { type Grant, readOnly } from '../kernel/schema/grants.ts';

/** The service only appends to the log. Old events are removed by a function that obeys the owner's retention. */
export const EVENT_GRANTS: Grant[] = [
  { on: 'events', privileges: 'SELECT, INSERT' },
  { on: 'SEQUENCE event_positions', privileges: 'USAGE, SELECT' },
  { on: 'FUNCTION forget_events', privileges: 'EXECUTE' },
  ...readOnly('event_retention', 'restores'),
];
