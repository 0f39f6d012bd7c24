import type { Static } from 'typebox';
import { text } from '../../../kernel/validation/schema-types.ts';
import { Type } from '../../../kernel/validation/type.ts';

const jsonObject = (description: string) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, description });

export const PasskeyOptions = Type.Object(
  {
    options: jsonObject(
      'Give it to `PublicKeyCredential.parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON` of the browser. ' +
        'Valid for five minutes.',
    ),
  },
  { title: 'PasskeyOptions', additionalProperties: false },
);

export const AddPasskeyBody = Type.Object(
  {
    name: text({ minLength: 1, maxLength: 100, description: 'How the person calls the device.', examples: ['Phone'] }),
    response: jsonObject('What `toJSON()` of the new credential returns.'),
  },
  { title: 'AddPasskeyBody' },
);
export type AddPasskeyBody = Static<typeof AddPasskeyBody>;

export const PasskeySignInBody = Type.Object(
  { response: jsonObject('What `toJSON()` of the credential returns.') },
  { title: 'PasskeySignInBody' },
);
export type PasskeySignInBody = Static<typeof PasskeySignInBody>;

export const NoBody = Type.Object({}, { title: 'EmptyBody' });
