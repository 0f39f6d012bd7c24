import type { Static } from 'typebox';
import { CURSOR_QUERY } from '../../../kernel/validation/paging.ts';
import { instant } from '../../../kernel/validation/schema-types.ts';
import { Type } from '../../../kernel/validation/type.ts';
import { COMPANY_FIELDS, externalIdFilter, sortBy } from '../../company-list.schema.ts';
import { Interaction, InteractionQuery } from '../schema.ts';

const { type, from, to } = InteractionQuery.properties;

const CompanyInteractionsFilters = {
  type,
  from,
  to,
  external_id: externalIdFilter,
  sort: sortBy(['when'], '-when'),
};

export const CompanyInteractionsQuery = Type.Object({ ...CompanyInteractionsFilters, ...CURSOR_QUERY });
export type CompanyInteractionsQuery = Static<typeof CompanyInteractionsQuery>;

export const CompanyInteractionsCsvQuery = Type.Object(CompanyInteractionsFilters);
export type CompanyInteractionsCsvQuery = Static<typeof CompanyInteractionsCsvQuery>;

export const CompanyInteraction = Type.Object(
  {
    ...Interaction.properties,
    when_utc: instant(),
    ...COMPANY_FIELDS,
  },
  { title: 'CompanyInteraction', additionalProperties: false },
);
export const CompanyInteractions = Type.Array(CompanyInteraction);
