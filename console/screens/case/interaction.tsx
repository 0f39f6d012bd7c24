import limits from 'openapi:InteractionBody';
import type { Interaction, InteractionType } from '@case-records/client';
import { Panel } from '../../components/dialog.tsx';
import { Field, Form, type Removal, SelectField } from '../../components/form.tsx';
import { Loaded } from '../../components/states.tsx';
import { toFieldTime, toRequestTime } from '../../components/time.ts';
import { report } from '../../components/toast.tsx';
import { service } from '../../service/client.ts';
import { type Current, useForm, type Values } from '../../service/form.ts';
import { useLoaded } from '../../service/loading.ts';
import { may, signedIn } from '../../service/session.ts';
import { personName } from '../person-name.ts';
import type { PanelProps } from './case-panel.tsx';
import { text } from './texts.ts';

const TYPES = Object.entries(text.types).map(([value, label]) => ({ value, label }));

/** Logs a contact, or edits one. */
export function InteractionPanel({ id, ...props }: PanelProps & { id: string | undefined }) {
  const caseId = props.overview.id;
  const found = useLoaded(id && `interaction/${id}/edit`, () => readInteraction(caseId, id ?? ''));
  const title = id === undefined ? text.log : text.editContact;
  return (
    <Panel title={title} onClose={props.onClose}>
      {id === undefined ? (
        <InteractionForm {...props} />
      ) : (
        <Loaded of={found}>{(current) => <InteractionForm {...props} id={id} current={current} />}</Loaded>
      )}
    </Panel>
  );
}

async function readInteraction(caseId: string, interactionId: string): Promise<Current> {
  const { data, etag } = await service.readInteraction({ caseId, interactionId });
  return { values: toValues(data), etag };
}

const toValues = ({ type, notes, when, sender, recipient }: Interaction): Values => ({
  type,
  notes,
  when: toFieldTime(when),
  sender: sender ?? '',
  recipient,
});

function InteractionForm({ overview, onClose, id, current }: PanelProps & { id?: string; current?: Current }) {
  const caseId = overview.id;
  const change = { record: 'interaction', caseId };
  const key = { caseId, interactionId: id ?? '' };
  const form = useForm({
    draft: `interaction/${id ?? `new/${caseId}`}`,
    initial: current?.values ?? {
      type: 'phone',
      notes: '',
      when: '',
      sender: '',
      recipient: signedIn.value?.user.name ?? '',
    },
    etag: current?.etag,
    ...(id && { read: () => readInteraction(caseId, id) }),
    send: async (values, careful) => {
      const body = {
        type: values.type as InteractionType,
        notes: String(values.notes),
        when: values.when ? toRequestTime(String(values.when)) : null,
        sender: String(values.sender) || null,
        recipient: String(values.recipient),
      };
      if (id === undefined) await service.createCaseInteraction({ caseId, body, ...careful });
      else await service.updateCaseInteraction({ ...key, body, ...careful });
    },
    onSent: () => {
      report(change, id === undefined ? text.logged : text.saved);
      onClose();
    },
  });
  const names = [signedIn.value?.user.name ?? '', ...overview.customers.map(personName)];
  const removal: Removal = {
    onRemove: (careful) => service.deleteInteraction({ ...key, ...careful }),
    onRemoved: () => {
      onClose();
      report(change, text.deleted(text.theContact), (idempotencyKey) =>
        service.restoreInteraction({ ...key, idempotencyKey }),
      );
    },
  };
  return (
    <Form form={form} limits={limits} onCancel={onClose} mayWrite={may('interactions:write')} {...(id && removal)}>
      <SelectField name="type" options={TYPES} autoFocus />
      <Field name="when" kind="time" {...(id === undefined && { hint: text.whenHint })} />
      <Field name="notes" kind="lines" hint={text.notesHint} />
      <Field name="sender" list={names} />
      <Field name="recipient" list={names} />
    </Form>
  );
}
