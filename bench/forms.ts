import type { Operation } from './operations.ts';

/** What a caller sends with a write: nothing more, an Idempotency-Key, or a key and the If-Match of the record. */
export const FORMS = ['plain', 'key', 'if-match'] as const;
export type Form = (typeof FORMS)[number];

/** How a request is sent: as bytes on a socket, or by a method of the typed client. */
export type Transport = 'http' | 'client';

/** The forms of an operation. A list has neither header, and a create has no record that If-Match could name. */
export const formsOf = ({ kind, changes }: Operation): readonly Form[] =>
  kind === 'read' ? ['plain'] : changes ? FORMS : ['plain', 'key'];
