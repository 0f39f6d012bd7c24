import { randomUUID } from 'node:crypto';
import type { Database } from '../kernel/database/database.ts';
import type { HeldFilter, HeldJobs } from '../kernel/jobs/held-jobs.ts';
import { systemClock } from '../kernel/time/time.ts';
import { Type } from '../kernel/validation/type.ts';
import { describeHeld, HELD_JOBS, type HeldCounts, holdRestored } from '../server/restored-database.ts';
import {
  type Command,
  type CommandResult,
  type Flags,
  type FlagValues,
  type Invocation,
  UsageError,
} from './command.ts';
import { withDatabase, withOwner } from './database.ts';
import { findCompanyId } from './lookup.ts';

const KINDS = HELD_JOBS.map(({ kind }) => kind);
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 10_000;

const FILTER_FLAGS: Flags = {
  kind: {
    type: 'string',
    words: KINDS,
    placeholder: 'kind',
    description: `Only these: ${KINDS.join(', ')}; separate several with commas.`,
  },
  company: { type: 'string', placeholder: 'company', description: 'Only those of one company; by default all.' },
};
const WHAT = 'what was due before a restore or the import of a company';

export const commands: Command[] = [
  {
    name: 'held list',
    summary: `List ${WHAT}, and may have been done already`,
    description: 'These messages, meetings and webhooks wait until "held release" or "held drop".',
    flags: {
      ...FILTER_FLAGS,
      limit: {
        type: 'string',
        placeholder: 'number',
        description: `How many to list of each kind; by default ${DEFAULT_LIMIT}.`,
      },
    },
    resultSchema: Type.Array(
      Type.Object({ kind: Type.String(), company: Type.String(), due_at: Type.String(), job: Type.String() }),
    ),
    examples: ['held list', 'held list --kind messages --company smith'],
    run: (invocation) =>
      withHeldJobs(invocation, async (db, kinds, filter): Promise<CommandResult> => {
        const limit = readLimit(invocation.flags);
        const lists = await Promise.all(kinds.map((jobs) => jobs.list(db, { ...filter, limit })));
        const counts = kinds.map(({ kind }, i) => `${lists[i]?.total} ${kind}`).join(', ');
        return {
          json: JSON.stringify(lists.flatMap(({ jobs }) => jobs)),
          columns: ['kind', 'company', 'due_at', 'job'],
          note: `held: ${counts}`,
        };
      }),
  },
  {
    name: 'held hold',
    summary: 'Hold what is due, after a restore that this program did not make',
    description:
      'Also moves the positions of the event log on. "restore" does both by itself. Stop the service and its workers ' +
      'first: what they have sent cannot be held. Needs the role that owns the tables.',
    examples: ['held hold'],
    run: (invocation) =>
      withOwner(invocation, async (_db, owner) => {
        const restore = { id: randomUUID(), stateAt: systemClock() };
        const held = await holdRestored({ owner, clock: systemClock }, restore);
        return { json: JSON.stringify(held), text: `Held: ${describeHeld(held)}. See "case-records held list".` };
      }),
  },
  endCommand('release', 'Let workers do', 'Released', (jobs, db, filter) => jobs.release(db, filter)),
  endCommand('drop', 'Give up', 'Dropped', (jobs, db, filter) => jobs.drop(db, filter, systemClock())),
];

function endCommand(
  verb: string,
  summary: string,
  done: string,
  end: (jobs: HeldJobs, db: Database, filter: HeldFilter) => Promise<number>,
): Command {
  return {
    name: `held ${verb}`,
    summary: `${summary} ${WHAT}`,
    flags: FILTER_FLAGS,
    examples: [`held ${verb}`, `held ${verb} --kind webhooks`],
    run: (invocation) =>
      withHeldJobs(invocation, async (db, kinds, filter) => {
        const counts: HeldCounts = {};
        for (const jobs of kinds) counts[jobs.kind] = await end(jobs, db, filter);
        return { json: JSON.stringify(counts), text: `${done}: ${describeHeld(counts)}.` };
      }),
  };
}

const withHeldJobs = (
  invocation: Invocation,
  work: (db: Database, kinds: readonly HeldJobs[], filter: HeldFilter) => Promise<CommandResult>,
): Promise<CommandResult> => {
  const kinds = chosenKinds(invocation.flags);
  return withDatabase(invocation, async (db) => {
    const { company } = invocation.flags;
    const companyId = typeof company === 'string' ? await findCompanyId({ db, clock: systemClock }, company) : null;
    return work(db, kinds, { companyId });
  });
};

function chosenKinds({ kind }: FlagValues): readonly HeldJobs[] {
  if (typeof kind !== 'string') return HELD_JOBS;
  const words = kind.split(',').map((word) => word.trim());
  const unknown = words.find((word) => !KINDS.includes(word));
  if (unknown !== undefined) {
    throw new UsageError(`--kind must be one of ${KINDS.join(', ')}, not "${unknown}".`, 'held list');
  }
  return HELD_JOBS.filter((jobs) => words.includes(jobs.kind));
}

function readLimit({ limit = String(DEFAULT_LIMIT) }: FlagValues): number {
  if (/^[1-9]\d{0,4}$/.test(String(limit)) && Number(limit) <= MAX_LIMIT) return Number(limit);
  throw new UsageError(`--limit must be a whole number from 1 to ${MAX_LIMIT}, not "${limit}".`, 'held list');
}
