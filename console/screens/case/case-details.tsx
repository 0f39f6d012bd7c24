import limits from 'openapi:UpdateCaseBody';
import type { Case } from '@case-records/client';
import { Panel } from '../../components/dialog.tsx';
import { Field, Form, SelectField } from '../../components/form.tsx';
import { Loaded } from '../../components/states.tsx';
import { report } from '../../components/toast.tsx';
import { service } from '../../service/client.ts';
import { useAdvisers, useCaseKinds } from '../../service/company-data.ts';
import { type Current, useForm } from '../../service/form.ts';
import { useLoaded } from '../../service/loading.ts';
import { may } from '../../service/session.ts';
import { text as casesText } from '../cases/texts.ts';
import type { PanelProps } from './case-panel.tsx';
import { text } from './texts.ts';

const STATES = Object.entries(casesText.states).map(([value, label]) => ({ value, label }));

/** Changes the case itself: its reference, kind, state and adviser. */
export function CaseDetailsPanel(props: PanelProps) {
  const caseId = props.overview.id;
  const mayWrite = may('cases:write', 'manage');
  const found = useLoaded(mayWrite ? `case/${caseId}/edit` : undefined, () => readCase(caseId));
  if (!mayWrite) return null;
  return (
    <Panel title={text.editCase} onClose={props.onClose}>
      <Loaded of={found}>{(current) => <CaseForm {...props} current={current} />}</Loaded>
    </Panel>
  );
}

async function readCase(caseId: string): Promise<Current> {
  const { data, etag } = await service.getCase({ caseId });
  const { reference, kind_id, state, responsible_adviser_id } = data as Case;
  const values = { reference, kind_id: kind_id ?? '', state, responsible_adviser_id: responsible_adviser_id ?? '' };
  return { values, etag };
}

function CaseForm({ overview: { id: caseId }, onClose, current }: PanelProps & { current: Current }) {
  const kinds = useCaseKinds();
  const advisers = useAdvisers();
  const form = useForm({
    draft: `case/${caseId}`,
    initial: current.values,
    etag: current.etag,
    read: () => readCase(caseId),
    send: async (values, careful) => {
      const body = {
        reference: String(values.reference),
        kind_id: String(values.kind_id) || null,
        state: values.state as Case['state'],
        responsible_adviser_id: String(values.responsible_adviser_id) || null,
      };
      await service.updateCase({ caseId, body, ...careful });
    },
    onSent: () => {
      report({ record: 'case', caseId }, text.saved);
      onClose();
    },
  });
  return (
    <Form form={form} limits={{ ...limits, reference: { ...limits.reference, required: true } }} onCancel={onClose}>
      <div class="wide">
        <Field name="reference" autoFocus />
      </div>
      <SelectField name="kind_id" options={kinds.map(({ id, name }) => ({ value: id, label: name }))} />
      <SelectField
        name="responsible_adviser_id"
        options={advisers.map(({ id, name }) => ({ value: id, label: name }))}
      />
      <div class="wide">
        <SelectField name="state" options={STATES} hint={text.stateHint} isRequired />
      </div>
    </Form>
  );
}
