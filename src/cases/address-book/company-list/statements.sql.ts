import { jsonObjectText } from '../../../kernel/sql/json.ts';
import { companyFields, companyLists, isExternalId } from '../../company-list.sql.ts';
import { addressData, isAddressOf, PERSON_BYTES, person } from '../projection.sql.ts';

/** SQL: what entries are found and sorted by. Indexes have the same texts. */
const name = `(left(fold_text(left(p.last_name, 100) || ', ' || left(p.first_names, 100)), 200) COLLATE "C")`;
const email = `(left(fold_text(left(coalesce(p.email, ''), 254)), 254) COLLATE "C")`;
/** The last digits of a number are the same with and without the prefix of a country. */
const digits = (phone: string) => `right(regexp_replace(left(${phone}, 100), '[^0-9]', '', 'g'), 9)`;

const startsWith = (key: string, prefix: string) => `(${prefix} IS NULL OR starts_with(${key}, fold_text(${prefix})))`;

export const companyEntries = companyLists('address_book', {
  table: 'people',
  alias: 'p',
  inputs: { name: 'text?', email: 'text?', phone: 'text?', tag: 'text?', external_id: 'text?' },
  listed: 'p.deleted_at IS NULL',
  walks: {
    name: { key: name, keyType: 'text', branches: () => ['true'] },
    email: { key: email, keyType: 'text', branches: () => ['true'] },
    phone: {
      key: name,
      keyType: 'text',
      branches: ({ phone }) => [
        `p.tel_1 IS NOT NULL AND ${digits('p.tel_1')} = ${digits(phone)}`,
        `p.tel_2 IS NOT NULL AND ${digits('p.tel_2')} = ${digits(phone)}`,
      ],
    },
    external_id: {
      key: name,
      keyType: 'text',
      branches: ({ external_id }) => [`p.external_id = ${external_id}`],
    },
  },
  matches: (
    input,
  ) => `${isExternalId('p', input.external_id)} AND ${startsWith(name, input.name)} AND ${startsWith(email, input.email)}
    AND (${input.phone} IS NULL OR ${digits(input.phone)} IN (${digits('p.tel_1')}, ${digits('p.tel_2')}))
    AND (${input.tag} IS NULL OR ${input.tag} = ANY (p.tags || p.custom_tags))`,
  joins: () => `CROSS JOIN LATERAL (SELECT a.* FROM addresses a WHERE ${isAddressOf('a')} LIMIT 1) a`,
  element: (input) => jsonObjectText({ ...person, address: addressData, ...companyFields('p', input) }),
  bytes: () => PERSON_BYTES,
});
