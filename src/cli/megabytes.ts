/** Returns the size in megabytes with at most one decimal. */
export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(bytes < 1e8 ? 1 : 0)} MB`;
