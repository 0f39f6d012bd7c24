import { pino } from 'pino';
import { KINDS } from '../../src/search/documents.sql.ts';
import { indexChanges } from '../../src/search/indexer.ts';
import { findInIndexBy, lookThroughNewest } from '../../src/search/statements.sql.ts';
import { startApp, type TestCompany } from './app.ts';
import { ok } from './assert.ts';
import { booking, invoiceBody, PERSON } from './bodies.ts';
import type { Caller } from './http.ts';

/** The app whose index of searches the tests bring up to date themselves. */
export const app = await startApp();

export type Hit = {
  kind: string;
  id: string;
  case: { id: string; reference: string | null };
  title: string;
  fragment: { field: string; pieces: { text: string; match: boolean }[] };
  at: string;
};

/** Does what a worker does every second. */
export const index = (options: Partial<Parameters<typeof indexChanges>[0]> = {}): Promise<void> =>
  indexChanges({ db: app.db, clock: app.clock.read, logger: pino({ level: 'silent' }), ...options });

export async function search(caller: Caller, q: string, more = ''): Promise<Hit[]> {
  const { hits } = await ok(caller.get(`/search?q=${encodeURIComponent(q)}${more}`));
  return hits;
}

/** Hits as `kind title`, in their order. */
export const titles = (hits: readonly Hit[]): string[] => hits.map(({ kind, title }) => `${kind} ${title}`);
export const ids = (hits: readonly Hit[]): string[] => hits.map(({ id }) => id);
/** The text of a fragment with its matches in brackets. */
export const marked = ({ fragment }: Hit): string =>
  fragment.pieces.map(({ text, match }) => (match ? `[${text}]` : text)).join('');

/** Opens a case with a reference. */
export const openCase = async (company: TestCompany, reference: string, customers: object[] = []): Promise<string> =>
  (await ok(company.post('/manage/cases', { reference, customers }))).id;

const created = async (answer: ReturnType<Caller['post']>): Promise<string> => (await ok(answer)).id;

export const addInteraction = (company: Caller, caseId: string, fields: object): Promise<string> =>
  created(company.post(`/cases/${caseId}/interactions`, { type: 'phone', ...fields }));
export const addEntry = (company: Caller, caseId: string, fields: object): Promise<string> =>
  created(company.post(`/cases/${caseId}/address-book/entry`, { ...PERSON, ...fields }));
export const addInvoice = (company: TestCompany, caseId: string, fields: object): Promise<string> =>
  created(company.post(`/cases/${caseId}/invoices`, invoiceBody({ sender_id: company.companyId, ...fields })));
export const addAppointment = (
  company: TestCompany,
  caseId: string,
  fields: Record<string, unknown>,
): Promise<string> => created(company.post(`/cases/${caseId}/appointments`, booking(company, fields)));

type Call = { notes: string; at: string };

/** Writes calls in one case. */
export const addCalls = (company: TestCompany, caseId: string, calls: readonly Call[]): Promise<unknown> =>
  app.sql(
    `INSERT INTO interactions (company_id, case_id, id, type, notes, recipient, happened_at, created_at, updated_at)
     SELECT $1, $2, gen_random_uuid(), 'letter', c.notes, '', c.at, now(), now()
       FROM unnest($3::text[], $4::timestamptz[]) AS c (notes, at)`,
    [company.companyId, caseId, calls.map(({ notes }) => notes), calls.map(({ at }) => at)],
  );

export const TODAY = Date.parse('2026-11-01T12:00:00Z');

/** More calls than are looked through one by one, without a word of a test, in the hour before a time. */
export const fillers = (until = TODAY): Call[] =>
  Array.from({ length: 1_100 }, (_, i) => ({ notes: `filler ${i}`, at: new Date(until - i * 3_000).toISOString() }));

/** Builds the index of a company anew. */
export const rebuilt = async ({ companyId }: TestCompany): Promise<void> => {
  await app.sql('UPDATE search_progress SET edition = 0 WHERE company_id = $1', [companyId]);
  await index();
};

/** The statements of a search for two words, of which the index is asked for the first one or for both. */
export function searchQueries(companyId: string) {
  const before = { at: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };
  const common = { company_id: companyId, kinds: KINDS, limit: 21 };
  const conditions = ["'1:call'", "'1~smith'"];
  const phases = Array.from({ length: 5 }, () => conditions.join(' & '));
  const step = {
    ...{
      phases: [2],
      firsts: ["'20261101.1:call'"],
      seconds: ["'20261101.1~smith'"],
      checks: [true],
      others: [null],
      earlier: [null],
    },
    ...{ from_at: ['-infinity'], before_at: [before.at], before_id: [before.id], queries: phases },
  };
  return {
    newest: lookThroughNewest({ ...common, before_at: before.at, before_id: before.id, phases, conditions }),
    byOne: findInIndexBy.one({ ...common, ...step }),
    byTwo: findInIndexBy.two({ ...common, ...step }),
  };
}
