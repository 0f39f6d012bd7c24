import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import { DROPPED } from '../../kernel/jobs/held-jobs.sql.ts';
import { countOf, type HeldJobs, heldJobs, inBatches } from '../../kernel/jobs/held-jobs.ts';
import { toSql } from '../../kernel/time/time.ts';
import * as sql from './held.sql.ts';

/** Messages and meetings that wait for an operator after a restore. */

const dropMessages: HeldJobs['drop'] = (db, { companyId, ...size }, now) => {
  const inputs = { company_id: companyId, reason: DROPPED, now: toSql(now), origin: auditOrigin({}) };
  return inBatches(size, (batch_size) => countOf(db, sql.dropMessages({ ...inputs, batch_size })));
};

const dropWith =
  (statement: typeof sql.dropMeetings): HeldJobs['drop'] =>
  (db, { companyId, ...size }, now) => {
    const inputs = { company_id: companyId, reason: DROPPED, now: toSql(now) };
    return inBatches(size, (batch_size) => countOf(db, statement({ ...inputs, batch_size })));
  };

export const APPOINTMENT_HELD_JOBS: readonly HeldJobs[] = [
  heldJobs('messages', sql.messages, dropMessages),
  heldJobs('meetings', sql.meetings, dropWith(sql.dropMeetings)),
  heldJobs('test-messages', sql.testMessages, dropWith(sql.dropTestMessages)),
];
