/** A part of a list. */
export type Page = { limit: number; offset: number };

/** A part of those entries of a list that contain a text; null for all of them. */
export type Listing = Page & { search: string | null };

/** The part as JSON text, and how many entries the whole list has. */
export type PageOfJson = { json: string; total: number };
