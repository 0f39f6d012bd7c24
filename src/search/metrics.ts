import type { DatabaseGauge } from '../kernel/metrics.ts';
import { toSql } from '../kernel/time/time.ts';
import { casesToIndex, companiesToBuild, failingCompanies, indexLag } from './metrics.sql.ts';

export const SEARCH_GAUGES: readonly DatabaseGauge[] = [
  {
    name: 'search_index_lag_seconds',
    help: 'For how long the oldest change that searches do not find yet has been waiting.',
    read: (db, now) => db.queryRows(indexLag({ now: toSql(now) })),
  },
  {
    name: 'search_companies_to_build',
    help: 'Companies whose index of searches is not complete.',
    read: (db) => db.queryRows(companiesToBuild({})),
  },
  {
    name: 'search_cases_to_index',
    help: 'Cases all of whose records are being indexed again, because their reference or a customer has changed.',
    read: (db) => db.queryRows(casesToIndex({})),
  },
  {
    name: 'search_companies_failing',
    help: 'Companies whose changes could not be indexed at the last attempt.',
    read: (db) => db.queryRows(failingCompanies({})),
  },
];
