import { externalId } from '../kernel/external-ids/schema.ts';
import { instant, nullable, uuid } from '../kernel/validation/schema-types.ts';
import { Type } from '../kernel/validation/type.ts';

/** What the lists of the whole company have in common. */

/** The sort of a list: a field, ascending, or with a minus sign descending. */
export const sortBy = <F extends string>(fields: readonly F[], defaultSort: F | `-${F}`) =>
  Type.Optional(
    Type.Unsafe<F | `-${F}`>({
      type: 'string',
      enum: fields.flatMap((field) => [field, `-${field}`]),
      default: defaultSort,
      description: 'A field, ascending; with a minus sign descending.',
    }),
  );

export const externalIdFilter = Type.Optional(
  Type.String({
    maxLength: 255,
    description: 'Only the record with this id of another system.',
    examples: ['crm-4711'],
  }),
);

/** What a record shows in addition to the list of its case. */
export const COMPANY_FIELDS = {
  external_id: externalId,
  created_at: instant(),
  updated_at: instant(),
  case: Type.Object(
    {
      id: uuid(),
      reference: nullable(
        Type.String({ description: 'Null without the scope `cases:read` or `manage`.', examples: ['Smith, wills'] }),
      ),
    },
    { title: 'CaseOfRecord', additionalProperties: false },
  ),
};

/** The response of an export. */
export const Csv = Type.String({
  title: 'Csv',
  contentMediaType: 'text/csv',
  description: 'A header line and a line for each record (RFC 4180), in UTF-8. Amounts and times are exact.',
});

export const CSV_DESCRIPTION =
  'The whole list with the same filters and sort. What a spreadsheet would take for the beginning of a formula, also ' +
  'after a semicolon, a comma, a tab or a line end within a text, gets an apostrophe before it. If the export fails or takes longer than ten minutes, the connection breaks before the end of the body.';
