import { noCase, type RecordLog } from '../kernel/record-log.ts';
import { iso, json, longStatement, type Statement, statement } from '../kernel/sql.ts';

export const settledEvents = statement('events.settled', 'SELECT settled_events()::text AS position');

/** $1 company, $2 after, $3 up to (src/events/settled.ts), $4 limit, $5 types or null; then what else there is. */
export type EventStatements = {
  ofCompany: Statement;
  /** $6 case */
  ofCase: Statement;
  /** $6 id, $7 its case or `noCase`, $8 what kind of record: who may read the one may not read every other */
  ofRecord: Statement;
  /** $1 company, $2 position */
  one: Statement;
};

export function eventStatements(logs: readonly RecordLog[]): EventStatements {
  const shown = shownFrom(logs);
  const list = (name: string, which: string) =>
    longStatement(
      `events.${name}`,
      `SELECT e.position::text, ${shown.json}::text AS json
         FROM (SELECT * FROM events e
                WHERE e.company_id = $1 AND e.position > $2 AND e.position <= $3
                  AND ($5::text[] IS NULL OR e.type = ANY ($5)) AND ${which}
                ORDER BY e.position LIMIT $4) e
         ${shown.joins}
        ORDER BY e.position`,
    );
  return {
    ofCompany: list('of_company', 'true'),
    ofCase: list('of_case', 'e.case_id = $6'),
    ofRecord: list('of_record', `e.record_id = $6 AND e.case_id = $7 AND split_part(e.type, '.', 1) = $8`),
    one: statement(
      'events.one',
      `SELECT ${shown.json}::text AS json FROM events e ${shown.joins} WHERE e.company_id = $1 AND e.position = $2`,
    ),
  };
}

/** What the record became is what it was before its next change, or what it is now. */
function shownFrom(logs: readonly RecordLog[]) {
  const current = logs.map(({ record, current }) => `WHEN '${record}' THEN (${current})`).join('\n');
  const joins = `
    LEFT JOIN LATERAL (
      SELECT n.before, n.position FROM events n
       WHERE n.company_id = e.company_id AND n.case_id = e.case_id AND n.record_id = e.record_id AND n.position > e.position
       ORDER BY n.position LIMIT 1) n ON true
    CROSS JOIN LATERAL (
      SELECT CASE WHEN n.position IS NOT NULL THEN n.before
                  ELSE CASE split_part(e.type, '.', 1) ${current} END END AS after OFFSET 0) a`;
  const changed = `CASE WHEN e.before IS NOT NULL AND a.after IS NOT NULL THEN ARRAY(
    SELECT coalesce(x.key, y.key) FROM json_each_text(e.before) x FULL JOIN json_each_text(a.after) y ON y.key = x.key
     WHERE x.value IS DISTINCT FROM y.value ORDER BY 1) END`;
  return {
    joins,
    json: json({
      type: 'e.type',
      at: iso('e.at'),
      actor: `e.origin -> 'actor'`,
      request_id: `e.origin ->> 'request_id'`,
      case_id: `nullif(e.case_id, '${noCase}')`,
      record: json({ type: `split_part(e.type, '.', 1)`, id: 'e.record_id' }),
      changed,
      before: 'e.before',
      after: 'a.after',
    }),
  };
}

/** $1 company, $2 case */
export const findCase = statement('events.find_case', 'SELECT 1 FROM cases WHERE company_id = $1 AND id = $2');

/** $1 most. Gives how many were forgotten. */
export const forgetEvents = statement('events.forget', 'SELECT forget_events($1)::int AS forgotten');
