import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { pino } from 'pino';
import { RawConnection } from '../../chaos/input/raw-connection.ts';
import { indexChanges } from '../../src/search/indexer.ts';
import { fill } from '../harness/identifiers.ts';
import { app, neverWas, own, owner, routes, stranger, theirs } from '../harness/tenant-isolation.ts';

// The name of a message is the same for every company, so it identifies no record of one.
const READS = routes.filter(
  ({ method, template, scopes, params }) =>
    method === 'GET' && /\}$/.test(template) && !scopes.includes('operator') && params.length > 0,
);
const ROUNDS = 150;
const MAX_MEASUREMENTS = 3;
const RECORDS_OF_OWNER = 1_500;
/** With fewer a search that reads those of another company takes hardly longer. */
const INDEXED_RECORDS = 6_000;

const median = (times: number[]) => times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0;

/** The median time of the request with a foreign value, as a multiple of that with one that nobody has. */
async function measureRatio(paths: Record<'foreign' | 'missing', string>, status: number): Promise<number> {
  const connection = new RawConnection(app.baseUrl);
  const ask = async (path: string) => {
    const head = `GET ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
    const bytes = Buffer.from(`${head}Authorization: Bearer ${stranger.token}\r\n\r\n`);
    const begun = performance.now();
    const answer = await connection.send({ bytes, headOnly: false, endsConnection: false });
    assert.equal(answer?.status, status);
    return performance.now() - begun;
  };
  const times: Record<'foreign' | 'missing', number[]> = { foreign: [], missing: [] };
  for (let round = 0; round < ROUNDS; round++) {
    times.foreign.push(await ask(paths.foreign));
    times.missing.push(await ask(paths.missing));
  }
  connection.close();
  return median(times.foreign) / median(times.missing);
}

async function assertSameTime(paths: Record<'foreign' | 'missing', string>, status = 200): Promise<void> {
  // On a loaded machine a single measurement may be off. A difference in the work of the service is in all of them.
  const ratios: number[] = [];
  for (let i = 0; i < MAX_MEASUREMENTS; i++) {
    const ratio = await measureRatio(paths, status);
    if (ratio > 0.6 && ratio < 1.6) return;
    ratios.push(ratio);
  }
  assert.fail(`a foreign one takes ${ratios.map((ratio) => ratio.toFixed(2))} of the time of a missing one`);
}

for (const { name, template, params } of READS) {
  test(`${name}: a foreign record takes as long as one that never existed`, async () => {
    const last = params.at(-1) ?? '';
    const pathOf = (id: string) => fill(template, { ...own, [last]: id });
    await assertSameTime({ foreign: pathOf(theirs[last] ?? ''), missing: pathOf(neverWas(last)) }, 404);
  });
}

/** Fills the other company with records of one word, one phone number and one month, of which the one that asks has none. */
async function fillOwner(): Promise<void> {
  const values = [owner.companyId, RECORDS_OF_OWNER];
  await app.sql(
    `INSERT INTO people (company_id, case_id, id, address_id, title, first_names, last_name, tel_1, created_at, updated_at)
     SELECT p.company_id, p.case_id, gen_random_uuid(), p.address_id, '', '', 'N' || n, '07400 999999', now(), now()
       FROM (SELECT * FROM people WHERE company_id = $1 LIMIT 1) p, generate_series(1, $2) n`,
    values,
  );
  await app.sql(
    `INSERT INTO invoices
     SELECT (jsonb_populate_record(v, jsonb_build_object('id', gen_random_uuid(), 'invoice_number', n, 'external_id', null,
               'date_due', timestamptz '2027-03-01Z' + n * interval '1 minute'))).*
       FROM invoices v, generate_series(1, $2) n
      WHERE v.company_id = $1 AND v.id = $3`,
    [...values, theirs.invoiceId],
  );
  await indexChanges({ db: app.db, clock: app.clock.read, logger: pino({ level: 'silent' }) });
  // The one that asks has so many others that the index is asked.
  await app.sql(
    `INSERT INTO search_documents (company_id, case_id, kind, id, at, words)
     SELECT p.company_id, gen_random_uuid(), 'interaction', gen_random_uuid(), timestamptz '2026-11-01Z' + n * interval '1 minute',
            array_to_tsvector(ARRAY[p.company_number || CASE p.company_id WHEN $1 THEN ':larkspur' ELSE ':gillyflower' END])
       FROM search_progress p, generate_series(1, $2) n WHERE p.company_id IN ($1, $3)`,
    [owner.companyId, INDEXED_RECORDS, stranger.companyId],
  );
  await app.sql('ANALYZE');
}

const QUERIES: Record<string, Record<'foreign' | 'missing', string>> = {
  'a search for a word': { foreign: '/search?q=larkspur', missing: '/search?q=harkspur' },
  'a search for the beginning of a word': { foreign: '/search?q=larksp', missing: '/search?q=harksp' },
  'a list by phone number': { foreign: '/address-book?phone=07400999999', missing: '/address-book?phone=07400888888' },
  'a list by external id': {
    foreign: `/interactions?external_id=${theirs.externalId}`,
    missing: `/interactions?external_id=${neverWas('externalId')}`,
  },
  'the sums of a month': {
    foreign: '/invoices/sums?due_from=2027-03-01T00:00Z&due_to=2027-04-01T00:00Z',
    missing: '/invoices/sums?due_from=2028-03-01T00:00Z&due_to=2028-04-01T00:00Z',
  },
};
describe('of what only another company has', () => {
  before(fillOwner);
  for (const [name, paths] of Object.entries(QUERIES)) {
    test(`${name} takes as long as of what nobody has`, () => assertSameTime(paths));
  }
});
