import type { Static } from 'typebox';
import { instant, nullable, text, uuid } from '../../../kernel/validation/schema-types.ts';
import { Type } from '../../../kernel/validation/type.ts';
import { USER_FIELDS } from '../users/schema.ts';

const closed = { additionalProperties: false };
/** Longer than a password may be, so that its rules can say what is wrong. */
export const PasswordText = (description: string) => Type.String({ maxLength: 1_000, description });

const Passkey = Type.Object(
  {
    id: uuid(),
    name: Type.String({ examples: ['Phone'] }),
    backed_up: Type.Boolean({ description: 'Whether it is stored at a provider, so that other devices have it too.' }),
    created_at: instant(),
    last_used_at: nullable(instant()),
  },
  { title: 'Passkey', ...closed },
);

export const Account = Type.Object(
  {
    ...USER_FIELDS,
    passkeys: Type.Array(Passkey),
    password_set_at: nullable(instant({ description: 'Null without a password.' })),
    has_one_time_codes: Type.Boolean({
      description: 'Whether an authenticator app is set up, which a password needs.',
    }),
    recovery_codes_left: Type.Integer(),
  },
  { title: 'Account', ...closed },
);

export const FactorsChanged = Type.Object(
  {
    account: Account,
    recovery_codes: Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string' },
      description: 'New recovery codes, which are shown only here; null if the change made none.',
      examples: [['7wqsai-gkph4q-jqlcr3-fmpf6v']],
    }),
  },
  { title: 'FactorsChanged', ...closed },
);

export const PasswordBody = Type.Object(
  {
    password: PasswordText('12 to 128 characters of any kind.'),
    current_password: Type.Optional(
      PasswordText('The password so far. It is needed if there is one, unless a link of a mail began the session.'),
    ),
  },
  { title: 'PasswordBody' },
);
export type PasswordBody = Static<typeof PasswordBody>;

export const CodeSetup = Type.Object(
  {
    secret: Type.String({ description: 'For typing into an authenticator app.', examples: ['JBSWY3DPEHPK3PXP'] }),
    uri: Type.String({ description: 'The same for a QR code.', examples: ['otpauth://totp/…'] }),
    setup: Type.String({ description: 'Send it back with the first code, within 15 minutes.' }),
  },
  { title: 'OneTimeCodeSetup', ...closed },
);

export const CodesBody = Type.Object(
  {
    setup: text({ maxLength: 2_000, description: 'What the setup returned.' }),
    code: text({ maxLength: 20, description: 'A code that the app shows.', examples: ['123456'] }),
  },
  { title: 'OneTimeCodesBody' },
);
export type CodesBody = Static<typeof CodesBody>;
