import { longStatement } from '../../kernel/sql/statement.ts';

/** $1 now */
export const countDueMessages = longStatement(
  'messages.due',
  `SELECT channel AS label, count(*)::int AS value FROM messages
    WHERE state IN ('scheduled', 'sending') AND due_at <= $1 GROUP BY channel`,
);

/** $1 now */
export const countDueMeetings = longStatement(
  'meetings.due',
  `SELECT count(*)::int AS value FROM meetings WHERE state = 'pending' AND due_at <= $1`,
);
