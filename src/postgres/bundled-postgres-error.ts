/** An error whose message is one line, written for the operator. */
export class BundledPostgresError extends Error {
  override name = 'BundledPostgresError';
}

export function cannotRunHere(reason: string): BundledPostgresError {
  return new BundledPostgresError(
    `The bundled PostgreSQL cannot run here (${process.platform}/${process.arch}): ${reason}. ` +
      'Set DATABASE_URL to use an existing PostgreSQL 15 or later.',
  );
}

export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** Another process holds the data directory and does not release it soon. */
export class DataDirectoryInUse extends BundledPostgresError {}
