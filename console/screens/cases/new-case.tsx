import caseLimits from 'openapi:CreateCaseBody';
import customerLimits from 'openapi:CreateCustomerBody';
import { Panel } from '../../components/dialog.tsx';
import { Field, Form, SelectField } from '../../components/form.tsx';
import { report } from '../../components/toast.tsx';
import { go, to } from '../../navigation/place.ts';
import { service } from '../../service/client.ts';
import { useAdvisers, useCaseKinds } from '../../service/company-data.ts';
import { useForm, type Values } from '../../service/form.ts';
import { text } from './texts.ts';

const CUSTOMER = ['title', 'first_names', 'last_name', 'email', 'phone'] as const;
const limits = { ...customerLimits, ...caseLimits, last_name: {} };

export function NewCasePanel({ onClose }: { onClose: () => void }) {
  const kinds = useCaseKinds();
  const advisers = useAdvisers();
  const form = useForm({
    draft: 'case/new',
    initial: {
      reference: '',
      kind_id: '',
      responsible_adviser_id: '',
      ...Object.fromEntries(CUSTOMER.map((name) => [`customers[0].${name}`, ''])),
    },
    send: async (values, careful) => {
      return (await service.createCase({ body: toBody(values), ...careful })).data;
    },
    onSent: ({ id, reference }) => {
      report({ record: 'case', caseId: id }, text.created(reference));
      go(to(`cases/${id}`), { replace: true });
    },
  });
  return (
    <Panel title={text.newCase} onClose={onClose}>
      <Form form={form} limits={limits} onCancel={onClose} submitLabel={text.create}>
        <div class="wide">
          <Field name="reference" autoFocus />
        </div>
        <SelectField name="kind_id" options={kinds.map(({ id, name }) => ({ value: id, label: name }))} />
        <SelectField
          name="responsible_adviser_id"
          options={advisers.map(({ id, name }) => ({ value: id, label: name }))}
        />
        <h3 class="wide">
          {text.client} <small>{text.clientHint}</small>
        </h3>
        {CUSTOMER.map((name) => (
          <Field key={name} name={`customers[0].${name}`} kind={KINDS[name] ?? 'text'} />
        ))}
      </Form>
    </Panel>
  );
}

const KINDS: Readonly<Record<string, 'email' | 'tel'>> = { email: 'email', phone: 'tel' };

function toBody(values: Values) {
  const value = (name: string) => String(values[name] ?? '').trim() || null;
  const customer = Object.fromEntries(CUSTOMER.map((name) => [name, value(`customers[0].${name}`)]));
  const hasCustomer = Object.values(customer).some(Boolean);
  return {
    reference: value('reference') ?? '',
    kind_id: value('kind_id'),
    responsible_adviser_id: value('responsible_adviser_id'),
    ...(hasCustomer && { customers: [{ ...customer, last_name: customer.last_name ?? '' }] }),
  };
}
