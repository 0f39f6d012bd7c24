import { type Static, Type } from 'typebox';
import { instant, nullable, optional, text, uuid } from '../../../../kernel/validation/schema-types.ts';
import { PROVIDERS } from '../provider.ts';

const provider = Type.Unsafe<(typeof PROVIDERS)[number]>({
  type: 'string',
  enum: [...PROVIDERS],
  description: 'Jitsi asks for nothing else, Zoom for everything below.',
});
const credential = (description: string, example: string) =>
  optional(text({ minLength: 1, maxLength: 500, description, examples: [example] }));

export const VideoAccountBody = Type.Object({
  provider,
  account_id: credential('Of the Zoom account that the app is in.', 'aBcDeFgHiJkLmNoPqRsTuV'),
  client_id: credential('Of a server-to-server OAuth app.', 'aBcDeFgHiJkLmNo'),
  client_secret: credential('Kept encrypted and never shown.', 'a1B2c3D4e5F6'),
  user: credential('Whose meetings they are: an email or an identifier of Zoom, or "me".', 'adviser@firm.example'),
});
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
  { additionalProperties: false },
);

export const VideoAccountRemoved = Type.Object(
  { adviser_id: uuid(), disconnected_at: instant() },
  { additionalProperties: false },
);
