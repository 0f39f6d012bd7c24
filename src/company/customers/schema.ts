import type { Static } from 'typebox';
import { externalId } from '../../kernel/external-ids/schema.ts';
import { instant, nullable, optional, text, uuid } from '../../kernel/validation/schema-types.ts';
import { Type } from '../../kernel/validation/type.ts';

const lastName = text({ minLength: 1, maxLength: 200, examples: ['Smith'] });
const optionalFields = {
  title: optional(text({ maxLength: 100, examples: ['Mr'] })),
  first_names: optional(text({ maxLength: 200, examples: ['John'] })),
  email: optional(
    text({
      maxLength: 254,
      description: 'Can be the `email_recipient` of an appointment.',
      examples: ['john.smith@client.example'],
    }),
  ),
  phone: optional(
    text({
      maxLength: 100,
      description: "A phone number. Without a country code it belongs to the company's region.",
      examples: ['07400 123456'],
    }),
  ),
};

export const CreateCustomerBody = Type.Object(
  { last_name: lastName, ...optionalFields },
  { title: 'CreateCustomerBody' },
);
export const CustomerBody = Type.Object(
  { last_name: Type.Optional(lastName), ...optionalFields },
  { title: 'UpdateCustomerBody' },
);
export type CustomerBody = Static<typeof CustomerBody>;

export const CustomerRecord = Type.Object(
  {
    id: uuid(),
    case_id: uuid(),
    external_id: externalId,
    title: Type.String({ examples: ['Mr'] }),
    first_names: Type.String({ examples: ['John'] }),
    last_name: Type.String({ examples: ['Smith'] }),
    email: nullable(Type.String({ examples: ['john.smith@client.example'] })),
    phone: nullable(Type.String({ examples: ['07400 123456'] })),
    created_at: instant(),
    updated_at: instant(),
  },
  { title: 'Customer', additionalProperties: false },
);
export const CustomerList = Type.Array(CustomerRecord);

export { Removed as CustomerRemoved } from '../../kernel/validation/schema-types.ts';
