import { type Grant, readOnly } from '../kernel/schema/grants.ts';

/**
 * The service only appends to the log. Functions of the owner make its partitions when they are needed, and remove old
 * events when the owner's retention says so.
 */
export const EVENT_GRANTS: Grant[] = [
  { on: 'events', privileges: 'SELECT, INSERT' },
  { on: 'SEQUENCE event_positions', privileges: 'USAGE, SELECT' },
  { on: 'FUNCTION forget_events', privileges: 'EXECUTE' },
  { on: 'FUNCTION close_full_event_partition', privileges: 'EXECUTE' },
  { on: 'FUNCTION drop_old_event_partitions', privileges: 'EXECUTE' },
  ...readOnly('event_retention', 'restores'),
];
