import type { Static } from 'typebox';
import { instant, nullable, optional, text, uuid } from '../../../../kernel/validation/schema-types.ts';
import { Type } from '../../../../kernel/validation/type.ts';
import { PROVIDERS } from '../provider.ts';

const provider = Type.Unsafe<(typeof PROVIDERS)[number]>({
  type: 'string',
  enum: [...PROVIDERS],
  description: 'Zoom requires all fields below, Jitsi none.',
});
const credential = (description: string, example: string) =>
  optional(text({ minLength: 1, maxLength: 500, description, examples: [example] }));

export const VideoAccountBody = Type.Object(
  {
    provider,
    account_id: credential('Identifier of the Zoom account that the app belongs to.', 'aBcDeFgHiJkLmNoPqRsTuV'),
    client_id: credential('Client ID of a server-to-server OAuth app.', 'aBcDeFgHiJkLmNo'),
    client_secret: credential('Stored encrypted and never shown.', 'a1B2c3D4e5F6'),
    user: credential(
      'The Zoom user who hosts the meetings: an email, a Zoom user ID, or "me".',
      'adviser@company.example',
    ),
  },
  { title: 'VideoAccountBody' },
);
export type VideoAccountBody = Static<typeof VideoAccountBody>;

export const VideoAccount = Type.Object(
  {
    adviser_id: uuid(),
    provider,
    account_id: nullable(Type.String()),
    client_id: nullable(Type.String()),
    user: nullable(Type.String()),
    updated_at: instant(),
  },
  { title: 'VideoAccount', additionalProperties: false },
);

export const VideoAccountRemoved = Type.Object(
  { adviser_id: uuid(), disconnected_at: instant() },
  { title: 'VideoAccountRemoved', additionalProperties: false },
);
