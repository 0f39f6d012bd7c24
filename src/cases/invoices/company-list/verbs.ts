import type { Context } from '../../../kernel/context.ts';
import type { Executor } from '../../../kernel/database/database.ts';
import { isMissingObject } from '../../../kernel/database/postgres-errors.ts';
import type { Query } from '../../../kernel/sql/statement.ts';
import { startOfDay, toDay, toSql } from '../../../kernel/time/time.ts';
import { zonePlaceholder } from '../../../kernel/time/wall-time-placeholders.ts';
import type { Form } from '../../../kernel/validation/form.ts';
import { isTrue } from '../../../kernel/validation/schema-types.ts';
import { type CompanyPage, directionOf, readCompanyPage, sortOf, timesBetween } from '../../company-list.ts';
import { readCsv, recordColumns } from '../../company-list-csv.ts';
import { readInstant, readText } from '../../list.ts';
import { OPEN_STATUSES } from '../projection.sql.ts';
import { INVOICE_STATUSES } from '../schema.ts';
import { sumFromKept, sumOpenInvoices } from '../sums/statements.sql.ts';
import { type CompanyInvoicesCsvQuery, CompanyInvoicesQuery, type InvoiceSumsQuery } from './schema.ts';
import { companyInvoices } from './statements.sql.ts';

export const listCompanyInvoices = (context: Context, query: Form<CompanyInvoicesQuery>): Promise<CompanyPage> =>
  readCompanyPage(context, query, CompanyInvoicesQuery.properties, requestOf(context, query));

const CSV_COLUMNS = recordColumns(
  ...['invoice_number', 'status', 'overdue', 'date_created', 'date_created_utc', 'date_due', 'date_sent', 'date_paid'],
  ...['subtotal', 'vat_amount', 'total', 'paid', 'outstanding', 'recipients_name', 'payment_terms', 'terms'],
);

/** Reads nothing until the first part is asked for. */
export async function exportInvoices(
  context: Context,
  query: Form<CompanyInvoicesCsvQuery>,
): Promise<AsyncGenerator<string>> {
  const request = requestOf(context, query, false);
  query.check();
  return readCsv(context, request, CSV_COLUMNS);
}

function requestOf(context: Context, query: Form<CompanyInvoicesCsvQuery>, showItems = true) {
  const { show_cancelled_items } = query.body;
  const sort = sortOf(query, '-date_due');
  const external_id = readText(query, 'external_id');
  const { today, statuses, due, hasDue, onlyOpen } = parseFilters(context, query);
  const walk = external_id !== undefined ? 'external_id' : sort.endsWith('date_due') ? 'date_due' : 'date_created';
  return {
    name: 'invoices',
    lists: companyInvoices,
    walk: walk as 'external_id' | 'date_due' | 'date_created',
    direction: directionOf(sort),
    range: walk === 'date_due' ? due : timesBetween(),
    filters: {
      zone: zonePlaceholder(context.company.timeZone),
      statuses,
      due_from: due[0],
      due_to: due[1],
      external_id,
      only_outstanding: onlyOpen,
      today,
      show_items: showItems,
      show_cancelled_items: isTrue(show_cancelled_items),
    },
    // An open status does not say that something is outstanding: a total may be zero or negative.
    meetsOthers: external_id !== undefined || onlyOpen || (walk === 'date_created' && hasDue),
  };
}

type SumRow = { overdue: boolean; count: number; outstanding: string };
/** `overdue` is null if there is no open invoice. */
type KeptRow = { is_kept: boolean } & (SumRow | { overdue: null });

export async function sumInvoices(context: Context, query: Form<InvoiceSumsQuery>): Promise<string> {
  const { db, company } = context;
  const { now, today, statuses, due } = parseFilters(context, query);
  query.check();
  const inputs = {
    company_id: company.id,
    statuses: statuses.filter(isOpen),
    due_from: due[0],
    due_to: due[1],
    today,
  };
  const kept = await readKept(db, sumFromKept({ ...inputs, now: toSql(now) }));
  const rows = kept[0]?.is_kept
    ? kept.filter((row): row is KeptRow & SumRow => row.overdue !== null)
    : await db.queryRows<SumRow>(sumOpenInvoices(inputs));
  const head = JSON.stringify({ today: toDay(now, company.timeZone), time_zone: company.timeZone });
  const open = sumOf(rows);
  const overdue = sumOf(rows.filter((row) => row.overdue));
  return `${head.slice(0, -1)},"open":${open},"overdue":${overdue}}`;
}

/** On the schema of the previous release there are no kept sums. */
async function readKept(db: Executor, query: Query): Promise<KeptRow[]> {
  try {
    return await db.queryRows<KeptRow>(query);
  } catch (error) {
    if (!isMissingObject(error)) throw error;
    return [];
  }
}

/** As JSON text, because a JavaScript number does not hold every sum. */
function sumOf(rows: readonly SumRow[]): string {
  const count = rows.reduce((sum, row) => sum + row.count, 0);
  const cents = rows.reduce((sum, row) => sum + BigInt(row.outstanding.replace('.', '')), 0n);
  // Changes by hand in the database may have made it negative.
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0');
  return `{"count":${count},"outstanding":${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}}`;
}

const isOpen = (status: string) => OPEN_STATUSES.some((one) => one === status);

/** An invoice is overdue from the start of the day after the one on which it was due. */
function parseFilters(context: Context, query: Form<InvoiceSumsQuery>) {
  const { company, clock } = context;
  const now = clock();
  const today = toSql(startOfDay(now, company.timeZone));
  const { status, open, overdue } = query.body;
  const onlyOverdue = isTrue(overdue);
  const onlyOpen = onlyOverdue || isTrue(open);
  const statuses = status === undefined ? INVOICE_STATUSES : [status];
  const [from, to] = [readInstant(context, query, 'due_from'), readInstant(context, query, 'due_to')];
  return {
    now,
    today,
    statuses: onlyOpen ? statuses.filter(isOpen) : statuses,
    due: timesBetween(from, onlyOverdue && (to === undefined || to > today) ? today : to),
    onlyOpen,
    hasDue: onlyOverdue || from !== undefined || to !== undefined,
  };
}
