import { read } from '../../kernel/sql/statement.ts';

export const countDueMessages = read('messages.due', {
  inputs: { now: 'timestamptz' },
  pool: 'search',
  sql: (input) => `
    SELECT channel AS label, count(*)::int AS value FROM messages
     WHERE state IN ('scheduled', 'sending') AND due_at <= ${input.now} GROUP BY channel`,
});

export const countDueMeetings = read('meetings.due', {
  inputs: { now: 'timestamptz' },
  pool: 'search',
  sql: (input) => `SELECT count(*)::int AS value FROM meetings WHERE state = 'pending' AND due_at <= ${input.now}`,
});
