import type { Address, Person } from '@case-records/client';
import { EmptyState, Loaded } from '../../components/states.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Badge } from '../../components/values.tsx';
import { withQuery } from '../../navigation/place.ts';
import { ofCase } from '../../service/following.ts';
import { useLoaded } from '../../service/loading.ts';
import { texts } from '../../texts.ts';
import { personName } from '../person-name.ts';
import { text } from './texts.ts';

type Row = { id: string; person: Person; address: Address | undefined };

const COLUMNS: readonly Column<Row>[] = [
  {
    title: text.person,
    cell: ({ id, person }) => <a href={withQuery({ open: `entry/${id}` })}>{personName(person)}</a>,
  },
  { title: texts.fields.relationship, cell: ({ person }) => Object.values(person.relationship).join(', ') || '–' },
  {
    title: texts.fields.tel_1,
    cell: ({ person: { tel_1 } }) => (tel_1 ? <a href={`tel:${tel_1.replaceAll(' ', '')}`}>{tel_1}</a> : '–'),
  },
  {
    title: texts.fields.email,
    cell: ({ person: { email } }) => (email ? <a href={`mailto:${email}`}>{email}</a> : '–'),
  },
  {
    title: text.address,
    cell: ({ address }) =>
      [address?.address_1, address?.address_2, address?.address_3, address?.postcode].filter(Boolean).join(', ') || '–',
  },
  {
    title: texts.fields.tags,
    cell: ({ person: { tags, custom_tags } }) => (
      <span class="badges">
        {[...tags, ...custom_tags].map((tag) => (
          <Badge key={tag}>{tag}</Badge>
        ))}
      </span>
    ),
  },
];

/** The people and addresses of a case. */
export function AddressBook({ caseId }: { caseId: string }) {
  const found = useLoaded(
    `address-book/${caseId}`,
    async (signal, service) => {
      const { data } = await service.getCaseAddressBook({ caseId, signal });
      const addresses = new Map(data.flatMap((item) => (item.entity_id === 'address' ? [[item.id, item.data]] : [])));
      return data.flatMap((item) =>
        item.entity_id === 'person'
          ? [{ id: item.id, person: item.data, address: addresses.get(item.data.address) }]
          : [],
      );
    },
    ofCase(caseId),
  );
  return (
    <section class="card" aria-label={text.addressBook}>
      <Loaded of={found}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title={text.noPeople} />
          ) : (
            <Table caption={text.addressBook} columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
    </section>
  );
}
