import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { COMPANIES, seedLargeCompany, sizeAt } from '../../bench/company/seed.ts';
import { createCompanies } from '../../bench/seed.ts';
import { companyEntries } from '../../src/cases/address-book/company-list/statements.sql.ts';
import { companyAppointments } from '../../src/cases/appointments/company-list/statements.sql.ts';
import { companyInteractions } from '../../src/cases/interactions/company-list/statements.sql.ts';
import { companyInvoices } from '../../src/cases/invoices/company-list/statements.sql.ts';
import { sumFromKept, sumOpenInvoices } from '../../src/cases/invoices/sums/statements.sql.ts';
import { KINDS, listTimeline } from '../../src/cases/timeline/statements.sql.ts';
import { companyCases } from '../../src/company/cases/company-list/statements.sql.ts';
import { readOverview } from '../../src/company/cases/overview.sql.ts';
import { connectClient } from '../../src/kernel/database/connect.ts';
import { Database } from '../../src/kernel/database/database.ts';
import type { PreparedStatement, Query } from '../../src/kernel/sql/statement.ts';
import { searchQueries } from '../harness/search.ts';

/** Each list and each step of a search of a company uses its index, whatever the plan, in a database with large and small companies. */

const server = JSON.parse(process.env.TEST_POSTGRES ?? 'null');
const admin = await connectClient(server, 'test');
await admin.query('CREATE DATABASE company_lists TEMPLATE template STRATEGY FILE_COPY');
await admin.end();
const connection = { ...server, database: 'company_lists' };
const client = await connectClient(connection, 'test');
await client.query('SET statement_timeout = 0');
after(() => client.end());
const db = new Database({ connection, poolSize: 1 });
const companies = await createCompanies(db, COMPANIES).finally(() => db.close());
await seedLargeCompany(client, companies, sizeAt(0.01), () => {});
const [large] = companies;
const { rows: cases } = await client.query('SELECT case_id FROM appointments WHERE company_id = $1 LIMIT 1', [
  large?.id,
]);
const case_id: string = cases[0].case_id;

/** The walks of one branch. The others merge the records of each type, status, outcome or state. */
const UNBRANCHED = new Set(['adviser', 'name', 'email']);

type Walks = Record<string, Record<'asc' | 'desc', Page>>;
type Page = ((values: never) => Query) & { prepared: PreparedStatement };

/** The index of each walk. */
const INDEXES: readonly (readonly [Walks, Record<string, RegExp>])[] = [
  [companyInteractions, { when: /interactions_of_company/, external_id: /interactions_external_id/ }],
  [
    companyInvoices,
    {
      date_due: /invoices_of_company_due/,
      date_created: /invoices_of_company_created/,
      external_id: /invoices_external_id/,
    },
  ],
  [
    companyAppointments,
    {
      start_time: /appointments_of_company/,
      adviser: /appointments_adviser/,
      external_id: /appointments_external_id/,
    },
  ],
  [
    companyCases,
    {
      opened_at: /cases_of_company_opened/,
      updated_at: /cases_of_company_updated/,
      kind_opened_at: /cases_of_kind_opened/,
      kind_updated_at: /cases_of_kind_updated/,
      adviser_opened_at: /cases_of_adviser_opened/,
      adviser_updated_at: /cases_of_adviser_updated/,
      external_id: /cases_external_id/,
    },
  ],
  [
    companyEntries,
    {
      name: /people_of_company_name/,
      email: /people_of_company_email/,
      phone: /people_of_company_tel_1[\s\S]*people_of_company_tel_2/,
      external_id: /people_external_id/,
    },
  ],
];

