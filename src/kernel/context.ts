import type { Executor } from './database.ts';
import type { Clock } from './time.ts';

export type Company = {
  id: string;
  timeZone: string;
  phoneRegion: string;
  terms: string;
  paymentTerms: string;
  reminderLeadDays: number;
};

/** What a verb works with: whose records, what time it is, and the database. */
export type Context = {
  company: Company;
  db: Executor;
  clock: Clock;
};
