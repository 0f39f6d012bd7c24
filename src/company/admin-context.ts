import type { Asking, Company } from '../kernel/context.ts';
import type { Executor } from '../kernel/database/database.ts';
import type { Clock } from '../kernel/time/time.ts';

/** Where firms are set up: the database, or one transaction on it, the time, and who asks. */
export type Office = { db: Executor; clock: Clock } & Asking;

/** The same for one firm. Every `Context` is one. */
export type Desk = Office & { company: Company };
