import createLimits from 'openapi:CreateAppointmentBody';
import updateLimits from 'openapi:UpdateAppointmentBody';
import type { Appointment } from '@case-records/client';
import { Button } from '../../components/button.tsx';
import { Panel } from '../../components/dialog.tsx';
import { CheckField, Field, Form, SelectField, useFormContext } from '../../components/form.tsx';
import { Loaded } from '../../components/states.tsx';
import { addMinutes, toFieldTime, toRequestTime, wallTime } from '../../components/time.ts';
import { toast } from '../../components/toast.tsx';
import { Badge } from '../../components/values.tsx';
import { service } from '../../service/client.ts';
import { useAdvisers } from '../../service/company-data.ts';
import { announce } from '../../service/following.ts';
import { type Current, useForm, type Values } from '../../service/form.ts';
import { useLoaded } from '../../service/loading.ts';
import { company, may } from '../../service/session.ts';
import type { PanelProps } from './case-panel.tsx';
import { text } from './texts.ts';

const DEFAULT_MINUTES = 60;

/** Books an appointment, or shows one with its outcome, to be changed. */
export function AppointmentPanel({ id, ...props }: PanelProps & { id: string | undefined }) {
  const caseId = props.overview.id;
  const found = useLoaded(id && `appointment/${id}/edit`, () => readAppointment(caseId, id ?? ''));
  return (
    <Panel title={id === undefined ? text.book : text.appointment} onClose={props.onClose}>
      {id === undefined ? (
        <BookingForm {...props} />
      ) : (
        <Loaded of={found}>
          {(current) => (
            <>
              <Outcome {...props} appointment={current.appointment} reload={found.reload} />
              <ChangeForm {...props} id={id} current={current} key={current.etag} />
            </>
          )}
        </Loaded>
      )}
    </Panel>
  );
}

async function readAppointment(caseId: string, appointmentID: string) {
  const { data, etag } = await service.readAppointment({ caseId, appointmentID });
  const appointment = data as Appointment;
  return { appointment, values: toValues(appointment), etag };
}

const isRequested = (state: string | null): boolean => state !== null && state !== 'cancelled';

const toValues = (appointment: Appointment): Values => ({
  start_time: wallTime(appointment.start_time, company.value.timeZone),
  end_time: toFieldTime(appointment.end_time),
  location: appointment.location ?? '',
  notes: appointment.notes ?? '',
  email_recipient: appointment.email_recipient,
  email_confirmation: false,
  email_notification: isRequested(appointment.email_notification),
  sms_recipient: appointment.sms_recipient ?? '',
  sms_confirmation: false,
  sms_notification: isRequested(appointment.sms_notification),
});

/** What every appointment has. Moving the start moves the end with it. */
function CommonFields({ overview }: Pick<PanelProps, 'overview'>) {
  const { form } = useFormContext();
  const emails = overview.customers.flatMap(({ email }) => (email ? [email] : []));
  const phones = overview.customers.flatMap(({ phone }) => (phone ? [phone] : []));
  const onStart = (start: string, before: string) => {
    const end = String(form.values.value.end_time ?? '');
    const minutes = before && end ? (Date.parse(`${end}:00Z`) - Date.parse(`${before}:00Z`)) / 60_000 : DEFAULT_MINUTES;
    if (start && minutes > 0) form.set('end_time', addMinutes(start, minutes));
  };
  return (
    <>
      <Field name="start_time" kind="time" isRequired onChanged={onStart} />
      <Field name="end_time" kind="time" isRequired />
      <div class="wide">
        <Field name="location" />
      </div>
      <Field name="notes" kind="lines" />
      <h3 class="wide">{text.messages}</h3>
      <SelectField name="email_recipient" options={emails.map((email) => ({ value: email, label: email }))} />
      <Field name="sms_recipient" kind="tel" list={phones} />
    </>
  );
}

/** Says before saving what the client will get. */
function WhatIsSent() {
  const { value } = useFormContext().form.values;
  const parts = [
    value.email_confirmation && text.sendsConfirmation(text.byEmail, String(value.email_recipient ?? '')),
    value.sms_confirmation && text.sendsConfirmation(text.bySms, String(value.sms_recipient ?? '')),
    value.email_notification && text.sendsReminder(text.byEmail),
    value.sms_notification && text.sendsReminder(text.bySms),
  ].filter((part): part is string => typeof part === 'string');
  return (
    <p class="note" role="status">
      {text.sends(parts)}
    </p>
  );
}

