import limits from 'openapi:CreateAppointmentBody';
import { type Appointment, CaseRecordsError, type Message } from '@case-records/client';
import { useEffect } from 'preact/hooks';
import { Panel } from '../../components/dialog.tsx';
import { CheckField, Field, Form, SelectField } from '../../components/form.tsx';
import { useNow } from '../../components/now.ts';
import { report, toast } from '../../components/toast.tsx';
import { service } from '../../service/client.ts';
import { useAdvisers } from '../../service/company-data.ts';
import { useForm, type Values } from '../../service/form.ts';
import { useLoaded } from '../../service/loading.ts';
import { company } from '../../service/session.ts';
import type { Span } from './axis.ts';
import { CaseField, useCase } from './case-field.tsx';
import { adviserName, instantText, useLeadDays } from './diary-data.ts';
import {
  confirmOf,
  emailOptions,
  instantOfValue,
  MessageChecks,
  Notices,
  planOf,
  requestTime,
  TimeFields,
  timeValues,
  withDuration,
} from './fields.tsx';
import { noticesOfEnding, noticesOfSaving } from './notices.ts';
import { text } from './texts.ts';

type BookingProps = {
  /** Names what was typed. */
  draft: string;
  /** Undefined: no time was chosen, and none is guessed. */
  span?: Span | undefined;
  /** The email of the adviser who is chosen unless the person chooses another. */
  adviser: string | undefined;
  caseId: string;
  /** The appointment in whose place this one is booked: another adviser has it then. */
  replaced?: { caseId: string; id: string } | undefined;
  onClose: () => void;
  /** Without it the panel closes. */
  onSaved?: (id: string) => void;
};

/** Books an appointment. */
export function BookingPanel(props: BookingProps) {
  const { replaced, onClose } = props;
  const before = useLoaded(replaced && `diary/replaced/${replaced.id}`, async (signal) => {
    const key = { caseId: replaced?.caseId ?? '', appointmentID: replaced?.id ?? '', signal };
    const [read, messages] = await Promise.all([service.readAppointment(key), service.listAppointmentMessages(key)]);
    return { ...read, messages: messages.data };
  }).data;
  return (
    <Panel title={text.book} onClose={onClose}>
      {(!replaced || before) && <Booking {...props} before={before} />}
    </Panel>
  );
}

type Before = { data: Appointment; etag: string | undefined; messages: Message[] };

