/** An error whose message is written for the operator. Nothing has been switched, and the old database is unchanged. */
export class UpgradeError extends Error {
  override name = 'UpgradeError';
}
