import { read } from '../kernel/sql/statement.ts';

export const countDueDeliveries = read('webhook_deliveries.due', {
  inputs: { now: 'timestamptz' },
  pool: 'search',
  sql: (input) => `
    SELECT count(*)::int AS value FROM webhook_deliveries WHERE state = 'waiting' AND due_at <= ${input.now}`,
});

export const countFailingEndpoints = read('webhook_endpoints.failing_now', {
  inputs: {},
  pool: 'search',
  sql: () => `
    SELECT count(*)::int AS value FROM webhook_endpoints WHERE state = 'failing' AND removed_at IS NULL`,
});
