import type { Answer } from '@case-records/client';
import type { ComponentType } from 'preact';
import type { FormLimits } from '../../../scripts/form-limits.ts';
import { Button } from '../../components/button.tsx';
import { Panel } from '../../components/dialog.tsx';
import { Form } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Pager } from '../../components/pager.tsx';
import { EmptyState, Loaded } from '../../components/states.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { report } from '../../components/toast.tsx';
import { useKeys } from '../../navigation/keys.ts';
import { go, place, withQuery } from '../../navigation/place.ts';
import { type Service, service } from '../../service/client.ts';
import { ofRecords } from '../../service/following.ts';
import { type Careful, useForm, type Values } from '../../service/form.ts';
import { useEntries, useLoaded } from '../../service/loading.ts';
import { Actions } from './actions.tsx';
import { text } from './texts.ts';

const PAGE_SIZE = 50;

type ListQuery = { per_page: number; page?: number; signal: AbortSignal };

/** One kind of record in the settings: its list, the form in its panel, and what else can be done with a record. */
export type RecordKind<Record extends { id: string }> = {
  /** In the address, as `open=adviser/new`, and in the names of drafts. */
  name: string;
  /** What the event log calls it. */
  record: string;
  text: { title: string; hint?: string; add: string; edit: string; none: string; submit?: string; saved: string };
  list: (service: Service, query: ListQuery, isRemoved: boolean) => Promise<Answer<Record[]>>;
  /** The first column has the name, which opens the panel. */
  nameTitle: string;
  nameOf: (record: Record) => string;
  columns: readonly Column<Record>[];
  /** Without it the records of the list have no panel. */
  read?: (service: Service, id: string) => Promise<Answer<Record>>;
  limits: FormLimits;
  toValues: (record: Record | undefined) => Values;
  save: (values: Values, careful: Careful, id: string | undefined) => Promise<unknown>;
  Fields: ComponentType<{ record: Record | undefined }>;
  /** Below the form of a record: what it does not change. */
  More?: ComponentType<{ record: Record; etag: string | undefined; onClose: () => void }>;
  /** Whether the form of a record can be saved. */
  canEdit?: boolean;
  remove?: (id: string, careful: Careful) => Promise<unknown>;
  restore?: (id: string, careful: Careful) => Promise<unknown>;
};

/** Returns the link that opens the panel of a record. */
const openRecord = (name: string, id: string): string => withQuery({ open: `${name}/${id}` });

const closePanel = () => go(withQuery({ open: undefined }), { replace: true });

/** A list of records with a panel to add and edit them. `keys` is the key that adds one. */
export function RecordList<Record extends { id: string }>({ kind, keys }: { kind: RecordKind<Record>; keys?: string }) {
  const { name, text: own, restore } = kind;
  const { query } = place.value;
  const isRemoved = restore !== undefined && query.get('show') === `removed-${name}`;
  const records = useEntries(
    `settings/${name}?removed=${isRemoved}`,
    (page, signal, service) => kind.list(service, { per_page: PAGE_SIZE, ...page, signal }, isRemoved),
    ofRecords(kind.record),
  );
  useKeys(keys ? [{ keys, label: own.add, run: () => go(openRecord(name, 'new')) }] : []);
  const [openName, id = ''] = query.get('open')?.split('/') ?? [];
  const nameColumn: Column<Record> = {
    title: kind.nameTitle,
    cell: (record) =>
      kind.read && !isRemoved ? <a href={openRecord(name, record.id)}>{kind.nameOf(record)}</a> : kind.nameOf(record),
  };
  const restoreColumn: Column<Record> = {
    title: text.actions,
    cell: (record) => (
      <Actions
        record={kind.record}
        of={[{ label: text.restore, run: (careful) => restore?.(record.id, careful), done: text.restored }]}
      />
    ),
  };
  return (
    <section class="card" aria-labelledby={`${name}-title`}>
      <header>
        <h2 id={`${name}-title`}>{own.title}</h2>
        {restore && (
          <div class="chips">
            <a
              href={withQuery({ show: isRemoved ? undefined : `removed-${name}` })}
              aria-current={isRemoved || undefined}
            >
              {text.removedOnes}
            </a>
          </div>
        )}
        <Button kind="primary" href={openRecord(name, 'new')}>
          <Icon name="plus" /> {own.add}
        </Button>
      </header>
      {own.hint && <p class="intro">{own.hint}</p>}
      <Loaded of={{ ...records, data: records.entries }}>
        {(entries) =>
          entries.length > 0 ? (
            <>
              <Table
                caption={own.title}
                columns={[nameColumn, ...(isRemoved ? [restoreColumn] : kind.columns)]}
                rows={entries}
                keyOf={(record) => record.id}
              />
              {records.hasMore && <Pager of={records} />}
            </>
          ) : (
            <EmptyState title={isRemoved ? text.noneRemoved : own.none} />
          )
        }
      </Loaded>
      {openName === name && id !== '' && <RecordPanel key={id} kind={kind} id={id} />}
    </section>
  );
}

function RecordPanel<Record extends { id: string }>({ kind, id }: { kind: RecordKind<Record>; id: string }) {
  const { read, More } = kind;
  const isNew = id === 'new';
  const found = useLoaded(
    isNew || !read ? undefined : `settings/${kind.name}/${id}/edit`,
    (_, service) => read?.(service, id) as Promise<Answer<Record>>,
    ofRecords(kind.record),
  );
  if (!isNew && !read) return null;
  return (
    <Panel title={isNew ? kind.text.add : kind.text.edit} onClose={closePanel}>
      {isNew ? (
        <RecordForm kind={kind} current={undefined} />
      ) : (
        <Loaded of={found}>
          {(current) => (
            <>
              <RecordForm kind={kind} current={current} />
              {More && <More record={current.data} etag={current.etag} onClose={closePanel} />}
            </>
          )}
        </Loaded>
      )}
    </Panel>
  );
}

function RecordForm<Record extends { id: string }>({
  kind,
  current,
}: {
  kind: RecordKind<Record>;
  current: Answer<Record> | undefined;
}) {
  const { read, Fields, remove, restore } = kind;
  const id = current?.data.id;
  const form = useForm({
    draft: `${kind.name}/${id ?? 'new'}`,
    initial: kind.toValues(current?.data),
    etag: current?.etag,
    ...(id !== undefined &&
      read && {
        read: async () => {
          const { data, etag } = await read(service, id);
          return { values: kind.toValues(data), etag };
        },
      }),
    send: (values, careful) => kind.save(values, careful, id),
    onSent: () => onDone(kind.text.saved),
  });
  const onDone = (said: string, undo?: (idempotencyKey: string) => Promise<unknown>) => {
    closePanel();
    report({ record: kind.record, caseId: null }, said, undo);
  };
  return (
    <Form
      form={form}
      limits={kind.limits}
      onCancel={closePanel}
      mayWrite={id === undefined || kind.canEdit !== false}
      {...(kind.text.submit && id === undefined && { submitLabel: kind.text.submit })}
      {...(id !== undefined &&
        remove && {
          onRemove: (careful: Careful) => remove(id, careful),
          onRemoved: () => onDone(text.removed, restore && ((idempotencyKey) => restore(id, { idempotencyKey }))),
        })}
    >
      <Fields record={current?.data} />
    </Form>
  );
}
