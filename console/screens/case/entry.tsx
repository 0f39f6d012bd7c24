import addressLimits from 'openapi:AddressBody';
import entryLimits from 'openapi:AddressBookEntryBody';
import type { AddressBookEntryBody } from '@case-records/client';
import { Panel } from '../../components/dialog.tsx';
import { Field, Form, type Removal } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Loaded } from '../../components/states.tsx';
import { report, toast } from '../../components/toast.tsx';
import { useAction } from '../../service/action.ts';
import { service } from '../../service/client.ts';
import { useTags } from '../../service/company-data.ts';
import { type Current, useForm, type Values } from '../../service/form.ts';
import { useLoaded } from '../../service/loading.ts';
import { may } from '../../service/session.ts';
import { fieldLabel } from '../../texts.ts';
import { personName } from '../person-name.ts';
import type { PanelProps } from './case-panel.tsx';
import { text } from './texts.ts';

const limits = { ...addressLimits, ...entryLimits };
const PERSON = ['title', 'first_names', 'last_name', 'known_as', 'email', 'tel_1', 'tel_2', 'occupation'] as const;
const ADDRESS = ['address_1', 'address_2', 'address_3', 'postcode'] as const;

type Entry = Current & { tags: string[]; ownTags: string[] };

/** Adds a person to the address book, or changes one with relationships, address and tags. */
export function EntryPanel({ id, ...props }: PanelProps & { id: string | undefined }) {
  const caseId = props.overview.id;
  const found = useLoaded(id && `entry/${id}/edit`, () => readEntry(caseId, id ?? ''));
  return (
    <Panel title={id === undefined ? text.addPerson : text.person} onClose={props.onClose}>
      {id === undefined ? (
        <EntryForm {...props} />
      ) : (
        <Loaded of={found}>
          {(entry) => (
            <>
              <Tags caseId={caseId} id={id} entry={entry} reload={found.reload} />
              <EntryForm {...props} id={id} current={entry} />
            </>
          )}
        </Loaded>
      )}
    </Panel>
  );
}

/** The address is an item of its own in the list, right after its person. */
async function readEntry(caseId: string, entryID: string): Promise<Entry> {
  const [{ data, etag }, list] = await Promise.all([
    service.readAddressBookEntry({ caseId, entryID }),
    service.getCaseAddressBook({ caseId }),
  ]);
  if (data === undefined) throw new Error('The service has sent no entry.');
  const person = data.data;
  const address = list.data.find(({ id }) => id === person.address)?.data as Record<string, string> | undefined;
  const values = {
    ...Object.fromEntries(PERSON.map((name) => [name, person[name] ?? ''])),
    ...Object.fromEntries(ADDRESS.map((name) => [`address.${name}`, address?.[name] ?? ''])),
    ...Object.fromEntries(Object.entries(person.relationship).map(([id, word]) => [`relationship.${id}`, word])),
    tags: '',
    custom_tags: '',
  };
  return { values, etag, tags: person.tags, ownTags: person.custom_tags };
}

const splitTags = (value: string | boolean | undefined): string[] =>
  String(value ?? '')
    .split(',')
    .map((tag) => tag.trim())
    .filter(Boolean);

