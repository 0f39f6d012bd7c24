import { type Static, type TObject, type TSchema, Type } from 'typebox';
import type { AdminContext, CompanyContext } from '../company/admin-context.ts';
import { listCompanies } from '../company/companies/verbs.ts';
import { findCompany } from '../company/company.ts';
import type { Company } from '../kernel/context.ts';
import { CodedError, notFound } from '../kernel/errors.ts';
import { isUuid } from '../kernel/ids.ts';
import { systemClock } from '../kernel/time/time.ts';
import { type Form, readForm } from '../kernel/validation/form.ts';
import { ListQuery, type ListRequest, type PageOfJson, readListing } from '../kernel/validation/paging.ts';
import type { Answer, Call, Command, Flags } from './command.ts';
import { withDatabase } from './database.ts';
import { bodyOf, flagsOf } from './schema-flags.ts';

/** Commands on the records of one company, or on the companies themselves, through the verbs of the management API. */

type Described = Pick<Command, 'name' | 'summary' | 'description' | 'argument' | 'examples' | 'flags'> & {
  answer: TSchema;
};
type On<Place, S extends TObject> = (place: Place, task: Task<S>) => Promise<string>;

export type Task<S extends TObject> = Call & { form: Form<Static<S>> };

const NOTHING: TObject = Type.Object({});

export const COMPANY_FLAG: Flags = {
  company: {
    type: 'string',
    value: 'company',
    description: 'Identifier or name of the company; not needed where there is only one.',
  },
};

/** On one record of a company: `body` is what the flags are read into. */
export function deskCommand<S extends TObject>(
  command: Described & { body?: S; note?: string },
  run: On<CompanyContext, S>,
): Command {
  return {
    ...command,
    flags: { ...COMPANY_FLAG, ...command.flags },
    run: (call) => atDesk(call, async (desk) => ({ json: await run(desk, taskOf(command, call)), note: command.note })),
  };
}

/** On companies. */
export function officeCommand<S extends TObject>(command: Described & { body?: S }, run: On<AdminContext, S>): Command {
  return {
    ...command,
    run: (call) => atOffice(call, async (office) => ({ json: await run(office, taskOf(command, call)) })),
  };
}

type Listed = Described & { columns: readonly string[] };

/** `--removed` is a flag of lists of what can be restored. */
export const REMOVED_FLAG: Flags = {
  removed: { type: 'boolean', description: 'Those that were removed, and only those.' },
};

export const deskList = (
  command: Listed,
  list: (desk: CompanyContext, listing: ListRequest, call: Call) => Promise<PageOfJson>,
): Command => ({
  ...command,
  flags: { ...COMPANY_FLAG, ...command.flags, ...flagsOf(ListQuery) },
  run: (call) => atDesk(call, (desk) => answerList(call, command.columns, (listing) => list(desk, listing, call))),
});

export const officeList = (
  command: Listed,
  list: (office: AdminContext, listing: ListRequest) => Promise<PageOfJson>,
): Command => ({
  ...command,
  flags: flagsOf(ListQuery),
  run: (call) => atOffice(call, (office) => answerList(call, command.columns, (listing) => list(office, listing))),
});

const taskOf = <S extends TObject>({ body }: { body?: S }, call: Call): Task<S> => {
  const schema = body ?? (NOTHING as S);
  return { ...call, form: readForm(schema, bodyOf(schema, call.flags)) };
};

export const atOffice = ({ config }: Call, work: (office: AdminContext) => Promise<Answer>): Promise<Answer> =>
  withDatabase(config, (db) => work({ db, clock: systemClock }));

export const atDesk = (call: Call, work: (desk: CompanyContext) => Promise<Answer>): Promise<Answer> =>
  atOffice(call, async (office) => work({ ...office, company: await companyOf(office, call) }));

async function answerList(
  { flags }: Call,
  columns: readonly string[],
  list: (listing: ListRequest) => Promise<PageOfJson>,
): Promise<Answer> {
  const query = readForm(ListQuery, bodyOf(ListQuery, flags));
  const listing = readListing(query);
  query.check();
  const { json, total } = await list(listing);
  const last = Math.min(total, listing.offset + listing.limit);
  const more = last < total ? '; --page and --per-page show others' : '';
  const shown = listing.offset < total ? `${listing.offset + 1} to ${last} of ${total}${more}` : `none of ${total}`;
  return { json, columns, note: shown };
}

/** The one that `--company` names, or the only one there is. */
async function companyOf(office: AdminContext, { flags }: Call): Promise<Company> {
  const wanted = flags.company;
  if (typeof wanted === 'string' && isUuid(wanted)) return findCompany(office, wanted);
  const search = typeof wanted === 'string' ? wanted : null;
  const { json, total } = await listCompanies(office, { search, limit: 200, offset: 0 });
  const found: { id: string; name: string }[] = JSON.parse(json);
  const named = search === null ? found : found.filter(({ name }) => name.toLowerCase() === search.toLowerCase());
  if (search === null && total > 1) throw refusedCompany('is required: there is more than one company');
  if (named.length > 1) throw refusedCompany('must be an identifier: more than one company has this name');
  const [only] = named;
  if (!only) throw notFound('company');
  return findCompany(office, only.id);
}

const refusedCompany = (message: string) =>
  new CodedError('invalid_request', message, [{ field: 'company', code: 'required', message }]);

/** The argument as an identifier. One of another form is no record's. */
export function idOf({ argument }: Pick<Call, 'argument'>, what: string): string {
  if (!isUuid(argument)) throw notFound(what);
  return argument;
}
