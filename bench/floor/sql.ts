/** The little that the floor's statements share. Nothing of the service: what it does otherwise is what is measured. */

export type Statement = { name: string; text: string };

export const iso = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
/** PostgreSQL's own zones will do here: nobody's appointment depends on it. */
export const wall = (column: string, zone: string) =>
  `to_char(${column} AT TIME ZONE ${zone}, 'YYYY-MM-DD HH24:MI:SS')`;
/** A wall time that was sent. */
export const instant = (parameter: string, zone: string) => `(${parameter}::timestamp AT TIME ZONE ${zone})`;

export const object = (fields: Record<string, string>) =>
  `json_build_object(${Object.entries(fields)
    .map(([key, value]) => `'${key}', ${value}`)
    .join(', ')})`;
export const columns = (alias: string, ...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, `${alias}.${name}`]));
