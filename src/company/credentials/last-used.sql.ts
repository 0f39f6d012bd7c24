import { write } from '../../kernel/sql/statement.ts';

/**
 * The arrays have an element per key. A row that another process is writing is skipped, because that process writes a
 * time that is as good.
 */
export const recordLastUsed = write('tokens.record_last_used', {
  inputs: { company_ids: 'uuid[]', ids: 'uuid[]', last_used_at: 'timestamptz[]' },
  sql: (input) => `
    WITH used AS (
      SELECT t.company_id, t.id, u.last_used_at
        FROM unnest(${input.company_ids}, ${input.ids}, ${input.last_used_at}) AS u (company_id, id, last_used_at)
        JOIN tokens t ON t.company_id = u.company_id AND t.id = u.id
       WHERE t.last_used_at IS NULL OR t.last_used_at < u.last_used_at
         FOR NO KEY UPDATE OF t SKIP LOCKED
    )
    UPDATE tokens t SET last_used_at = used.last_used_at
      FROM used WHERE t.company_id = used.company_id AND t.id = used.id`,
});
