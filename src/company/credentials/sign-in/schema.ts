import type { Static } from 'typebox';
import { optional, text, uuid } from '../../../kernel/validation/schema-types.ts';
import { Type } from '../../../kernel/validation/type.ts';
import { PasswordText } from '../factors/schema.ts';

const email = Type.String({ minLength: 1, maxLength: 254, examples: ['olivia@company.example'] });
const companyId = optional(
  uuid({ description: 'Needed only if the address has accounts in several companies; by default the oldest one.' }),
);

export const PasswordSignInBody = Type.Object(
  {
    email,
    password: PasswordText('The password.'),
    code: text({ maxLength: 64, description: 'A one-time code, or a recovery code.', examples: ['123456'] }),
    company_id: companyId,
  },
  { title: 'PasswordSignInBody' },
);
export type PasswordSignInBody = Static<typeof PasswordSignInBody>;

export const LinkBody = Type.Object(
  {
    link: text({
      minLength: 1,
      maxLength: 200,
      description: 'The part of the link after `#link=`.',
      examples: ['crl_…'],
    }),
    code: Type.Optional(
      text({ maxLength: 64, description: 'A one-time code or a recovery code. Only a link for recovery needs it.' }),
    ),
  },
  { title: 'LinkBody' },
);
export type LinkBody = Static<typeof LinkBody>;

export const RecoveryBody = Type.Object({ email, company_id: companyId }, { title: 'RecoveryBody' });
export type RecoveryBody = Static<typeof RecoveryBody>;

export const RecoveryRequested = Type.Object(
  { accepted: Type.Boolean({ description: 'True in any case.' }) },
  { title: 'RecoveryRequested', additionalProperties: false },
);
