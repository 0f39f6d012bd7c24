import type { Static } from 'typebox';
import { booleanFlag, instant, optional, text, uuid } from '../../kernel/validation/schema-types.ts';
import { Type } from '../../kernel/validation/type.ts';

const email = text({
  maxLength: 254,
  description: 'Unique within the company, ignoring case. Appointments name the adviser by it.',
  examples: ['adviser@company.example'],
});
const name = text({ minLength: 1, maxLength: 200, examples: ['Alex Adviser'] });
const optionalFields = {
  active: optional(booleanFlag({ description: 'Whether new appointments can be booked; true by default.' })),
  video_provider: optional(
    Type.Unsafe<'jitsi' | 'zoom'>({
      type: 'string',
      enum: ['jitsi', 'zoom'],
      description:
        'The video provider; null for none. `zoom` is set and cleared by connecting and disconnecting a video account.',
    }),
  ),
};

export const CreateAdviserBody = Type.Object({ email, name, ...optionalFields }, { title: 'CreateAdviserBody' });
export const AdviserBody = Type.Object(
  { email: Type.Optional(email), name: Type.Optional(name), ...optionalFields },
  { title: 'UpdateAdviserBody' },
);
export type AdviserBody = Static<typeof AdviserBody>;

export const AdviserRecord = Type.Object(
  {
    id: uuid(),
    email: Type.String({ examples: ['adviser@company.example'] }),
    name: Type.String({ examples: ['Alex Adviser'] }),
    active: Type.Boolean(),
    video_provider: Type.Unsafe<string | null>({ type: ['string', 'null'], enum: ['jitsi', 'zoom', null] }),
    created_at: instant(),
    updated_at: instant(),
  },
  { title: 'Adviser', additionalProperties: false },
);
export const AdviserList = Type.Array(AdviserRecord);

export { Removed as AdviserRemoved } from '../../kernel/validation/schema-types.ts';
