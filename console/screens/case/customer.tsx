import limits from 'openapi:CreateCustomerBody';
import type { Customer } from '@case-records/client';
import { Panel } from '../../components/dialog.tsx';
import { Field, Form, type Removal } from '../../components/form.tsx';
import { Loaded } from '../../components/states.tsx';
import { report } from '../../components/toast.tsx';
import { service } from '../../service/client.ts';
import { type Current, useForm, type Values } from '../../service/form.ts';
import { useLoaded } from '../../service/loading.ts';
import { may } from '../../service/session.ts';
import type { PanelProps } from './case-panel.tsx';
import { text } from './texts.ts';

const FIELDS = ['title', 'first_names', 'last_name', 'email', 'phone'] as const;
const KINDS: Readonly<Record<string, 'email' | 'tel'>> = { email: 'email', phone: 'tel' };

/** Adds a client of the case, or changes one. */
export function CustomerPanel({ id, ...props }: PanelProps & { id: string | undefined }) {
  const caseId = props.overview.id;
  const mayWrite = may('cases:write', 'manage');
  const found = useLoaded(mayWrite && id ? `customer/${id}/edit` : undefined, () => readCustomer(caseId, id ?? ''));
  if (!mayWrite) return null;
  return (
    <Panel title={id === undefined ? text.addClient : text.client} onClose={props.onClose}>
      {id === undefined ? (
        <CustomerForm {...props} />
      ) : (
        <Loaded of={found}>{(current) => <CustomerForm {...props} id={id} current={current} />}</Loaded>
      )}
    </Panel>
  );
}

async function readCustomer(caseId: string, customerId: string): Promise<Current> {
  const { data, etag } = await service.getCustomer({ caseId, customerId });
  const customer = data as Customer;
  return { values: Object.fromEntries(FIELDS.map((name) => [name, customer[name] ?? ''])), etag };
}

const toBody = (values: Values) => ({
  ...Object.fromEntries(FIELDS.map((name) => [name, String(values[name]).trim() || null])),
  last_name: String(values.last_name).trim(),
});

function CustomerForm({ overview, onClose, id, current }: PanelProps & { id?: string; current?: Current }) {
  const caseId = overview.id;
  const change = { record: 'customer', caseId };
  const key = { caseId, customerId: id ?? '' };
  const form = useForm({
    draft: `customer/${id ?? `new/${caseId}`}`,
    initial: current?.values ?? Object.fromEntries(FIELDS.map((name) => [name, ''])),
    etag: current?.etag,
    ...(id && { read: () => readCustomer(caseId, id) }),
    send: async (values, careful) => {
      const body = toBody(values);
      if (id === undefined) await service.createCustomer({ caseId, body, ...careful });
      else await service.updateCustomer({ ...key, body, ...careful });
    },
    onSent: () => {
      report(change, id === undefined ? text.clientAdded : text.saved);
      onClose();
    },
  });
  const removal: Removal = {
    onRemove: (careful) => service.removeCustomer({ ...key, ...careful }),
    onRemoved: () => {
      onClose();
      report(change, text.deleted(text.theClient), (idempotencyKey) =>
        service.restoreCustomer({ ...key, idempotencyKey }),
      );
    },
  };
  return (
    <Form form={form} limits={limits} onCancel={onClose} {...(id && removal)}>
      {FIELDS.map((name) => (
        <Field key={name} name={name} kind={KINDS[name] ?? 'text'} autoFocus={name === 'title'} />
      ))}
    </Form>
  );
}
