import type { Instant } from './time/time.ts';

/** A text mail from the service itself to the people of a company. */
export type PlainMail = { id: string; due: Instant; recipient: string; subject: string; text: string };
