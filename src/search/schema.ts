import type { Static } from 'typebox';
import { cursorParameter } from '../kernel/validation/paging.ts';
import { instant, nullable, POSITIVE_INTEGER_PATTERN, uuid } from '../kernel/validation/schema-types.ts';
import { Type } from '../kernel/validation/type.ts';

export const MAX_HITS = 50;
export const DEFAULT_HITS = 20;
export const MAX_QUERY_LENGTH = 200;

const kind = Type.Unsafe<'case' | 'customer' | 'entry' | 'interaction' | 'invoice' | 'appointment'>({
  title: 'SearchKind',
  type: 'string',
  enum: ['case', 'customer', 'entry', 'interaction', 'invoice', 'appointment'],
});

export const SearchQuery = Type.Object({
  q: Type.String({
    minLength: 1,
    maxLength: MAX_QUERY_LENGTH,
    description:
      'Words in any order; a phone number, or its last digits; an email address or a part of it; the number of an ' +
      'invoice. The last word may be only the beginning of one; if nothing else is found, the others may be too. Case, ' +
      'accents and leading zeros do not matter.',
    examples: ['smith will'],
  }),
  kinds: Type.Optional(
    Type.String({
      maxLength: 200,
      description:
        'Only these kinds of records, separated by commas: `case`, `customer`, `entry`, `interaction`, `invoice`, ' +
        '`appointment`. By default all that the scopes of the credential allow.',
      examples: ['interaction,entry'],
    }),
  ),
  limit: Type.Optional(
    Type.Unsafe<string>({
      type: ['integer', 'string'],
      pattern: POSITIVE_INTEGER_PATTERN,
      minimum: 1,
      maximum: MAX_HITS,
      default: DEFAULT_HITS,
      description: `At most this many hits, up to ${MAX_HITS}.`,
    }),
  ),
  cursor: cursorParameter('`q` and `kinds`'),
});
export type SearchQuery = Static<typeof SearchQuery>;

const piece = Type.Object(
  { text: Type.String(), match: Type.Boolean({ description: 'Whether the piece matches the search.' }) },
  { title: 'SearchPiece', additionalProperties: false },
);

const hit = Type.Object(
  {
    kind,
    id: Type.String(),
    case: Type.Object(
      {
        id: uuid(),
        reference: nullable(Type.String({ description: 'Null without the scope `cases:read` or `manage`.' })),
      },
      { title: 'SearchHitCase', additionalProperties: false },
    ),
    title: Type.String({ description: 'What the record is known by, such as a name or a number.' }),
    fragment: Type.Object(
      {
        field: Type.String({ description: 'The field of the record that the text is from.' }),
        pieces: Type.Array(piece, {
          description: 'The text around the first match, in pieces. Show each as text, never as HTML.',
        }),
      },
      { title: 'SearchFragment', additionalProperties: false },
    ),
    at: instant({
      description:
        'When an interaction happened, an appointment starts, an invoice is dated, another record was created.',
    }),
  },
  { title: 'SearchHit', additionalProperties: false },
);

export const SearchResult = Type.Object(
  {
    hits: Type.Array(hit, { description: 'The best hits first.' }),
    complete: Type.Boolean({
      description: 'False while the index of the company is being built, so that records may be missing.',
    }),
  },
  { title: 'SearchResult', additionalProperties: false },
);
export type SearchHit = Static<typeof hit>;
