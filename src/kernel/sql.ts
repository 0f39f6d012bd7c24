import { WALL_MARK } from './wall-time.ts';

/** Named, so that each connection parses and plans it once. The name is also its label in the metrics. */
export type Statement = { readonly name: string; readonly text: string; readonly long?: true };

export const statement = (name: string, text: string): Statement => ({ name, text });

/** One that takes its time, such as a list: short ones do not wait behind it. */
export const longStatement = (name: string, text: string): Statement => ({ name, text, long: true });

/** How many of something there may be. */
export type Limit = { most: number; what: string; count: Statement };

/** `rows`: FROM and WHERE of what counts. No more of them are looked at than there may be. */
export const limit = (what: string, most: number, rows: string): Limit => ({
  most,
  what,
  count: statement(
    `${what.replaceAll(' ', '_')}.count`,
    `SELECT count(*)::int AS count FROM (SELECT 1 ${rows} LIMIT ${most}) counted`,
  ),
});

/** Text from outside: PostgreSQL keeps no NUL. */
export const storable = <T extends string | null>(text: T) => text?.replaceAll('\0', '') ?? null;

/** <YYYY-MM-DDTHH:mm:ss.ffffffZ> */
export const iso = (column: string): string => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** A wall time in the zone that the parameter names, as `showWallTimes` reads it. */
export const wall = (column: string, zone: string): string =>
  `concat('${WALL_MARK}', ${zone}::text, '|', floor(extract(epoch FROM ${column}))::bigint)`;

/** Turns { key: expression } into a JSON object in that order. */
export const json = (fields: Record<string, string>): string =>
  `json_build_object(${Object.entries(fields)
    .map(([key, value]) => `'${key}', ${value}`)
    .join(', ')})`;
