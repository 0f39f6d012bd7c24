import type { Static } from 'typebox';
import { instant, text } from '../../kernel/validation/schema-types.ts';
import { Type } from '../../kernel/validation/type.ts';

export const CustomTagBody = Type.Object(
  {
    tag: text({ maxLength: 100, description: 'Lower-case words joined by dashes.', examples: ['vip-client'] }),
  },
  { title: 'CustomTagBody' },
);
export type CustomTagBody = Static<typeof CustomTagBody>;

const tag = Type.String({ examples: ['vip-client'] });
const closed = { additionalProperties: false };

export const CustomTag = Type.Object({ tag, created_at: instant() }, { title: 'CustomTag', ...closed });
export const CustomTagList = Type.Array(CustomTag);
export const CustomTagRemoved = Type.Object({ tag, removed_at: instant() }, { title: 'CustomTagRemoved', ...closed });
export const DefaultTagList = Type.Array(
  Type.Object({ tag: Type.String({ examples: ['executor'] }) }, { title: 'DefaultTag', ...closed }),
);
