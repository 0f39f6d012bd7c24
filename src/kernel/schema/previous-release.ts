import type { Migration } from './migrations.ts';

/**
 * The last migration of the previous release. This release also works with the schema that it had: processes are ready,
 * and a feature whose tables are missing answers 503. Set it when a release is made.
 */
export const PREVIOUS_RELEASE_MIGRATION = 23;

/** Whether this release works without the missing migrations: they are all its own. */
export const isUsableWithout = (missing: readonly string[], migrations: readonly Migration[]): boolean =>
  migrations.every(({ name, version }) => version > PREVIOUS_RELEASE_MIGRATION || !missing.includes(name));
