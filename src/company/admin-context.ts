import type { Company, RequestOrigin } from '../kernel/context.ts';
import type { Executor } from '../kernel/database/database.ts';
import type { Clock } from '../kernel/time/time.ts';

/** Where firms are set up: the database, or one transaction on it, the time, and who asks. */
export type AdminContext = { db: Executor; clock: Clock } & RequestOrigin;

/** The same for one firm. Every `Context` is one. */
export type CompanyContext = AdminContext & { company: Company };