function BookingForm({ overview, onClose }: PanelProps) {
  const caseId = overview.id;
  const advisers = useAdvisers().filter(({ active }) => active);
  const responsible = advisers.find(({ id }) => id === overview.responsible_adviser_id) ?? advisers[0];
  const email = overview.customers.find((one) => one.email)?.email ?? '';
  const form = useForm({
    draft: `appointment/new/${caseId}`,
    initial: {
      adviser_email: '',
      start_time: '',
      end_time: '',
      location: '',
      notes: '',
      email_recipient: email,
      email_confirmation: email !== '',
      email_notification: email !== '',
      sms_recipient: '',
      sms_confirmation: false,
      sms_notification: false,
      video_meeting: false,
    },
    send: async (values, careful) => {
      const body = {
        ...common(values),
        adviser_email: String(values.adviser_email || (responsible?.email ?? '')),
        email_confirmation: values.email_confirmation === true,
        sms_confirmation: values.sms_confirmation === true,
        email_notification: values.email_notification === true,
        sms_notification: values.sms_notification === true,
        video_meeting: values.video_meeting === true,
      };
      await service.createCaseAppointment({ caseId, body, ...careful });
      announce({ record: 'appointment', caseId });
      toast(text.booked);
      onClose();
    },
  });
  return (
    <Form form={form} limits={createLimits} onCancel={onClose} mayWrite={may('appointments:write')}>
      <div class="wide">
        {advisers.length > 0 ? (
          <SelectField
            name="adviser_email"
            autoFocus
            defaultValue={responsible?.email ?? ''}
            options={advisers.map((one) => ({ value: one.email, label: one.name }))}
          />
        ) : (
          <Field name="adviser_email" kind="email" />
        )}
      </div>
      <CommonFields overview={overview} />
      <CheckField name="email_confirmation" />
      <CheckField name="sms_confirmation" />
      <CheckField name="email_notification" />
      <CheckField name="sms_notification" />
      <CheckField name="video_meeting" />
      <WhatIsSent />
    </Form>
  );
}

const common = (values: Values) => ({
  start_time: toRequestTime(String(values.start_time)),
  end_time: toRequestTime(String(values.end_time)),
  location: String(values.location) || null,
  notes: String(values.notes) || null,
  email_recipient: String(values.email_recipient) || null,
  sms_recipient: String(values.sms_recipient) || null,
});

function ChangeForm({ overview, onClose, id, current }: PanelProps & { id: string; current: Current }) {
  const caseId = overview.id;
  const form = useForm({
    draft: `appointment/${id}`,
    initial: current.values,
    etag: current.etag,
    read: () => readAppointment(caseId, id),
    send: async (values, careful) => {
      const body = {
        ...common(values),
        email_notification: values.email_notification === true,
        sms_notification: values.sms_notification === true,
        // A flag that is sent as true sends a confirmation again.
        ...(values.email_confirmation === true && { email_confirmation: true }),
        ...(values.sms_confirmation === true && { sms_confirmation: true }),
      };
      await service.updateCaseAppointment({ caseId, appointmentID: id, body, ...careful });
      announce({ record: 'appointment', caseId });
      toast(text.saved);
      onClose();
    },
  });
  const remove = async () => {
    await service.deleteCaseAppointment({ caseId, appointmentID: id });
    announce({ record: 'appointment', caseId });
    onClose();
    toast(text.deleted(text.theAppointment), async () => {
      await service.restoreAppointment({ caseId, appointmentID: id });
      announce({ record: 'appointment', caseId });
    });
  };
  return (
    <Form form={form} limits={updateLimits} onCancel={onClose} onRemove={remove} mayWrite={may('appointments:write')}>
      <CommonFields overview={overview} />
      <CheckField name="email_confirmation" label={text.confirmEmailAgain} />
      <CheckField name="sms_confirmation" label={text.confirmSmsAgain} />
      <CheckField name="email_notification" />
      <CheckField name="sms_notification" />
      <WhatIsSent />
      <p class="wide">
        <small>{text.deletingTells}</small>
      </p>
    </Form>
  );
}

type OutcomeProps = PanelProps & { appointment: Appointment; reload: () => void };

/** The outcome in one press. */
function Outcome({ overview: { id: caseId }, appointment, reload }: OutcomeProps) {
  const { id, attended, cancelled, start_time, join_url } = appointment;
  const set = async (body: { attended?: boolean; cancelled?: boolean }) => {
    try {
      await service.setAppointmentOutcome({ caseId, appointmentID: id, body });
      announce({ record: 'appointment', caseId });
      toast(text.outcomeSaved);
      reload();
    } catch (error) {
      toast((error as Error).message);
    }
  };
  const hasBegun = Date.parse(start_time) <= Date.now();
  const isOpen = attended === 0 && cancelled === 0;
  return (
    <div class="outcome">
      {attended === 1 && <Badge tone="good">{text.attended}</Badge>}
      {cancelled === 1 && <Badge tone="bad">{text.cancelled}</Badge>}
      {join_url && isOpen && (
        <a class="button primary" href={join_url} target="_blank" rel="noreferrer">
          {text.join}
        </a>
      )}
      {may('appointments:write') && (
        <>
          {isOpen && hasBegun && <Button onClick={() => set({ attended: true })}>{text.markAttended}</Button>}
          {isOpen && <Button onClick={() => set({ cancelled: true })}>{text.markCancelled}</Button>}
          {!isOpen && <Button onClick={() => set({ attended: false, cancelled: false })}>{text.clearOutcome}</Button>}
        </>
      )}
    </div>
  );
}
