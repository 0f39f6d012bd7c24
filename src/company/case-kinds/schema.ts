import type { Static } from 'typebox';
import { instant, text, uuid } from '../../kernel/validation/schema-types.ts';
import { Type } from '../../kernel/validation/type.ts';

const name = text({
  minLength: 1,
  maxLength: 100,
  description: 'Unique among the kinds of the company; letter case does not matter.',
  examples: ['Wills'],
});

export const CreateCaseKindBody = Type.Object({ name }, { title: 'CreateCaseKindBody' });
export const CaseKindBody = Type.Object({ name: Type.Optional(name) }, { title: 'UpdateCaseKindBody' });
export type CaseKindBody = Static<typeof CaseKindBody>;

export const CaseKind = Type.Object(
  { id: uuid(), name: Type.String({ examples: ['Wills'] }), created_at: instant(), updated_at: instant() },
  { title: 'CaseKind', additionalProperties: false },
);
export const CaseKindList = Type.Array(CaseKind);

export { Removed as CaseKindRemoved } from '../../kernel/validation/schema-types.ts';
