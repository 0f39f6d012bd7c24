import { read } from '../kernel/sql/statement.ts';

/** For how long the oldest event that is not in the index has been waiting. */
export const indexLag = read('search.lag', {
  inputs: { now: 'timestamptz' },
  pool: 'search',
  sql: (input) => `
    SELECT greatest(0, coalesce(max(extract(epoch FROM ${input.now} - e.at)), 0))::float8 AS value
      FROM search_progress p CROSS JOIN LATERAL (
        SELECT e.at FROM events e WHERE e.company_id = p.company_id AND e.position > p.position
         ORDER BY e.position LIMIT 1) e`,
});

export const companiesToBuild = read('search.companies_to_build', {
  inputs: {},
  pool: 'search',
  sql: () => `
    SELECT count(*)::int AS value FROM companies c LEFT JOIN search_progress p ON p.company_id = c.id
     WHERE c.removal_started_at IS NULL AND (p.company_id IS NULL OR p.built_to IS NOT NULL)`,
});

export const casesToIndex = read('search.cases_to_index', {
  inputs: {},
  pool: 'search',
  sql: () => `SELECT coalesce(sum(cardinality(cases)), 0)::int AS value FROM search_progress`,
});

export const failingCompanies = read('search.failing_companies', {
  inputs: {},
  pool: 'search',
  sql: () => `SELECT count(*)::int AS value FROM search_progress WHERE failures > 0`,
});