/** The inputs of a first page without filters, and of the filters that choose a walk. */
const valuesOf = (direction: 'asc' | 'desc', keyType: 'text' | 'timestamptz'): Record<string, unknown> => {
  const ends = keyType === 'text' ? ['', '\u{10ffff}'] : ['-infinity', 'infinity'];
  const [after_key, until] = direction === 'asc' ? ends : ends.toReversed();
  return {
    ...{ company_id: companies[0]?.id, limit: 50, scan: 51, after_key, after_id: '0'.repeat(32), until },
    ...{ zone: 'x', today: '2026-01-01', due_from: '-infinity', due_to: 'infinity' },
    ...{ show_items: true, show_cancelled_items: false, only_outstanding: false },
    ...{ statuses: ['Paid', 'Not Paid'], types: ['phone', 'letter'], outcomes: ['none', 'cancelled'] },
    ...{ states: ['open', 'closed'], kind_id: '0'.repeat(32), responsible_adviser_id: '0'.repeat(32) },
    ...{ adviser_id: '0'.repeat(32), phone: '07400123456', external_id: 'A-1', reads_cases: true },
  };
};

async function plansOf({ statement, values }: Query): Promise<[generic: string, custom: string]> {
  const types = new Map<number, string>();
  for (const [, n, type = ''] of statement.text.matchAll(/\$(\d+)::([a-z]+(?:\[\])?)/g)) types.set(Number(n), type);
  const typesInOrder = [...types].sort(([a], [b]) => a - b).map(([, type]) => type);
  const literal = (value: unknown) =>
    value === undefined ? 'NULL' : client.escapeLiteral(Array.isArray(value) ? `{${value}}` : String(value));
  const plans: string[] = [];
  for (const mode of ['force_generic_plan', 'force_custom_plan']) {
    await client.query(`SET plan_cache_mode = ${mode}`);
    await client.query(`PREPARE listed (${typesInOrder.join()}) AS ${statement.text}`);
    const { rows } = await client.query(`EXPLAIN EXECUTE listed (${values.map(literal).join()})`);
    await client.query('DEALLOCATE listed');
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
  }
  return plans as [string, string];
}

