import type { Static } from 'typebox';
import { externalIdFilter, sortBy } from '../../../cases/company-list.schema.ts';
import { CURSOR_QUERY } from '../../../kernel/validation/paging.ts';
import { uuid } from '../../../kernel/validation/schema-types.ts';
import { Type } from '../../../kernel/validation/type.ts';
import { CASE_STATES } from '../schema.ts';

const CompanyCasesFilters = {
  kind_id: Type.Optional(uuid({ description: 'Only cases of this kind.' })),
  state: Type.Optional(
    Type.Unsafe<(typeof CASE_STATES)[number]>({
      type: 'string',
      enum: [...CASE_STATES],
      description: 'Only cases in this state.',
    }),
  ),
  responsible_adviser_id: Type.Optional(uuid({ description: 'Only cases for which this adviser is responsible.' })),
  external_id: externalIdFilter,
  sort: sortBy(['opened_at', 'updated_at'], '-opened_at'),
};

export const CompanyCasesQuery = Type.Object({ ...CompanyCasesFilters, ...CURSOR_QUERY });
export type CompanyCasesQuery = Static<typeof CompanyCasesQuery>;

export const CompanyCasesCsvQuery = Type.Object(CompanyCasesFilters);
export type CompanyCasesCsvQuery = Static<typeof CompanyCasesCsvQuery>;
