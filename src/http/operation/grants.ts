import { readAndWrite } from '../../kernel/schema/grants.ts';

export const IDEMPOTENCY_GRANTS = readAndWrite('idempotency_keys');
