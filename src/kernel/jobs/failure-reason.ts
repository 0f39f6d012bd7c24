/** The longest text that a job table stores about a failed attempt, in characters. */
export const MAX_REASON_LENGTH = 500;
