/** `directUrl` is the server itself, if the connection is one of a pooler that may give each transaction another session. */
export type Connection =
  | { connectionString: string; directUrl?: string | undefined }
  | { host: string; user: string; database: string };

/** Whether a pooler may give each transaction another session, and this one to another program afterwards. */
export const sharesSessions = (connection: Connection): boolean =>
  'connectionString' in connection && connection.directUrl !== undefined;

/** Returns the connection past such a pooler. */
export const withOwnSession = (connection: Connection): Connection =>
  'connectionString' in connection && connection.directUrl !== undefined
    ? { connectionString: connection.directUrl }
    : connection;
