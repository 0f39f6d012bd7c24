import type { DatabaseGauge } from '../kernel/metrics.ts';
import { toSql } from '../kernel/time/time.ts';
import { countDueDeliveries, countFailingEndpoints } from './metrics.sql.ts';

export const WEBHOOK_GAUGES: readonly DatabaseGauge[] = [
  {
    name: 'webhook_deliveries_waiting',
    help: 'Webhook deliveries that are due, first attempts and retries.',
    read: (db, now) => db.queryRows(countDueDeliveries({ now: toSql(now) })),
  },
  {
    name: 'webhook_endpoints_failing',
    help: 'Webhook endpoints that receive nothing until they are resumed.',
    read: (db) => db.queryRows(countFailingEndpoints({})),
  },
];
