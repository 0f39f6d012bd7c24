import type { DatabaseGauge } from '../kernel/metrics.ts';
import type { StallMonitor } from './stall-monitor.ts';

export const eventGauges = (monitor: StallMonitor): DatabaseGauge[] => [
  {
    name: 'event_log_stalled_seconds',
    help: 'For how long an open transaction has kept new events from followers of the event log.',
    read: async () => [{ value: await monitor.stalledSeconds() }],
  },
];
