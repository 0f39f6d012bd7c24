import pg from 'pg';

/** What a failed statement says about the connection and the server. */

// 25006: it leads to a server that only reads, such as a primary that is none any more. 25P03: this process stood still
// in a transaction, or was not heard. 25P04: its transaction took longer than it may.
const BROKEN = /^(57P0|08|25006|25P0[34])/;
const BROKEN_TEXT = /^Connection terminated|^timeout expired|not queryable|Query read timeout/i;
// Of the system, of the resolver, and of what Node itself does with a stream.
const NO_SYSTEM = /^(E[A-Z]+|EAI_[A-Z]+|ERR_(SSL|TLS|SOCKET|STREAM)_\w+)$/;

const codeOf = (error: unknown): string => (error as { code?: string }).code ?? '';
const textOf = (error: unknown): string => (error as Error).message ?? '';

/** The connection has ended, or is of no use any more. */
export const isConnectionError = (error: unknown): boolean =>
  error instanceof pg.DatabaseError
    ? BROKEN.test(codeOf(error))
    : NO_SYSTEM.test(codeOf(error)) || BROKEN_TEXT.test(textOf(error));

/** What the server has said, and not what became of the connection. */
export const isServerError = (error: unknown): boolean => error instanceof pg.DatabaseError;

/** A statement that another one was to prepare, which failed: nothing was done. */
export const isMissingPreparedStatement = (error: unknown): boolean => codeOf(error) === '26000';

/** Somebody else's locks, as much as those of the statement itself. */
export const isDeadlock = (error: unknown): boolean => codeOf(error) === '40P01';

/**
 * What passes by itself, so that trying again makes sense: no connection, or one that broke (08); a server that starts
 * or stops (57P), only reads (25006) or has given up our transaction (25P03, 25P04); a statement that waited too long (57014),
 * and those behind it that it was to prepare (26000); a deadlock, which undid the statement (40P01); a database that
 * takes no connections (55000, which no statement here raises); too few resources, memory or connections at the moment
 * (53000, 53200, 53300). Not a full disk (53100), which somebody has to clear, nor a limit that the same statement will
 * meet again (53400): callers who retry would only hide that from the alarms.
 */
const PASSES = /^(08|57P|57014|26000|25006|25P0[34]|40P01|55000|53[023]00)/;

export const isTransient = (error: unknown): boolean =>
  error instanceof pg.DatabaseError
    ? PASSES.test(codeOf(error))
    : isConnectionError(error) || /timeout exceeded when trying to connect/i.test(textOf(error));

/** Which constraint refused a statement, if one did. */
export const violatedConstraint = (error: unknown): string | undefined =>
  error instanceof pg.DatabaseError ? error.constraint : undefined;
