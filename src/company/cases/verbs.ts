import { auditOrigin } from '../../kernel/audit/audit-log.ts';
import { retryOnConflict } from '../../kernel/database/optimistic-retry.ts';
import { notFound } from '../../kernel/errors.ts';
import { requireFreeExternalId } from '../../kernel/external-ids/verbs.ts';
import { newId } from '../../kernel/ids.ts';
import { parseTime, toSql } from '../../kernel/time/time.ts';
import type { Form } from '../../kernel/validation/form.ts';
import type { ListRequest, PageOfJson } from '../../kernel/validation/paging.ts';
import type { CompanyContext } from '../admin-context.ts';
import { readNewCustomer, searchedPhone } from '../customers/verbs.ts';
import { readListPage } from '../list.ts';
import type { CaseBody, CreateCaseBody } from './schema.ts';
import * as sql from './statements.sql.ts';

export { caseIds } from './statements.sql.ts';

export async function listCases(context: CompanyContext, request: ListRequest): Promise<PageOfJson> {
  const values = { company_id: context.company.id, phone_e164: searchedPhone(context, request) };
  return readListPage(context.db, sql.listCases, values, request);
}

export async function showCase({ db, company }: CompanyContext, id: string): Promise<string> {
  const record = await db.queryJson(sql.showCase({ company_id: company.id, id }));
  if (record === undefined) throw notFound('case');
  return record;
}

export async function createCase(
  context: CompanyContext,
  form: Form<CreateCaseBody>,
  externalId?: string,
): Promise<string> {
  const { db, company, clock } = context;
  const { customers } = form.body;
  const now = clock();
  const sent = Array.isArray(customers) ? customers : [];
  const newCustomers = sent.map((customer, i) => readNewCustomer(context, form, customer ?? {}, `customers[${i}].`));
  const fields = { state: 'open', opened_at: toSql(now), ...readFields(context, form) };
  const insert = () =>
    db.queryJson(
      sql.insertCase({
        company_id: company.id,
        id: newId(),
        external_id: externalId,
        fields: JSON.stringify(fields),
        customers: JSON.stringify(newCustomers),
        now: toSql(now),
        origin: auditOrigin(context),
      }),
    );
  return retryOnConflict(
    async () => form.ok && insert(),
    async () => {
      await requireFreeExternalId(context, sql.caseIds, form, externalId);
      await explainRejection(context, null, form, fields, now);
    },
  );
}

/** A change of the state is an event of its own. An archived case keeps the time at which it was closed. */
export async function updateCase(context: CompanyContext, id: string, form: Form<CaseBody>): Promise<string> {
  const { db, company, clock } = context;
  const now = clock();
  const fields = readFields(context, form);
  const values = {
    company_id: company.id,
    id,
    fields: JSON.stringify(fields),
    now: toSql(now),
    origin: auditOrigin(context),
  };
  return retryOnConflict(
    async () => form.ok && db.queryJson(sql.updateCase(values)),
    () => explainRejection(context, id, form, fields, now),
  );
}

type CaseColumns = Partial<Record<(typeof sql.CASE_COLUMNS)[number], string | null>>;

/** Returns the sent fields as column values. */
function readFields(context: CompanyContext, form: Form<CaseBody>): CaseColumns {
  const { reference, kind_id, state, closed_at, responsible_adviser_id } = form.body;
  const { timeZone } = context.company;
  const readTime = (field: 'opened_at' | 'closed_at') =>
    form.read(field, form.body[field], (text) => parseTime(text, timeZone));
  const [opened, closed] = [readTime('opened_at'), readTime('closed_at')];
  const columns: CaseColumns = {};
  if (reference !== undefined) columns.reference = reference;
  if (kind_id !== undefined) columns.kind_id = kind_id;
  if (state !== undefined) columns.state = state;
  if (opened) columns.opened_at = toSql(opened);
  // Null is no value: a case that is closed keeps its time, and one that is opened again has none.
  if (closed) columns.closed_at = toSql(closed);
  else if (state === 'open') columns.closed_at = null;
  if (state === 'open' && closed_at) form.addFault('closed_at', ...OPEN_CASE);
  if (responsible_adviser_id !== undefined) columns.responsible_adviser_id = responsible_adviser_id;
  return columns;
}

const OPEN_CASE = ['invalid_state', 'an open case has not been closed'] as const;

type Rejection = { state: string | null; times_possible: boolean; kind_known: boolean; adviser_known: boolean };

/** Throws the reason why nothing was written. Returns if there is none: a concurrent change won. */
async function explainRejection(
  context: CompanyContext,
  id: string | null,
  form: Form<CaseBody>,
  { state, opened_at, closed_at }: CaseColumns,
  now: Temporal.Instant,
): Promise<void> {
  const { kind_id, responsible_adviser_id } = form.body;
  const hasFaultyTimes = TIME_FIELDS.some((field) => form.hasFault(field));
  const found = await context.db.queryFirst<Rejection>(
    sql.explainRejection({
      company_id: context.company.id,
      id,
      kind_id: form.hasFault('kind_id') ? null : kind_id,
      responsible_adviser_id: form.hasFault('responsible_adviser_id') ? null : responsible_adviser_id,
      times: JSON.stringify(hasFaultyTimes ? {} : { state, opened_at, closed_at }),
      now: toSql(now),
    }),
  );
  if (!found) throw notFound('case');
  if (!found.kind_known) form.addFault('kind_id', 'unknown', 'is not a kind of case of the company');
  if (!found.adviser_known) form.addFault('responsible_adviser_id', 'unknown', 'is not an adviser of the company');
  if (!found.times_possible) addTimesFault(form, found.state);
  form.check();
}

const TIME_FIELDS = ['state', 'opened_at', 'closed_at'] as const;

function addTimesFault(form: Form<CaseBody>, state: string | null): void {
  const field = form.has('closed_at') || !form.has('opened_at') ? 'closed_at' : 'opened_at';
  if (state === 'open') form.addFault('closed_at', ...OPEN_CASE);
  else form.addFault(field, 'out_of_range', 'closed_at must not be before opened_at');
}
