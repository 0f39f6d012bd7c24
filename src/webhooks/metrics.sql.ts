import { longStatement } from '../kernel/sql/statement.ts';

/** $1 now */
export const countDueDeliveries = longStatement(
  'webhook_deliveries.due',
  `SELECT count(*)::int AS value FROM webhook_deliveries WHERE state = 'waiting' AND due_at <= $1`,
);

export const countFailingEndpoints = longStatement(
  'webhook_endpoints.failing_now',
  `SELECT count(*)::int AS value FROM webhook_endpoints WHERE state = 'failing' AND removed_at IS NULL`,
);
