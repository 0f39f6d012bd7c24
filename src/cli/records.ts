import type { Static, TObject, TSchema } from 'typebox';
import type { AdminContext, CompanyContext } from '../company/admin-context.ts';
import { listCompanies } from '../company/companies/verbs.ts';
import { findCompany } from '../company/company.ts';
import type { Company } from '../kernel/context.ts';
import { InvalidRequestError, NotFoundError } from '../kernel/errors.ts';
import { systemClock } from '../kernel/time/time.ts';
import { type Form, readForm } from '../kernel/validation/form.ts';
import { ListQuery, type ListRequest, type PageOfJson, parseListRequest } from '../kernel/validation/paging.ts';
import { Type } from '../kernel/validation/type.ts';
import type { Command, CommandResult, Flags, Invocation } from './command.ts';
import { withDatabase } from './database.ts';
import { findCompanyId } from './lookup.ts';
import { flagsToBody, schemaFlags } from './schema-flags.ts';
import { formatCell } from './table.ts';

/** Commands that run the verbs of the management API, on the records of one company or on all companies. */

type CommandSpec = Pick<Command, 'name' | 'summary' | 'description' | 'argument' | 'examples' | 'flags' | 'all'> & {
  resultSchema: TSchema;
};
type RecordHandler<Context, S extends TObject> = (context: Context, task: Task<S>) => Promise<string>;

type Task<S extends TObject> = Invocation & { form: Form<Static<S>> };

const EMPTY_BODY: TObject = Type.Object({});

export const COMPANY_FLAG: Flags = {
  company: {
    type: 'string',
    placeholder: 'company',
    description: 'The company; not needed if there is only one.',
  },
};

/** A command on a record of one company. The flags are parsed into `body`. */
export function companyCommand<S extends TObject>(
  command: CommandSpec &
    Pick<CommandResult, 'columns'> & { body?: S; note?: string; toText?: (json: string) => string },
  run: RecordHandler<CompanyContext, S>,
): Command {
  return {
    ...command,
    flags: { ...COMPANY_FLAG, ...command.flags },
    run: (invocation) =>
      withCompanyContext(invocation, async (context) => ({
        ...withText(await run(context, parseTask(command, invocation)), command.toText),
        ...(command.columns && { columns: command.columns }),
        note: command.note,
      })),
  };
}

const withText = (json: string, toText: ((json: string) => string) | undefined) => ({
  json,
  ...(toText && { text: toText(json) }),
});

/** A command that is not bound to one company. */
export function adminCommand<S extends TObject>(
  command: CommandSpec & { body?: S },
  run: RecordHandler<AdminContext, S>,
): Command {
  return {
    ...command,
    run: (invocation) =>
      withAdminContext(invocation, async (admin) => ({ json: await run(admin, parseTask(command, invocation)) })),
  };
}

type ListCommandSpec = CommandSpec & { columns: readonly string[] };

/** Flag of lists whose records can be restored. */
export const REMOVED_FLAG: Flags = {
  removed: { type: 'boolean', description: 'Only removed records.' },
};

export const companyListCommand = (
  command: ListCommandSpec,
  list: (context: CompanyContext, listRequest: ListRequest, invocation: Invocation) => Promise<PageOfJson>,
): Command => ({
  ...command,
  flags: { ...COMPANY_FLAG, ...command.flags, ...schemaFlags(ListQuery) },
  run: (invocation) =>
    withCompanyContext(invocation, (context) =>
      runList(invocation, command.columns, (listRequest) => list(context, listRequest, invocation)),
    ),
});

export const adminListCommand = (
  command: ListCommandSpec,
  list: (admin: AdminContext, listRequest: ListRequest) => Promise<PageOfJson>,
): Command => ({
  ...command,
  flags: schemaFlags(ListQuery),
  run: (invocation) =>
    withAdminContext(invocation, (admin) =>
      runList(invocation, command.columns, (listRequest) => list(admin, listRequest)),
    ),
});

const parseTask = <S extends TObject>({ body }: { body?: S }, invocation: Invocation): Task<S> => {
  const schema = body ?? (EMPTY_BODY as S);
  return { ...invocation, form: readForm(schema, flagsToBody(schema, invocation.flags)) };
};

export const withAdminContext = (
  { config, terminal }: Invocation,
  work: (admin: AdminContext) => Promise<CommandResult>,
): Promise<CommandResult> => withDatabase({ config, terminal }, (db) => work({ db, clock: systemClock }));

export const withCompanyContext = (
  invocation: Invocation,
  work: (context: CompanyContext) => Promise<CommandResult>,
): Promise<CommandResult> =>
  withAdminContext(invocation, async (admin) => work({ ...admin, company: await resolveCompany(admin, invocation) }));

async function runList(
  { flags }: Invocation,
  columns: readonly string[],
  list: (listRequest: ListRequest) => Promise<PageOfJson>,
): Promise<CommandResult> {
  const query = readForm(ListQuery, flagsToBody(ListQuery, flags));
  const listRequest = parseListRequest(query);
  query.check();
  const { json, total } = await list(listRequest);
  const last = Math.min(total, listRequest.offset + listRequest.limit);
  const more = last < total ? '; use --page and --per-page for the rest' : '';
  const shown =
    listRequest.offset < total
      ? `${listRequest.offset + 1} to ${last} of ${total}${more}`
      : total === 0
        ? 'none'
        : `none of ${total}`;
  return { json, columns, note: shown };
}

/** Returns the company of `--company`, or the only company. */
async function resolveCompany(admin: AdminContext, { flags }: Invocation): Promise<Company> {
  if (typeof flags.company === 'string') return findCompany(admin, await findCompanyId(admin, flags.company));
  const { json, total } = await listCompanies(admin, { search: null, limit: MAX_NAMED_COMPANIES, offset: 0 });
  const companies: { id: string; name: string }[] = JSON.parse(json);
  const [company] = companies;
  if (!company) throw new NotFoundError('There is no company yet. Run "case-records company create".');
  if (total === 1) return findCompany(admin, company.id);
  const names = companies.map(({ name }) => `"${formatCell(name)}"`).join(', ');
  const message = `is required: there are ${total} companies, ${names}${total > companies.length ? ', …' : ''}`;
  throw new InvalidRequestError(message, [{ field: 'company', code: 'required', message }]);
}

const MAX_NAMED_COMPANIES = 5;
