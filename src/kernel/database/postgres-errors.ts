import pg from 'pg';

// 25006: the server is read-only, for example a former primary. 25P03: the server ended an idle transaction, because
// this process stalled or the network lost its messages. 25P04: the transaction exceeded its time limit.
const CONNECTION_CODES = /^(57P0|08|25006|25P0[34])/;
const CONNECTION_MESSAGES = /^Connection terminated|^timeout expired|not queryable|Query read timeout/i;
// Errors of the operating system, of the DNS resolver and of Node's streams.
const SYSTEM_CODES = /^(E[A-Z]+|EAI_[A-Z]+|ERR_(SSL|TLS|SOCKET|STREAM)_\w+)$/;

const codeOf = (error: unknown): string => (error as { code?: string }).code ?? '';
const messageOf = (error: unknown): string => (error as Error).message ?? '';

/** Whether the connection has ended or cannot be used any longer. */
export const isConnectionError = (error: unknown): boolean =>
  error instanceof pg.DatabaseError
    ? CONNECTION_CODES.test(codeOf(error))
    : SYSTEM_CODES.test(codeOf(error)) || CONNECTION_MESSAGES.test(messageOf(error));

/** Whether the server reported the error, rather than the client or the network. */
export const isServerError = (error: unknown): boolean => error instanceof pg.DatabaseError;

/** The statement that was to prepare this one failed, so nothing was executed. */
export const isMissingPreparedStatement = (error: unknown): boolean => codeOf(error) === '26000';

/**
 * The statement names a table, a column or a function that is not there, or that the role has no right to; or its ON
 * CONFLICT needs a unique index that is not there, or not built yet (42P10).
 */
export const isMissingObject = (error: unknown): boolean => /^(42P01|42P10|42703|42883|42501)$/.test(codeOf(error));

/** The statement waited or worked for longer than it may. */
export const isStatementTimeout = (error: unknown): boolean => codeOf(error) === '57014';

export const isDeadlock = (error: unknown): boolean => codeOf(error) === '40P01';

/**
 * Errors that end by themselves, so that a retry makes sense: no connection, or a broken one (08); a server that starts
 * or stops (57P), is read-only (25006) or has ended our transaction (25P03, 25P04); a statement that waited too long
 * (57014), and the statements that it was to prepare (26000); a deadlock, which rolled the statement back (40P01); a
 * database that accepts no connections (55000, which no statement here raises); a temporary lack of resources, memory
 * or connections (53000, 53200, 53300). Not a full disk (53100), which the operator has to clear, nor a limit that the
 * same statement will exceed again (53400): retries would hide these from the alarms.
 */
const TRANSIENT_CODES = /^(08|57P|57014|26000|25006|25P0[34]|40P01|55000|53[023]00)/;

export const isTransient = (error: unknown): boolean =>
  error instanceof pg.DatabaseError
    ? TRANSIENT_CODES.test(codeOf(error))
    : isConnectionError(error) || /timeout exceeded when trying to connect/i.test(messageOf(error));

/** Returns the name of the constraint that the statement violated, if it did. */
export const violatedConstraint = (error: unknown): string | undefined =>
  error instanceof pg.DatabaseError ? error.constraint : undefined;
