import { ALL_SCOPES } from '../../../kernel/scopes.ts';
import { instant, nullable, uuid } from '../../../kernel/validation/schema-types.ts';
import { Type } from '../../../kernel/validation/type.ts';
import { scopeListSchema } from '../granted-scopes.ts';
import { USER_FIELDS } from '../users/schema.ts';

const closed = { additionalProperties: false };

export const SessionRecord = Type.Object(
  {
    id: uuid(),
    method: Type.Unsafe<string>({
      type: 'string',
      enum: ['passkey', 'password', 'link'],
      description: 'How the person signed in.',
    }),
    purpose: Type.Unsafe<string>({
      type: 'string',
      enum: ['full', 'enrolment'],
      description: '`enrolment`: the session may only set up ways to sign in.',
    }),
    address: Type.String({ description: 'The IP address that signed in.', examples: ['203.0.113.7'] }),
    user_agent: Type.String({ description: 'What the browser called itself.', examples: ['Mozilla/5.0'] }),
    created_at: instant(),
    last_seen_at: instant({ description: 'Exact to about a minute.' }),
    expires_at: instant({ description: 'When it ends, unless it is used again before.' }),
    current: Type.Boolean({ description: 'Whether it is the session of this request.' }),
  },
  { title: 'UserSession', ...closed },
);
export const SessionList = Type.Array(SessionRecord);

export const SignedIn = Type.Object(
  {
    user: Type.Object(USER_FIELDS, { title: 'SignedInUser', ...closed }),
    company: Type.Object(
      {
        id: uuid(),
        name: Type.String({ examples: ['Smith & Partners'] }),
        time_zone: Type.String({ examples: ['Europe/London'] }),
        currency: nullable(Type.String({ examples: ['GBP'] })),
      },
      { title: 'SignedInCompany', ...closed },
    ),
    scopes: scopeListSchema(ALL_SCOPES),
    session: SessionRecord,
  },
  { title: 'SignedIn', ...closed },
);

export const SessionsEnded = Type.Object(
  { ended: Type.Integer({ description: 'How many sessions were ended.' }) },
  { title: 'SessionsEnded', ...closed },
);
