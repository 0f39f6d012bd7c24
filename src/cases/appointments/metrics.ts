import type { DatabaseGauge } from '../../kernel/metrics.ts';
import { toSql } from '../../kernel/time/time.ts';
import { CHANNELS } from './messages/message.ts';
import { countDueMeetings, countDueMessages } from './metrics.sql.ts';

export const APPOINTMENT_GAUGES: readonly DatabaseGauge[] = [
  {
    name: 'messages_due',
    help: 'Messages that are due and have not been sent.',
    label: { name: 'channel', values: CHANNELS },
    read: (db, now) => db.queryRows(countDueMessages({ now: toSql(now) })),
  },
  {
    name: 'meetings_due',
    help: 'Meetings with a change that the provider has not received yet.',
    read: (db, now) => db.queryRows(countDueMeetings({ now: toSql(now) })),
  },
];