function Booking({
  draft,
  span,
  adviser,
  caseId,
  replaced,
  before,
  onClose,
  onSaved,
}: BookingProps & { before: Before | undefined }) {
  const [advisers, leadDays, now] = [useAdvisers(), useLeadDays(), useNow()];
  const active = advisers.filter((one) => one.active);
  // The advisers may be loaded after the form has begun.
  const usual = adviser || (active.length === 1 ? (active[0]?.email ?? '') : '');
  const stored = before?.data;
  const form = useForm({
    draft,
    initial: {
      case: replaced?.caseId ?? caseId,
      recipientsOf: replaced?.caseId ?? '',
      adviser_email: '',
      ...timeValues(span),
      email_recipient: stored?.email_recipient ?? '',
      sms_recipient: stored?.sms_recipient ?? '',
      email_confirmation: true,
      email_notification: true,
      sms_confirmation: false,
      sms_notification: false,
      location: stored?.location ?? '',
      notes: stored?.notes ?? '',
      video_meeting: stored?.join_url != null,
    },
    send: async (values, careful) => {
      const chosenCase = String(values.case);
      if (!chosenCase) throw caseMissing();
      const write = { caseId: chosenCase, body: toBody(values, usual), ...careful };
      const { data } = await service.createCaseAppointment(write);
      if (replaced) await removeReplaced(replaced, before?.etag);
      return { caseId: chosenCase, id: data.id };
    },
    onSent: ({ caseId: chosenCase, id }) => {
      report({ record: 'appointment', caseId: chosenCase }, text.booked);
      if (onSaved) onSaved(id);
      else onClose();
    },
  });
  const values = form.values.value;
  const found = useCase(String(values.case));
  const customers = found.data?.customers ?? [];
  const [first] = customers.filter(({ email }) => email);
  // The first client is who most appointments are with. What was chosen for another case does not fit this one.
  useEffect(() => {
    if (!found.data || form.values.value.recipientsOf === found.data.id) return;
    form.replace({
      ...form.values.value,
      recipientsOf: found.data.id,
      email_recipient: first?.email ?? '',
      sms_recipient: (first ?? found.data.customers[0])?.phone ?? '',
      email_confirmation: first !== undefined,
      email_notification: first !== undefined,
    });
  }, [found.data]);

  const known = { messages: [], now, timeZone: company.value.timeZone, leadDays };
  const adviserOptions = active.map(({ email, name }) => ({ value: email, label: name }));
  const hasVideo = active.some((one) => one.email === (values.adviser_email || usual) && one.video_provider);
  return (
    <Form form={withDuration(form)} limits={limits} onCancel={onClose} submitLabel={text.bookingButton}>
      {stored && (
        <p class="note wide">
          {text.replacing(instantText(Date.parse(stored.start_time)), adviserName(stored.adviser_email, advisers))}
        </p>
      )}
      <CaseField found={found} />
      <div class="wide">
        <SelectField name="adviser_email" autoFocus defaultValue={usual} options={adviserOptions} />
      </div>
      <TimeFields />
      <SelectField
        name="email_recipient"
        options={[
          { value: '', label: customers.length > 0 && !first ? text.noCustomers : text.noEmail },
          ...emailOptions(customers),
        ]}
      />
      <Field name="sms_recipient" kind="tel" list={customers.flatMap(({ phone }) => phone ?? [])} />
      <MessageChecks />
      <Notices
        title={text.sending}
        notices={[
          ...noticesOfSaving(planOf(values, false), undefined, confirmOf(values), known),
          ...(stored && before
            ? noticesOfEnding(planOfStored(stored), { ...known, messages: before.messages })
            : []
          ).filter(({ kind }) => kind !== 'nothing'),
        ]}
      />
      <div class="wide">
        <Field name="location" />
      </div>
      {hasVideo && <CheckField name="video_meeting" />}
      <Field name="notes" kind="lines" />
    </Form>
  );
}

const planOfStored = (stored: Appointment) => ({
  ...planOf({}, stored.cancelled === 1),
  start: Date.parse(stored.start_time),
  end: instantOfValue({ end_time: stored.end_time.slice(0, 16).replace(' ', 'T') }, 'end'),
});

const caseMissing = () =>
  new CaseRecordsError({
    status: 400,
    code: 'invalid_request',
    detail: text.caseMissing,
    faults: [{ field: 'case', code: 'required', message: text.caseMissing }],
  });

function toBody(values: Values, usualAdviser: string) {
  const value = (name: string) => String(values[name] ?? '').trim() || null;
  return {
    adviser_email: value('adviser_email') ?? usualAdviser,
    start_time: requestTime(values, 'start'),
    end_time: requestTime(values, 'end'),
    email_recipient: value('email_recipient'),
    sms_recipient: value('sms_recipient'),
    ...confirmations(values),
    location: value('location'),
    notes: value('notes'),
    video_meeting: values.video_meeting === true,
  };
}

const confirmations = (values: Values) => ({
  email_confirmation: values.email_confirmation === true,
  email_notification: values.email_notification === true,
  sms_confirmation: values.sms_confirmation === true,
  sms_notification: values.sms_notification === true,
});

/** The new appointment is booked already, so a failure here must not let the form book it again. */
async function removeReplaced({ caseId, id }: { caseId: string; id: string }, etag: string | undefined): Promise<void> {
  const ifMatch = etag === undefined ? {} : { ifMatch: etag };
  try {
    await service.deleteCaseAppointment({ caseId, appointmentID: id, idempotencyKey: crypto.randomUUID(), ...ifMatch });
  } catch {
    toast(text.notReplaced);
  }
}
