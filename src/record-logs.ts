import { interactionLog } from './cases/interactions/interactions.sql.ts';
import type { RecordLog } from './kernel/record-log.ts';
import { endpointLog } from './webhooks/endpoints.sql.ts';

/** Of everything whose changes are logged. */
export const RECORD_LOGS: readonly RecordLog[] = [interactionLog, endpointLog];
