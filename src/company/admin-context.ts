import type { Company, RequestOrigin } from '../kernel/context.ts';
import type { Executor } from '../kernel/database/database.ts';
import type { Clock } from '../kernel/time/time.ts';

/** The context of a verb that is not bound to one company: the database (or a transaction), the clock, the caller. */
export type AdminContext = { db: Executor; clock: Clock } & RequestOrigin;

/** The context of a verb that manages one company. Every `Context` is one. */
export type CompanyContext = AdminContext & { company: Company };