for (const [walks, indexes] of INDEXES) {
  for (const [walk, directions] of Object.entries(walks)) {
    for (const [direction, page] of Object.entries(directions) as ['asc' | 'desc', Page][]) {
      const { name, text } = page.prepared;
      test(`${name} walks its index and reads no table from end to end`, async () => {
        const keyType = /fold_text\(\$/.test(text) ? 'text' : 'timestamptz';
        const [generic, custom] = await plansOf(page(valuesOf(direction, keyType) as never));
        for (const plan of [generic, custom]) {
          assert.match(plan, indexes[walk] as RegExp);
          assert.doesNotMatch(plan, /Seq Scan/);
        }
        if (walk === 'external_id') return;
        // The records come in the order of the index, so the walk ends with the page. Few records may also be sorted.
        const scan =
          /-> {2}Limit[^\n]*\n\s*-> {2}Index Scan (Backward )?using \w+_(of_company|of_kind|of_adviser|adviser)/.exec(
            generic,
          );
        assert.ok(scan, generic);
        assert.equal(scan[1] !== undefined, direction === 'desc', generic);
        // Branches are read only as far as the page needs them.
        if (!UNBRANCHED.has(walk)) assert.match(generic, /Merge Append/);
      });
    }
  }
}

test('a page of the timeline reads the records and changes of its case by their keys, and no table from end to end', async () => {
  await client.query(
    `INSERT INTO events (company_id, case_id, record_id, type, at, origin, before)
     SELECT company_id, case_id, id, 'interaction.updated', updated_at, '{}', '{}' FROM interactions`,
  );
  await client.query('VACUUM (ANALYZE) events');
  const firstPage = listTimeline({
    ...{ company_id: companies[0]?.id ?? '', case_id, kinds: KINDS, zone: 'x', limit: 51 },
    ...{ before_at: 'infinity', before_kind: 9, before_id: 'f'.repeat(32), before_position: '9223372036854775807' },
  });
  for (const plan of await plansOf(firstPage)) {
    for (const table of ['interactions', 'appointments', 'invoices', 'payments']) {
      assert.match(plan, new RegExp(`${table}_pkey`));
    }
    assert.match(/CTE changes[\s\S]*?CTE page/.exec(plan)?.[0] ?? '', /Index (Only )?Scan (using|on) events_0_record/);
    // The partition for later events is empty.
    assert.doesNotMatch(plan, /Seq Scan on (interactions|appointments|invoices|payments|events_0)/);
  }
});

test('the overview of a case reads its records by their keys, and no table from end to end', async () => {
  const parts = { address_book: true, interactions: true, invoices: true, appointments: true };
  const now = { now: '2026-06-01T09:00:00Z', today: '2026-05-31T23:00:00Z' };
  for (const plan of await plansOf(
    readOverview({ company_id: companies[0]?.id ?? '', id: case_id, ...now, ...parts }),
  )) {
    for (const table of ['cases', 'people', 'interactions', 'invoices', 'appointments'])
      assert.match(plan, new RegExp(`${table}_pkey`));
    assert.doesNotMatch(plan, /Seq Scan/);
  }
});

test('the sums of invoices read an index and not the table', async () => {
  const open = { ...valuesOf('asc', 'timestamptz'), statuses: ['Not Paid', 'Part Paid'] };
  // With so few records a plan may be as cheap that reads the pages of the table, too.
  await client.query('SET enable_bitmapscan = off; SET enable_seqscan = off');
  for (const plan of await plansOf(sumOpenInvoices(open as never))) {
    assert.match(plan, /Index Only Scan using invoices_of_company_due/);
  }
});

test('the kept sums of invoices read an index of each table, and of the event log what is after their position', async () => {
  const sums = sumFromKept({
    ...(valuesOf('asc', 'timestamptz') as Parameters<typeof sumFromKept>[0]),
    statuses: ['Not Paid', 'Part Paid'],
    now: '2026-06-01',
  });
  await client.query('RESET enable_bitmapscan; SET enable_seqscan = off');
  const [plan] = await plansOf(sums);
  for (const used of [/invoices_of_company_due/, /invoices_pkey/, /invoice_sums_pkey/, /events_\w*pkey/])
    assert.match(plan, used);
  assert.doesNotMatch(plan, /Seq Scan/);
  assert.doesNotMatch(/CTE recent_events[\s\S]*?CTE kept/.exec(plan)?.[0] ?? '', /events_\w*record/);
  // If they cannot be used, no branch reads anything.
  // PostgreSQL before 17 shows the result of an InitPlan as a parameter.
  assert.equal(plan.match(/One-Time Filter: (\(InitPlan \d+\)|\$\d+)/g)?.length, 5);
  // Of a divided month its days are read, and of a divided day its invoices: not all, to be compared with the day.
  assert.match(plan, /Index Cond: [^\n]*unit = 'day'[^\n]*start >= m\.start/);
  assert.match(plan, /Index Cond: [^\n]*date_due >= [^\n]*d\.start/);
});

test('a search reads the index of words by period and that of the newest records', async () => {
  // As its connections have it.
  await client.query('SET enable_sort = off; SET enable_seqscan = off');
  await client.query(
    `INSERT INTO search_documents (company_id, case_id, kind, id, at, words)
     SELECT company_id, case_id, 'interaction', id, happened_at, array_to_tsvector(ARRAY['1:call', '1#interaction'])
       FROM interactions WHERE deleted_at IS NULL`,
  );
  await client.query('VACUUM (ANALYZE) search_documents');
  const { newest, byOne, byTwo } = searchQueries(companies[0]?.id ?? '');
  for (const plan of await plansOf(newest)) {
    assert.match(plan, /Index Scan Backward using search_documents_by_time/);
    assert.doesNotMatch(plan, /Seq Scan on search_documents/);
  }
  for (const plan of [...(await plansOf(byOne)), ...(await plansOf(byTwo))]) {
    assert.match(plan, /Bitmap Index Scan on search_documents_of_periods/);
    assert.doesNotMatch(plan, /Seq Scan on search_documents/);
  }
});
