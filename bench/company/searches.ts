import type pg from 'pg';
import { buildSearchIndex } from './index.ts';
import { type CompanyRequest, compareSizes } from './turns.ts';

/** Measures the searches of a large company, and of the same company with a hundredth of the records, in turns. */

const pathOf = (q: string, more = '') => `/search?q=${encodeURIComponent(q)}${more}`;

/** Something of the record in the middle of the company's, so that it is neither new nor the same in both databases. */
const ofRecord =
  (table: string, text: string, isSearched = 'true', length?: number) =>
  async (client: pg.Client, companyId: string) => {
    const { rows } = await client.query(
      `SELECT ${text} AS q FROM ${table} WHERE company_id = $1 AND ${isSearched} ORDER BY id
     OFFSET (SELECT count(*) / 2 FROM ${table} WHERE company_id = $1 AND ${isSearched}) LIMIT 1`,
      [companyId],
    );
    return pathOf(rows[0].q.slice(length ? -length : 0));
  };

/** In the notes of the data, the first words of `OPENINGS`, `TOPICS` and `ENDINGS` are frequent and the last ones are not. */
const SEARCHES: Readonly<Record<string, CompanyRequest>> = {
  'a frequent name': { path: pathOf('Smith') },
  'a name': { path: pathOf('Fletcher') },
  'a name with an accent': { path: pathOf('Żółtowski') },
  'first name and name': { path: pathOf('David Smith') },
  'first name and name, both seldom': { path: pathOf('Priya Haddad') },
  'two frequent names': { path: pathOf('Smith Jones') },
  'two names': { path: pathOf('Fletcher Palmer') },
  'name and topic': { path: pathOf('Smith draft') },
  'name and seldom topic': { path: pathOf('Fletcher codicil') },
  'number of an invoice': { path: ofRecord('invoices', 'invoice_number') },
  'last digits of that': { path: ofRecord('invoices', 'invoice_number', 'true', 6) },
  'reference of a case': { path: ofRecord('cases', 'reference') },
  'phone number': { path: ofRecord('customers', 'phone', 'phone IS NOT NULL') },
  'its last six digits': { path: ofRecord('customers', 'phone_e164', 'phone IS NOT NULL', 6) },
  'its last four digits': { path: ofRecord('customers', 'phone_e164', 'phone IS NOT NULL', 4) },
  email: { path: ofRecord('customers', 'email', 'email IS NOT NULL') },
  'domain of it': { path: pathOf('@family.example') },
  'two frequent words, often together': { path: pathOf('spoke draft') },
  'two frequent words, seldom together': { path: pathOf('draft operation') },
  'two frequent words, never together': { path: pathOf('spoke chased') },
  'a frequent beginning': { path: pathOf('smi') },
  'a beginning': { path: pathOf('flet') },
  'name and beginning': { path: pathOf('David Smi') },
  'seldom topic and beginning': { path: pathOf('codicil smi') },
  'a rare word': { path: ofRecord('interactions', `substring(notes FROM 'ref (.*)')`, `notes LIKE '%, ref %'`) },
  'a word that nobody has': { path: pathOf('xylophone') },
  'a question': { path: pathOf('the man who rang about the valuation of the house of Mrs Fletcher') },
  'kind: a frequent name': { path: pathOf('Smith', '&kinds=invoice') },
  'kind: a topic': { path: pathOf('codicil', '&kinds=appointment') },
  'scope: a frequent name': { path: pathOf('Smith'), scopes: ['interactions:read'] },
  'scope: name and seldom topic': { path: pathOf('Fletcher codicil'), scopes: ['interactions:read', 'invoices:read'] },
};

await compareSizes({
  title: 'Search',
  requests: SEARCHES,
  countRecords: (response) => JSON.parse(response).hits.length,
  prepare: buildSearchIndex,
});
