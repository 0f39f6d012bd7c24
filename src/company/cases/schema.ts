import type { Static } from 'typebox';
import { externalId } from '../../kernel/external-ids/schema.ts';
import { instant, nullable, optional, text, time, uuid } from '../../kernel/validation/schema-types.ts';
import { Type } from '../../kernel/validation/type.ts';
import { CreateCustomerBody, CustomerRecord } from '../customers/schema.ts';

const MAX_CUSTOMERS = 100;

const reference = text({
  minLength: 1,
  maxLength: 200,
  description: "The company's own name for the case; it need not be unique.",
  examples: ['Smith, wills'],
});

export const CASE_STATES = ['open', 'closed', 'archived'] as const;
const state = Type.Unsafe<(typeof CASE_STATES)[number]>({ title: 'CaseState', type: 'string', enum: [...CASE_STATES] });

const optionalFields = {
  kind_id: optional(uuid({ description: "A kind of case of the company's own list." })),
  state: Type.Optional({ ...state, description: 'An archived case is closed, too. By default open.' }),
  opened_at: Type.Optional(time({ description: 'By default the time of creation.' })),
  closed_at: optional(
    time({ description: 'Only for a case that is closed or archived; by default the time at which it becomes so.' }),
  ),
  responsible_adviser_id: optional(uuid({ description: 'An adviser of the company.' })),
};

export const PutCaseBody = Type.Object({ reference, ...optionalFields }, { title: 'PutCaseBody' });
export const CreateCaseBody = Type.Object(
  {
    reference,
    ...optionalFields,
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

export const CaseBody = Type.Object(
  { reference: Type.Optional(reference), ...optionalFields },
  { title: 'UpdateCaseBody' },
);
export type CaseBody = Static<typeof CaseBody>;

export const CaseRecord = Type.Object(
  {
    id: uuid({ description: 'The {caseId} of the twelve operations.' }),
    external_id: externalId,
    reference: Type.String({ examples: ['Smith, wills'] }),
    kind_id: nullable(uuid()),
    kind: nullable(Type.String({ description: 'The name of the kind.', examples: ['Wills'] })),
    state,
    opened_at: instant(),
    closed_at: nullable(instant({ description: 'Null for an open case.' })),
    responsible_adviser_id: nullable(uuid()),
    customers: Type.Array(CustomerRecord, { description: 'In the order in which they were added.' }),
    created_at: instant(),
    updated_at: instant(),
  },
  { title: 'Case', additionalProperties: false },
);
export const CaseList = Type.Array(CaseRecord);
