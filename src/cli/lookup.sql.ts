import type { InputNames, Inputs, InputValues } from '../kernel/sql/inputs.ts';
import { read, type Statement } from '../kernel/sql/statement.ts';

/** Finds records by what a person types: an identifier, a name, or the beginning of either. */

/** The number that the command line shows. A lookup returns one more, which tells that there are more. */
export const MAX_CANDIDATES = 10;

type Lookup<I extends Inputs> = {
  inputs: I;
  from: string;
  where?: (input: InputNames<I>) => string;
  id: string;
  /** What tells the record from others that fit as well. */
  label: string;
  /** The texts that name the record. */
  names: readonly string[];
};

const WORD_INPUT = { word: 'text' } as const;

function lookup<const I extends Inputs>(
  name: string,
  { inputs, from, where = () => 'true', id, label, names }: Lookup<I>,
): Statement<InputValues<I> & InputValues<typeof WORD_INPUT>> {
  const lowerNames = names.map((text) => `lower(${text})`);
  const statement = read(`lookup.${name}`, {
    inputs: { ...inputs, ...WORD_INPUT },
    pool: 'search',
    sql: (input) => {
      const { word } = input as { word: string };
      const begins = [`${id}::text`, ...lowerNames].map((text) => `starts_with(${text}, lower(${word}))`);
      return `
      SELECT ${id}::text AS id, ${label} AS label, coalesce(lower(${word}) IN (${lowerNames.join(', ')}), false) AS is_exact
        FROM ${from}
       WHERE (${where(input as unknown as InputNames<I>)}) AND (${begins.join(' OR ')})
       ORDER BY is_exact DESC, label, id LIMIT ${MAX_CANDIDATES + 1}`;
    },
  });
  // TypeScript does not relate the inputs of a generic lookup to their values.
  return statement as unknown as Statement<InputValues<I> & InputValues<typeof WORD_INPUT>>;
}

const ofCompany = { company_id: 'uuid' } as const;

export const companies = lookup('companies', {
  inputs: {},
  from: 'companies c',
  id: 'c.id',
  label: 'c.name',
  names: ['c.name'],
});

export const advisers = lookup('advisers', {
  inputs: { ...ofCompany, removed: 'boolean' },
  from: 'advisers a',
  where: (input) => `a.company_id = ${input.company_id} AND (a.removed_at IS NOT NULL) = ${input.removed}`,
  id: 'a.id',
  label: `concat_ws(' ', a.name, a.email)`,
  names: ['a.email', 'a.name'],
});

export const cases = lookup('cases', {
  inputs: ofCompany,
  from: 'cases c',
  where: (input) => `c.company_id = ${input.company_id}`,
  id: 'c.id',
  label: 'c.reference',
  names: ['c.reference'],
});

export const caseKinds = lookup('case_kinds', {
  inputs: { ...ofCompany, removed: 'boolean' },
  from: 'case_kinds k',
  where: (input) => `k.company_id = ${input.company_id} AND (k.removed_at IS NOT NULL) = ${input.removed}`,
  id: 'k.id',
  label: 'k.name',
  names: ['k.name'],
});

export const customers = lookup('customers', {
  inputs: { ...ofCompany, case_id: 'uuid', removed: 'boolean' },
  from: 'customers c',
  where: (input) =>
    `c.company_id = ${input.company_id} AND c.case_id = ${input.case_id} AND (c.removed_at IS NOT NULL) = ${input.removed}`,
  id: 'c.id',
  label: `concat_ws(' ', nullif(c.title, ''), nullif(c.first_names, ''), c.last_name, c.email)`,
  names: [`concat_ws(' ', nullif(c.first_names, ''), c.last_name)`, 'c.last_name', `coalesce(c.email, '')`],
});

export const clients = lookup('clients', {
  inputs: ofCompany,
  from: 'clients c',
  where: (input) => `c.company_id = ${input.company_id}`,
  id: 'c.id',
  label: `c.name || CASE WHEN c.disabled_at IS NULL THEN '' ELSE ' (disabled)' END`,
  names: ['c.name'],
});

const KEY_LABEL = `t.name || CASE WHEN t.revoked_at IS NULL THEN '' ELSE ' (revoked)' END`;

export const keys = lookup('keys', {
  inputs: ofCompany,
  from: 'tokens t',
  where: (input) => `t.company_id = ${input.company_id} AND t.client_id IS NULL`,
  id: 't.id',
  label: KEY_LABEL,
  names: ['t.name'],
});

export const users = lookup('users', {
  inputs: ofCompany,
  from: 'users u',
  where: (input) => `u.company_id = ${input.company_id}`,
  id: 'u.id',
  label: `u.name || ' <' || u.email || '>' || CASE u.state WHEN 'disabled' THEN ' (disabled)' ELSE '' END`,
  names: ['u.email', 'u.name'],
});

/** The keys, clients and users of all companies. */
export const credentials = lookup('credentials', {
  inputs: {},
  from: `(SELECT t.company_id, t.id, t.name, ${KEY_LABEL} AS label FROM tokens t WHERE t.client_id IS NULL
          UNION ALL SELECT c.company_id, c.id, c.name, c.name FROM clients c
          UNION ALL SELECT u.company_id, u.id, u.email, u.email FROM users u) k
         JOIN companies o ON o.id = k.company_id`,
  id: 'k.id',
  label: `k.label || ' of ' || o.name`,
  names: ['k.name'],
});

export const endpoints = lookup('endpoints', {
  inputs: ofCompany,
  from: 'webhook_endpoints e',
  where: (input) => `e.company_id = ${input.company_id} AND e.removed_at IS NULL`,
  id: 'e.id',
  label: 'e.url',
  names: ['e.url'],
});

export const deliveries = lookup('deliveries', {
  inputs: { ...ofCompany, endpoint_id: 'uuid' },
  from: 'webhook_deliveries d',
  where: (input) => `d.company_id = ${input.company_id} AND d.endpoint_id = ${input.endpoint_id}`,
  id: 'd.id',
  label: 'd.state',
  names: ['d.id::text'],
});