function EntryForm({ overview, onClose, id, current }: PanelProps & { id?: string; current?: Current }) {
  const caseId = overview.id;
  const change = { record: 'address_book_entry', caseId };
  const key = { caseId, entryID: id ?? '' };
  const tags = useTags();
  const empty = [...PERSON, ...ADDRESS.map((name) => `address.${name}`), 'tags', 'custom_tags'];
  const relations = overview.customers.map((customer) => ({ name: `relationship.${customer.id}`, customer }));
  const form = useForm({
    draft: `entry/${id ?? `new/${caseId}`}`,
    initial: {
      ...Object.fromEntries([...empty, ...relations.map(({ name }) => name)].map((name) => [name, ''])),
      ...current?.values,
    },
    etag: current?.etag,
    ...(id && { read: () => readEntry(caseId, id) }),
    send: async (values, careful) => {
      const body = toBody(values);
      if (id === undefined) await service.createCaseAddressBookEntry({ caseId, body, ...careful });
      else await service.updateCaseAddressBookEntry({ ...key, body, ...careful });
    },
    onSent: () => {
      report(change, id === undefined ? text.personAdded : text.saved);
      onClose();
    },
  });
  const removal: Removal = {
    onRemove: (careful) => service.deleteAddressBookEntry({ ...key, ...careful }),
    onRemoved: () => {
      onClose();
      report(change, text.deleted(text.thePerson), (idempotencyKey) =>
        service.restoreAddressBookEntry({ ...key, idempotencyKey }),
      );
    },
  };
  return (
    <Form form={form} limits={limits} onCancel={onClose} mayWrite={may('address_book:write')} {...(id && removal)}>
      {PERSON.map((name) => (
        <Field key={name} name={name} kind={KINDS[name] ?? 'text'} autoFocus={name === 'title'} />
      ))}
      <h3 class="wide">{text.address}</h3>
      {ADDRESS.map((name) => (
        <Field key={name} name={`address.${name}`} />
      ))}
      {relations.map(({ name, customer }) => (
        <Field key={name} name={name} label={text.relationshipTo(personName(customer))} />
      ))}
      <Field name="tags" label={text.commonTags} hint={text.tagsHint} list={tags.common} />
      <Field name="custom_tags" label={text.ownTags} list={tags.own} />
    </Form>
  );
}

const KINDS: Readonly<Record<string, 'email' | 'tel'>> = { email: 'email', tel_1: 'tel', tel_2: 'tel' };

function toBody(values: Values): AddressBookEntryBody {
  const value = (name: string) => String(values[name] ?? '').trim();
  const relationship = Object.fromEntries(
    Object.entries(values).flatMap(([name, word]) =>
      name.startsWith('relationship.') && word ? [[name.slice('relationship.'.length), String(word)]] : [],
    ),
  );
  return {
    ...Object.fromEntries(PERSON.map((name) => [name, value(name) || null])),
    entity_id: 'person',
    title: value('title'),
    first_names: value('first_names'),
    last_name: value('last_name'),
    address: Object.fromEntries(ADDRESS.map((name) => [name, value(`address.${name}`)])),
    relationship,
    tags: splitTags(values.tags),
    custom_tags: splitTags(values.custom_tags),
  };
}

type TagsProps = { caseId: string; id: string; entry: Entry; reload: () => void };

/** Saving only adds tags, so each tag has its own way out. */
function Tags({ caseId, id: entryID, entry: { values, tags, ownTags }, reload }: TagsProps) {
  const action = useAction(entryID);
  if (tags.length + ownTags.length === 0) return null;
  const key = { caseId, entryID };
  const remove = async (tag: string, isOwn: boolean) => {
    const write = isOwn ? service.removeCustomTag : service.removeTag;
    let ifMatch: string | undefined;
    const isDone = await action.run(async (idempotencyKey) => {
      ifMatch = (await write({ ...key, tag, idempotencyKey })).etag;
    }, tag);
    reload();
    if (action.failure.value !== undefined) toast(action.failure.value);
    if (!isDone) return;
    report({ record: 'address_book_entry', caseId }, text.tagRemoved(tag), async (idempotencyKey) => {
      const { entity_id, title, first_names, last_name } = toBody(values);
      const body = { entity_id, title, first_names, last_name, [isOwn ? 'custom_tags' : 'tags']: [tag] };
      await service.updateCaseAddressBookEntry({ ...key, body, idempotencyKey, ifMatch });
      reload();
    });
  };
  return (
    <fieldset class="chips tags" aria-label={fieldLabel('tags')}>
      {[...tags.map((tag) => ({ tag, isOwn: false })), ...ownTags.map((tag) => ({ tag, isOwn: true }))].map(
        ({ tag, isOwn }) =>
          may('address_book:write') ? (
            <button key={tag} type="button" aria-label={text.removeTag(tag)} onClick={() => remove(tag, isOwn)}>
              {tag} <Icon name="close" />
            </button>
          ) : (
            <span key={tag}>{tag}</span>
          ),
      )}
    </fieldset>
  );
}
