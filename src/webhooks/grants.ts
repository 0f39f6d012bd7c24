import { readAndWrite } from '../kernel/schema/grants.ts';

export const WEBHOOK_GRANTS = readAndWrite('webhook_endpoints', 'webhook_deliveries', 'webhook_notices');
