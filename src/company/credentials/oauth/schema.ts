import { Type } from '../../../kernel/validation/type.ts';

const clientFields = {
  client_id: Type.Optional(Type.String({ description: 'Unless HTTP Basic is used.' })),
  client_secret: Type.Optional(Type.String({ description: 'Unless HTTP Basic is used.' })),
};

export const TokenBody = Type.Object(
  {
    grant_type: Type.Unsafe<'client_credentials'>({ type: 'string', enum: ['client_credentials'] }),
    ...clientFields,
    scope: Type.Optional(
      Type.String({
        description: "Scopes separated by spaces; all of the client's scopes if it is not sent.",
        examples: ['invoices:read invoices:write'],
      }),
    ),
  },
  { title: 'AccessTokenBody' },
);

export const RevokeBody = Type.Object(
  {
    token: Type.String({ description: 'An access token of this client.' }),
    token_type_hint: Type.Optional(Type.String({ description: 'Ignored.' })),
    ...clientFields,
  },
  { title: 'RevokeAccessTokenBody' },
);

const closed = { additionalProperties: false };

export const TokenResponse = Type.Object(
  {
    access_token: Type.String({ examples: ['cr_…'] }),
    token_type: Type.Unsafe<'Bearer'>({ type: 'string', enum: ['Bearer'] }),
    expires_in: Type.Integer({ description: 'Seconds.', examples: [3600] }),
    scope: Type.String({ examples: ['invoices:read invoices:write'] }),
  },
  { title: 'AccessToken', ...closed },
);

export const RevokedResponse = Type.Object({}, { title: 'AccessTokenRevoked', ...closed });

/** The error response of RFC 6749, section 5.2. */
export const OAuthErrorResponse = Type.Object(
  {
    error: Type.Unsafe<string>({
      type: 'string',
      enum: ['invalid_request', 'invalid_client', 'unsupported_grant_type', 'invalid_scope'],
    }),
    error_description: Type.String(),
  },
  { title: 'OAuthError', ...closed },
);
