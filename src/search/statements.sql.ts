import { isoTime } from '../kernel/sql/json.ts';
import { read } from '../kernel/sql/statement.ts';

/** Stands for the number of the company in the queries that the process writes. No word contains it. */
export const COMPANY_PLACEHOLDER = '@';

/** These records are looked through one by one, so that frequent words are found without asking the index for all of them. */
export const NEWEST_RECORDS = 600;
/** Of these it is counted how many have each word. Records that the caller may not read do not count. */
const SAMPLED_RECORDS = 300;

/**
 * Looks through the newest records that are older than a position. Returns no row if the company is not indexed at all;
 * otherwise what the index needs to be asked, and the first hits of each phase as JSON.
 */
export const lookThroughNewest = read('search.look_through_newest', {
  inputs: {
    company_id: 'uuid',
    before_at: 'timestamptz',
    before_id: 'uuid',
    kinds: 'text[]',
    /** The query of each phase. A hit belongs to the first one that it matches. */
    phases: 'text[]',
    /** Queries: how many records of a sample match each of them? */
    conditions: 'text[]',
    limit: 'int',
  },
  pool: 'index',
  sql: (input) => {
    const numbered = (text: string) => `replace(${text}, '${COMPANY_PLACEHOLDER}', p.company_number::text)::tsquery`;
    const newest = (records: number) => `
          SELECT d.* FROM search_documents d
           WHERE d.company_id = ${input.company_id} AND (d.at, d.id) < (${input.before_at}, ${input.before_id})
           ORDER BY d.at DESC, d.id DESC LIMIT ${records}`;
    return `
    WITH q AS MATERIALIZED (
      SELECT p.company_number, p.built_to IS NULL AS complete,
             ${[0, 1, 2, 3, 4].map((n) => `${numbered(`(${input.phases})[${n + 1}]`)} AS phase_${n}`).join(', ')}
        FROM search_progress p WHERE p.company_id = ${input.company_id}
    ), newest AS MATERIALIZED (
      SELECT d.kind, d.case_id, d.id, d.at,
             CASE WHEN d.kind <> ALL (${input.kinds}) OR NOT d.words @@ q.phase_4 THEN NULL
                  ${[0, 1, 2, 3].map((n) => `WHEN d.words @@ q.phase_${n} THEN ${n}`).join(' ')} ELSE 4 END AS phase
        FROM q, (${newest(NEWEST_RECORDS)}) d
    ), hits AS (
      SELECT n.*, row_number() OVER (PARTITION BY phase ORDER BY at DESC, id DESC) AS nth FROM newest n
       WHERE phase IS NOT NULL
    ), sample AS MATERIALIZED (
      -- Long ones are unpacked once.
      SELECT s.at, s.words || ''::tsvector AS words FROM (${newest(SAMPLED_RECORDS)}) s
       WHERE s.kind = ANY (${input.kinds}) AND cardinality(${input.conditions}) > 0
    )
    SELECT q.company_number, q.complete, n.records, n.newest_at,
           (SELECT ${isoTime('d.at')} FROM search_documents d WHERE d.company_id = ${input.company_id}
             ORDER BY d.at, d.id LIMIT 1) AS oldest_at,
           (SELECT extract(epoch FROM max(at) - min(at))::float8 FROM sample) AS sampled_seconds,
           ARRAY(SELECT (SELECT count(*)::int FROM sample s WHERE s.words @@ c.condition)
                   FROM (SELECT replace(t.condition, '${COMPANY_PLACEHOLDER}', q.company_number::text)::tsquery AS condition
                           FROM unnest(${input.conditions}) AS t (condition) OFFSET 0) c) AS frequencies,
           ARRAY(SELECT json_build_object('phase', h.phase, 'kind', h.kind, 'case_id', h.case_id, 'id', h.id,
                          'at', ${isoTime('h.at')})
                   FROM hits h WHERE h.nth <= ${input.limit} ORDER BY h.phase, h.nth) AS hits
      FROM q, (SELECT count(*)::int AS records, ${isoTime('max(at)')} AS newest_at FROM newest) n`;
  },
});

/**
 * Returns hits of the steps of a search in their order, the newest ones of each first. A step is a phase and some periods. It
 * is taken only if those before it have not found enough: a nested loop reads the next row when it is needed.
 *
 * Each of two conditions is one of the index, which skips to where they meet; within one condition it would go through the
 * shortest list that it needs. The same condition twice would be read twice. The company and the time are conditions of which
 * no other index can make use.
 */
const findBy = (conditions: 1 | 2) =>
  read(`search.find_in_index_by_${conditions}`, {
    inputs: {
      company_id: 'uuid',
      kinds: 'text[]',
      /** Of each step: */
      phases: 'int[]',
      /** the queries of one or two conditions in these periods, */
      firsts: 'text[]',
      seconds: 'text[]',
      /** whether to see first if the index has the first one at all, */
      checks: 'boolean[]',
      /** the query of the other conditions, and the one of the phases before it, whose hits are left out, */
      others: 'text[]',
      earlier: 'text[]',
      /** and where its records begin and end. */
      from_at: 'timestamptz[]',
      before_at: 'timestamptz[]',
      before_id: 'uuid[]',
      /** The query of each phase. A hit of steps that leave nothing out belongs to the first one that it matches. */
      queries: 'text[]',
      limit: 'int',
    },
    pool: 'index',
    sql: (input) => {
      const indexed = ['first', 'second'].slice(0, conditions);
      const check = 'SELECT true FROM search_documents e WHERE words_of_period(e.at, e.words) @@ s.first LIMIT 1';
      const isChecked = conditions === 2 ? `AND (NOT s.checks_first OR (${check}))` : '';
      return `
    SELECT CASE ${[0, 1, 2, 3].map((n) => `WHEN s.earlier IS NULL AND s.phase > ${n} AND h.words @@ (${input.queries})[${n + 1}]::tsquery THEN ${n}`).join(' ')}
                ELSE s.phase END AS phase, h.kind, h.case_id, h.id, ${isoTime('h.at')} AS at
      FROM (SELECT phase, first::tsquery, second::tsquery, checks_first, others::tsquery, earlier::tsquery, from_at,
                   before_at, before_id
              FROM unnest(${input.phases}, ${input.firsts}, ${input.seconds}, ${input.checks}, ${input.others},
                          ${input.earlier}, ${input.from_at}, ${input.before_at}, ${input.before_id})
                AS s (phase, first, second, checks_first, others, earlier, from_at, before_at, before_id) OFFSET 0) s
     CROSS JOIN LATERAL (
      SELECT d.kind, d.case_id, d.id, d.at, d.words FROM search_documents d
       WHERE ${indexed.map((name) => `words_of_period(d.at, d.words) @@ s.${name}`).join(' AND ')}
         AND d.company_id IS NOT DISTINCT FROM ${input.company_id} AND d.kind = ANY (${input.kinds})
         AND CASE WHEN d.at >= s.from_at THEN (d.at, d.id) < (s.before_at, s.before_id) END
         ${isChecked}
         AND (s.others IS NULL OR d.words @@ s.others) AND (s.earlier IS NULL OR NOT d.words @@ s.earlier)
       ORDER BY d.at DESC, d.id DESC LIMIT ${input.limit}) h
     LIMIT ${input.limit}`;
    },
  });

export const findInIndexBy = { one: findBy(1), two: findBy(2) };
