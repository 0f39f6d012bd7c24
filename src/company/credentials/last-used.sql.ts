import { statement } from '../../kernel/sql/statement.ts';

/**
 * $1 companies, $2 tokens, $3 times, one element per use. A row that another process is writing is left to it: its
 * time is as good.
 */
export const recordLastUsed = statement(
  'tokens.note_uses',
  `WITH used AS (
     SELECT t.company_id, t.id, u.at
       FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) AS u (company_id, id, at)
       JOIN tokens t ON t.company_id = u.company_id AND t.id = u.id
      WHERE t.last_used_at IS NULL OR t.last_used_at < u.at
        FOR NO KEY UPDATE OF t SKIP LOCKED
   )
   UPDATE tokens t SET last_used_at = used.at FROM used WHERE t.company_id = used.company_id AND t.id = used.id`,
);
