/** An error whose message is written for the operator and says what to do. */
export class BackupError extends Error {
  override name = 'BackupError';
}

/** Returns a short reason for an error of the operating system. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const known: Record<string, string> = {
    ENOSPC: 'no space is left on the device',
    EDQUOT: 'the disk quota is exceeded',
    EACCES: 'access is denied',
    EPERM: 'access is denied',
    EROFS: 'the file system is read-only',
    ENOENT: 'it does not exist',
    ENOTDIR: 'it is not a folder',
  };
  return known[code ?? ''] ?? message;
}
