import type { Static } from 'typebox';
import { CreatedBy } from '../../../kernel/credential.schema.ts';
import { instant, nullable, optional, text, uuid } from '../../../kernel/validation/schema-types.ts';
import { Type } from '../../../kernel/validation/type.ts';
import { END_RESULT_FIELDS } from '../descendants.schema.ts';
import { ROLES, type Role } from './roles.ts';

export const Email = text({
  maxLength: 254,
  description: 'Unique within the company, ignoring case. It cannot be changed.',
  examples: ['olivia@company.example'],
});
const name = text({ minLength: 1, maxLength: 200, examples: ['Olivia Owner'] });
export const RoleWord = Type.Unsafe<Role>({
  title: 'Role',
  type: 'string',
  enum: [...ROLES],
  description:
    '`owner`: every scope. `adviser`: reads and writes the records of cases. `bookkeeper`: reads records, writes ' +
    'invoices. `reader`: reads records.',
});
const adviserId = optional(uuid({ description: 'The adviser that the user is; null for none.' }));

export const CreateUserBody = Type.Object(
  { email: Email, name, role: RoleWord, adviser_id: adviserId },
  { title: 'CreateUserBody' },
);
export type CreateUserBody = Static<typeof CreateUserBody>;
export const UserBody = Type.Object(
  { name: Type.Optional(name), role: Type.Optional(RoleWord), adviser_id: adviserId },
  { title: 'UpdateUserBody' },
);
export type UserBody = Static<typeof UserBody>;

export const USER_FIELDS = {
  id: uuid(),
  email: Type.String({ examples: ['olivia@company.example'] }),
  name: Type.String({ examples: ['Olivia Owner'] }),
  role: RoleWord,
  adviser_id: nullable(uuid()),
  state: Type.Unsafe<'invited' | 'active' | 'disabled'>({
    type: 'string',
    enum: ['invited', 'active', 'disabled'],
    description: '`invited`: has not set up a way to sign in yet.',
  }),
};

const fields = { ...USER_FIELDS, created_at: instant(), updated_at: instant(), created_by: CreatedBy };

export const UserRecord = Type.Object(fields, { title: 'User', additionalProperties: false });
export const UserList = Type.Array(UserRecord);
export const UserDisabled = Type.Object(
  { ...fields, ...END_RESULT_FIELDS },
  { title: 'UserDisabled', additionalProperties: false },
);
