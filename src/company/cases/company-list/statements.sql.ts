import { branchPerValue, companyLists, isExternalId } from '../../../cases/company-list.sql.ts';
import { record } from '../statements.sql.ts';

/** About how long a customer is shown. A case can have a thousand. */
const CUSTOMER_BYTES = 400;

type Filters = { states: string; kind_id: string; responsible_adviser_id: string; external_id: string };

/** The cases of each state in the order of an index, with a further condition that the index serves. */
const walk = (key: 'opened_at' | 'updated_at', condition: (input: Filters) => string = () => 'true') => ({
  key: `c.${key}`,
  keyType: 'timestamptz' as const,
  branches: (input: Filters) =>
    branchPerValue(input.states, 3, (state) => `c.state = ${state} AND ${condition(input)}`),
});
const ofKind = ({ kind_id }: Filters) => `c.kind_id = ${kind_id}`;
const ofAdviser = ({ responsible_adviser_id }: Filters) => `c.responsible_adviser_id = ${responsible_adviser_id}`;

export const companyCases = companyLists('cases', {
  table: 'cases',
  alias: 'c',
  inputs: { states: 'text[]', kind_id: 'uuid?', responsible_adviser_id: 'uuid?', external_id: 'text?' },
  listed: 'true',
  walks: {
    opened_at: walk('opened_at'),
    updated_at: walk('updated_at'),
    kind_opened_at: walk('opened_at', ofKind),
    kind_updated_at: walk('updated_at', ofKind),
    adviser_opened_at: walk('opened_at', ofAdviser),
    adviser_updated_at: walk('updated_at', ofAdviser),
    external_id: {
      key: 'c.opened_at',
      keyType: 'timestamptz',
      branches: ({ external_id }) => [`c.external_id = ${external_id}`],
    },
  },
  matches: ({ states, kind_id, responsible_adviser_id, external_id }) =>
    `${isExternalId('c', external_id)} AND c.state = ANY (${states}) AND (${kind_id} IS NULL OR c.kind_id = ${kind_id})
     AND (${responsible_adviser_id} IS NULL OR c.responsible_adviser_id = ${responsible_adviser_id})`,
  // Every list knows whether the caller may read cases; this one is only for callers who may.
  element: ({ reads_cases }) => `CASE WHEN ${reads_cases} THEN ${record}::text END`,
  bytes: () =>
    `${CUSTOMER_BYTES} * (SELECT count(*) FROM customers u
       WHERE u.company_id = c.company_id AND u.case_id = c.id AND u.removed_at IS NULL)`,
});
