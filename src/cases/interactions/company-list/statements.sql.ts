import { isoTime, jsonObjectText, jsonUnescaped } from '../../../kernel/sql/json.ts';
import { branchPerValue, companyFields, companyLists, isExternalId } from '../../company-list.sql.ts';
import { elementFields, joinDisplayType } from '../projection.sql.ts';

export const companyInteractions = companyLists('interactions', {
  table: 'interactions',
  alias: 'i',
  inputs: { zone: 'text', types: 'text[]', external_id: 'text?' },
  listed: 'i.deleted_at IS NULL',
  walks: {
    when: {
      key: 'i.happened_at',
      keyType: 'timestamptz',
      branches: ({ types }) => branchPerValue(types, 7, (type) => `i.type = ${type}`),
    },
    external_id: {
      key: 'i.happened_at',
      keyType: 'timestamptz',
      branches: ({ external_id }) => [`i.external_id = ${external_id}`],
    },
  },
  matches: ({ types, external_id }) => `i.type = ANY (${types}) AND ${isExternalId('i', external_id)}`,
  joins: () => joinDisplayType,
  element: (input) =>
    jsonObjectText({
      ...elementFields(input.zone),
      when_utc: jsonUnescaped(isoTime('i.happened_at')),
      ...companyFields('i', input),
    }),
});
