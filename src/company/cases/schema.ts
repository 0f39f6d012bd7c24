import type { Static } from 'typebox';
import { instant, optional, text, uuid } from '../../kernel/validation/schema-types.ts';
import { Type } from '../../kernel/validation/type.ts';
import { CreateCustomerBody, CustomerRecord } from '../customers/schema.ts';

const MAX_CUSTOMERS = 100;

const reference = text({
  minLength: 1,
  maxLength: 200,
  description: "The company's own name for the case; it need not be unique.",
  examples: ['Smith, wills'],
});

export const CreateCaseBody = Type.Object(
  {
    reference,
    customers: optional(
      Type.Array(CreateCustomerBody, {
        maxItems: MAX_CUSTOMERS,
        description: `At most ${MAX_CUSTOMERS} in this request; more can be added later.`,
      }),
    ),
  },
  { title: 'CreateCaseBody' },
);
export type CreateCaseBody = Static<typeof CreateCaseBody>;

export const CaseBody = Type.Object({ reference: Type.Optional(reference) }, { title: 'UpdateCaseBody' });
export type CaseBody = Static<typeof CaseBody>;

export const CaseRecord = Type.Object(
  {
    id: uuid({ description: 'The {caseId} of the twelve operations.' }),
    reference: Type.String({ examples: ['Smith, wills'] }),
    customers: Type.Array(CustomerRecord, { description: 'In the order in which they were added.' }),
    created_at: instant(),
    updated_at: instant(),
  },
  { title: 'Case', additionalProperties: false },
);
export const CaseList = Type.Array(CaseRecord);
