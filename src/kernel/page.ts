/** A part of a list. */
export type Page = { limit: number; offset: number };

/** The part as JSON text, and how many entries the whole list has. */
export type PageOfJson = { json: string; total: number };
