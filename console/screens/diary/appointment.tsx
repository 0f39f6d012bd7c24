import limits from 'openapi:UpdateAppointmentBody';
import type { Adviser, Appointment, Customer, Meeting, Message } from '@case-records/client';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Panel } from '../../components/dialog.tsx';
import { Field, Form, SelectField } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { useNow } from '../../components/now.ts';
import { Loaded } from '../../components/states.tsx';
import { report, toast, type Undo } from '../../components/toast.tsx';
import { Badge, DateTime, type Tone } from '../../components/values.tsx';
import { to } from '../../navigation/place.ts';
import { useAction } from '../../service/action.ts';
import { service } from '../../service/client.ts';
import { useAdvisers } from '../../service/company-data.ts';
import { ofCase } from '../../service/following.ts';
import { type Careful, useForm, type Values } from '../../service/form.ts';
import { useLoaded } from '../../service/loading.ts';
import { company, may } from '../../service/session.ts';
import { instantsOf, type Span } from './axis.ts';
import { useCase } from './case-field.tsx';
import { adviserName, NO_SHOW, sameAddress, spanText, stateOf, useLeadDays } from './diary-data.ts';
import {
  confirmOf,
  emailOptions,
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

type Key = { caseId: string; appointmentID: string };

type PanelProps = {
  caseId: string;
  id: string;
  onClose: () => void;
  /** Without it the panel closes. */
  onSaved?: (id: string) => void;
  /** The times to which it was moved, which are not saved yet. */
  moved?: Span | undefined;
  /** Lets the person move it with the arrow keys, where it is shown among others. */
  onMove?: (() => void) | undefined;
};

type Found = Current & { messages: Message[]; meeting: Meeting };
type Current = { appointment: Appointment; etag: string | undefined; span: Span };

/** An appointment: its outcome, its form, its video meeting and what its client was sent. */
export function AppointmentPanel(props: PanelProps) {
  const { caseId, id, onClose } = props;
  const shared = { advisers: useAdvisers(), leadDays: useLeadDays(), now: useNow() };
  const key = { caseId, appointmentID: id };
  const found = useLoaded(
    `diary/${id}`,
    async (signal): Promise<Found> => {
      const [current, messages, meeting] = await Promise.all([
        readCurrent(key, signal),
        service.listAppointmentMessages({ ...key, signal }),
        service.getAppointmentMeeting({ ...key, signal }),
      ]);
      return { ...current, messages: messages.data, meeting: meeting.data };
    },
    ofCase(caseId),
  );
  return (
    <Panel title={text.appointment} onClose={onClose}>
      <Loaded of={found} lines={8}>
        {(record) => <Details {...props} {...shared} record={record} reload={found.reload} />}
      </Loaded>
    </Panel>
  );
}

async function readCurrent(key: Key, signal?: AbortSignal): Promise<Current> {
  const { data: appointment, etag } = await service.readAppointment({ ...key, ...(signal && { signal }) });
  return { appointment, etag, span: { start: Date.parse(appointment.start_time), end: await endOf(appointment) } };
}

/** The end is wall time. If the clocks repeat it, only the list of the company tells which of the two it is. */
async function endOf({ id, start_time, end_time }: Appointment): Promise<number> {
  const [first = Number.NaN, second] = instantsOf(end_time.slice(0, 16).replace(' ', 'T'), company.value.timeZone);
  if (second === undefined) return first;
  const to = new Date(Date.parse(start_time) + 1_000).toISOString();
  const { data } = await service.listAppointments({ from: start_time, to, limit: 200 });
  return Date.parse(data.find((one) => one.id === id)?.end_time_utc ?? '') || first;
}

type Shared = { advisers: readonly Adviser[]; leadDays: number | undefined; now: number };
type DetailsProps = PanelProps & Shared & { record: Found; reload: () => void };

function Details(props: DetailsProps) {
  const { caseId, id, record, moved, advisers, now, reload, onClose } = props;
  const { appointment, messages, meeting, etag, span } = record;
  const state = stateOf(appointment);
  // While it is being moved, the move is what the panel is about.
  const mayAct = may('appointments:write') && !moved;
  const known = useCase(may('cases:read', 'manage') ? caseId : '');
  const key = { caseId, appointmentID: id };
  const action = useAction(id);
  const change = { record: 'appointment', caseId };
  const seen = etag === undefined ? {} : { ifMatch: etag };
  const act: Act = (button, write, said, undo) =>
    action.run(
      async (idempotencyKey) => {
        try {
          await write({ ...key, idempotencyKey, ...seen });
        } catch (error) {
          reload();
          throw error;
        }
        report(change, said, undo);
      },
      // What is pressed for another version of the appointment is another write.
      `${button} ${etag}`,
    );
  const setOutcome = (body: { attended: boolean; cancelled: boolean; type: string | null }) =>
    act(JSON.stringify(body), (write) => service.setAppointmentOutcome({ ...write, body }), text.outcomeSaved);
  const type = appointment.type === NO_SHOW ? null : appointment.type;
  const remove = async () => {
    const isDone = await act(
      'delete',
      (write) => service.deleteCaseAppointment(write),
      text.deleted,
      async (idempotencyKey) => {
        await service.restoreAppointment({ ...key, idempotencyKey });
        toast(text.restored);
      },
    );
    if (isDone) onClose();
  };
  const ending = noticesOfEnding({ ...planOf({}, state === 'cancelled'), ...span }, knownOf(record, props));
  return (
    <>
      <div class="diary-summary">
        <p>
          <strong>{spanText(span)}</strong>{' '}
          {state && <Badge tone={TONES[state] ?? 'neutral'}>{text.states[state]}</Badge>}
        </p>
        <p>
          {adviserName(appointment.adviser_email, advisers)}
          {known.data && (
            <>
              {' · '}
              <a href={to(`cases/${caseId}`)}>{known.data.reference ?? text.case}</a>
            </>
          )}
        </p>
        {appointment.join_url && (
          <a class="button" href={appointment.join_url} target="_blank" rel="noreferrer">
            <Icon name="video_conference" /> {text.join}
          </a>
        )}
        {!appointment.join_url && meeting.state !== 'none' && <p>{text.meeting[meeting.state]}</p>}
        {action.failure.value && (
          <p class="failure" role="alert">
            {action.failure.value}
          </p>
        )}
        {mayAct && (
          <fieldset class="diary-actions" aria-busy={action.isBusy.value}>
            <legend class="visually-hidden">{text.outcome}</legend>
            {state === undefined && span.start <= now && (
              <>
                <Button kind="primary" onClick={() => setOutcome({ attended: true, cancelled: false, type })}>
                  {text.attended}
                </Button>
                <Button onClick={() => setOutcome({ attended: false, cancelled: false, type: NO_SHOW })}>
                  {text.noShow}
                </Button>
              </>
            )}
            {state === undefined ? (
              <Button onClick={() => setOutcome({ attended: false, cancelled: true, type })}>{text.cancel}</Button>
            ) : (
              <Button onClick={() => setOutcome({ attended: false, cancelled: false, type })}>
                {state === 'cancelled' ? text.undoCancel : text.undoOutcome}
              </Button>
            )}
            {state === undefined && props.onMove && <Button onClick={props.onMove}>{text.move}</Button>}
            <Button kind="danger" onClick={remove}>
              {text.remove}
            </Button>
          </fieldset>
        )}
        {mayAct &&
          (state === 'cancelled' ? <small>{text.undoing}</small> : <Notices title={text.ending} notices={ending} />)}
      </div>
      <EditForm {...props} customers={known.data?.customers ?? []} />
      {mayAct && <MeetingActions record={record} now={now} end={span.end} advisers={advisers} act={act} />}
      {!moved && <Sent messages={messages} />}
    </>
  );
}

const TONES: { [state: string]: Tone } = { attended: 'good', cancelled: 'neutral', [NO_SHOW]: 'warning' };

const knownOf = ({ messages }: Found, { now, leadDays }: Shared) => ({
  ...{ messages, now, leadDays },
  timeZone: company.value.timeZone,
});

const valuesOf = ({ appointment, span }: Current): Values => ({
  ...timeValues(span),
  email_recipient: appointment.email_recipient,
  sms_recipient: appointment.sms_recipient ?? '',
  email_confirmation: false,
  email_notification: isRequested(appointment.email_notification),
  sms_confirmation: false,
  sms_notification: isRequested(appointment.sms_notification),
  location: appointment.location ?? '',
  notes: appointment.notes ?? '',
});

const isRequested = (state: string | null): boolean => state !== null && state !== 'cancelled';

type EditProps = PanelProps & Shared & { record: Found; customers: readonly Customer[] };

function EditForm(props: EditProps) {
  const { caseId, id, record, customers, moved, onClose, onSaved } = props;
  const element = useRef<HTMLDivElement>(null);
  const stored = valuesOf(record);
  const key = { caseId, appointmentID: id };
  const form = useForm({
    draft: `diary/${id}${moved ? `/${moved.start}/${moved.end}` : ''}`,
    initial: { ...stored, ...(moved && timeValues(moved)) },
    base: stored,
    etag: record.etag,
    read: async () => {
      const current = await readCurrent(key);
      return { values: valuesOf(current), etag: current.etag };
    },
    send: (values, careful, base) =>
      service.updateCaseAppointment({ ...key, body: changesOf(values, base), ...careful }),
    onSent: () => {
      report({ record: 'appointment', caseId }, text.saved);
      if (onSaved) onSaved(id);
      else onClose();
    },
  });
  useEffect(() => {
    if (moved) element.current?.querySelector<HTMLElement>('button[type=submit]')?.focus();
  }, [moved !== undefined]);
  const values = form.values.value;
  const isCancelled = record.appointment.cancelled === 1;
  const own = String(values.email_recipient ?? '');
  const emails = emailOptions(customers);
  const isListed = own === '' || emails.some(({ value }) => sameAddress(value, own));
  return (
    <div ref={element} class="diary-edit">
      <Form form={withDuration(form)} limits={limits} onCancel={onClose} mayWrite={may('appointments:write')}>
        {moved && <p class="note wide">{text.was(spanText(record.span))}</p>}
        <TimeFields />
        <SelectField
          name="email_recipient"
          options={[{ value: '', label: text.noEmail }, ...emails, ...(isListed ? [] : [{ value: own, label: own }])]}
        />
        <Field name="sms_recipient" kind="tel" list={customers.flatMap(({ phone }) => phone ?? [])} />
        <MessageChecks labels={text.confirmNow} />
        <Notices
          title={text.sending}
          notices={noticesOfSaving(
            planOf(values, isCancelled),
            planOf(stored, isCancelled),
            confirmOf(values),
            knownOf(record, props),
          )}
        />
        <div class="wide">
          <Field name="location" />
        </div>
        <Field name="notes" kind="lines" />
      </Form>
    </div>
  );
}

/** The fields of the request that differ. A confirmation is sent only if it is asked for now; `false` would withdraw one. */
function changesOf(values: Values, stored: Values) {
  const changed = (...names: string[]) => names.some((name) => values[name] !== stored[name]);
  const names = ['email_recipient', 'sms_recipient', 'location', 'notes', 'email_notification', 'sms_notification'];
  return {
    ...(changed('start_time', 'start_second') && { start_time: requestTime(values, 'start') }),
    ...(changed('end_time', 'end_second') && { end_time: requestTime(values, 'end') }),
    ...Object.fromEntries(names.filter((name) => changed(name)).map((name) => [name, values[name]])),
    ...(values.email_confirmation && { email_confirmation: true }),
    ...(values.sms_confirmation && { sms_confirmation: true }),
  };
}

type Act = (
  button: string,
  write: (target: Key & Careful) => Promise<unknown>,
  said: string,
  undo?: Undo,
) => Promise<boolean>;
type MeetingProps = { record: Found; now: number; end: number; advisers: readonly Adviser[]; act: Act };

function MeetingActions({ record: { appointment, meeting }, now, end, advisers, act }: MeetingProps) {
  const hasAccount = advisers.some(
    ({ email, video_provider }) => video_provider && sameAddress(email, appointment.adviser_email),
  );
  const mayRequest = appointment.cancelled === 0 && end > now && hasAccount;
  const words = text.meeting;
  if (meeting.state === 'none' && !mayRequest) return null;
  return (
    <section class="diary-meeting">
      <p>{words[meeting.state]}</p>
      {meeting.last_error && <small>{meeting.last_error}</small>}
      {(meeting.state === 'none' || meeting.state === 'failed') && mayRequest && (
        <Button onClick={() => act('meet', (write) => service.requestAppointmentMeeting(write), text.saved)}>
          {meeting.state === 'none' ? words.add : words.again}
        </Button>
      )}
      {meeting.state !== 'none' && (
        <Button onClick={() => act('withdraw', (write) => service.withdrawAppointmentMeeting(write), text.saved)}>
          {words.withdraw}
        </Button>
      )}
    </section>
  );
}

const MESSAGE_TONES: { [state: string]: Tone } = { sent: 'good', failed: 'bad', scheduled: 'info' };

/** Every message of the appointment, with its time, its recipient and what went wrong. */
const Sent = ({ messages }: { messages: readonly Message[] }) => (
  <section class="diary-messages">
    <h3>{text.messages}</h3>
    {messages.length === 0 ? (
      <p>{text.noMessages}</p>
    ) : (
      <ul>
        {messages.map(({ id, kind, channel, state, sent_at, sent_to, due_at, last_error }) => (
          <li key={id}>
            <span>
              {text.messageKinds[kind]} {text.byChannel[channel]}
            </span>
            <Badge tone={MESSAGE_TONES[state] ?? 'neutral'}>{text.messageStates[state]}</Badge>
            <small>
              <DateTime at={sent_at ?? due_at} /> {sent_to}
            </small>
            {last_error && <small>{last_error}</small>}
          </li>
        ))}
      </ul>
    )}
  </section>
);
