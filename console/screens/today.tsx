import type { Adviser, CompanyAppointment, CompanyMessage } from '@case-records/client';
import type { ComponentChildren } from 'preact';
import { Button } from '../components/button.tsx';
import { Icon } from '../components/icon.tsx';
import { useNow } from '../components/now.ts';
import { EmptyState, Loaded } from '../components/states.tsx';
import { addDays, dayOf } from '../components/time.ts';
import { toast } from '../components/toast.tsx';
import { Badge, DateTime, Day, Money } from '../components/values.tsx';
import { go, place, to, withQuery } from '../navigation/place.ts';
import { service } from '../service/client.ts';
import { useAdvisers } from '../service/company-data.ts';
import { messageOf } from '../service/faults.ts';
import { announce, ofRecords } from '../service/following.ts';
import { useLoaded } from '../service/loading.ts';
import { company, may, signedIn } from '../service/session.ts';
import { AppointmentPanel } from './diary/appointment.tsx';
import { adviserName } from './diary/diary-data.ts';
import { text as diaryText } from './diary/texts.ts';
import { InvoicePanel } from './invoices/invoice-panel.tsx';
import { text } from './today-texts.ts';

const MAX_ENTRIES = 20;

/** What needs somebody today, each with its next step. */
export function TodayScreen() {
  const now = useNow();
  const today = dayOf(new Date(now).toISOString(), company.value.timeZone);
  return (
    <>
      <header class="screen-header">
        <h1>{text.title}</h1>
        <p class="quiet">
          <Day day={today} />
        </p>
      </header>
      <div class="today">
        {may('appointments:read') && <Appointments today={today} now={now} />}
        {may('invoices:read') && <OverdueInvoices />}
        {may('appointments:read') && <FailedMessages />}
        {may('webhooks') && <FailingWebhooks />}
      </div>
      <OpenPanel />
    </>
  );
}

/** `open` in the address: the kind of record, its case and itself. */
function OpenPanel() {
  const [kind, caseId, id] = place.value.query.get('open')?.split('/') ?? [];
  if (!caseId || !id) return null;
  const onClose = () => go(withQuery({ open: undefined, pay: undefined }), { replace: true });
  if (kind === 'appointment') return <AppointmentPanel key={id} caseId={caseId} id={id} onClose={onClose} />;
  return kind === 'invoice' ? <InvoicePanel key={id} caseId={caseId} invoiceId={id} onClose={onClose} /> : null;
}

type SectionProps = {
  icon: string;
  title: string;
  aside?: ComponentChildren;
  /** Where all entries are; a section shows the first ones. */
  all: string;
  children: ComponentChildren;
};

const Section = ({ icon, title, aside, all, children }: SectionProps) => (
  <section class="card" aria-label={title}>
    <header>
      <Icon name={icon} />
      <h2>{title}</h2>
      {aside}
      <a href={all}>
        {text.showAll}
        <span class="visually-hidden">: {title}</span>
      </a>
    </header>
    {children}
  </section>
);

/** Those of the signed-in adviser, or of everybody if the person is not one. */
function Appointments({ today, now }: { today: string; now: number }) {
  const adviserId = signedIn.value?.user.adviser_id;
  const advisers = useAdvisers();
  const own = advisers.find(({ id }) => id === adviserId)?.email;
  const found = useLoaded(
    `today/appointments/${today}/${own ?? ''}`,
    async (signal, service) => {
      const window = { from: `${today} 00:00`, to: `${addDays(today, 1)} 00:00`, sort: 'start_time' as const };
      return (
        await service.listAppointments({ ...window, ...(own && { adviser_email: own }), limit: MAX_ENTRIES, signal })
      ).data;
    },
    ofRecords('appointment'),
  );
  return (
    <Section
      icon="appointment"
      title={own ? text.appointments : text.allAppointments}
      all={to('diary', { adviser: own })}
    >
      <Loaded of={found}>
        {(appointments) =>
          appointments.length === 0 ? (
            <EmptyState title={text.noAppointments} />
          ) : (
            <ul class="lines">
              {appointments.map((appointment) => (
                <AppointmentLine key={appointment.id} {...{ appointment, advisers, now }} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}

type AppointmentLineProps = { appointment: CompanyAppointment; advisers: readonly Adviser[]; now: number };

function AppointmentLine({ appointment, advisers, now }: AppointmentLineProps) {
  const { id, start_time, end_time_utc, outcome, location, adviser_email, join_url, case: found } = appointment;
  const set = async (attended: boolean) => {
    await service.setAppointmentOutcome({ caseId: found.id, appointmentID: id, body: { attended } });
    announce({ record: 'appointment', caseId: found.id });
  };
  const onAttended = async () => {
    try {
      await set(true);
      toast(text.outcomeSaved, () => set(false));
    } catch (error) {
      toast(messageOf(error));
    }
  };
  const hasBegun = Date.parse(start_time) <= now;
  return (
    <li>
      <div>
        <p>
          <strong>
            <DateTime at={start_time} show="time" />–<DateTime at={end_time_utc} show="time" />
          </strong>{' '}
          <a href={withQuery({ open: `appointment/${found.id}/${id}` })}>{found.reference ?? diaryText.appointment}</a>
        </p>
        <small>{[location, adviserName(adviser_email, advisers)].filter(Boolean).join(' · ')}</small>
      </div>
      {outcome !== 'none' && (
        <Badge tone={outcome === 'attended' ? 'good' : 'neutral'}>{diaryText.states[outcome]}</Badge>
      )}
      {outcome === 'none' && join_url && (
        <a class="button" href={join_url} target="_blank" rel="noreferrer">
          {text.join}
        </a>
      )}
      {outcome === 'none' && hasBegun && may('appointments:write') && (
        <Button onClick={onAttended}>{text.attended}</Button>
      )}
    </li>
  );
}

function OverdueInvoices() {
  const found = useLoaded(
    'today/invoices',
    async (signal, service) => {
      const [list, sums] = await Promise.all([
        service.listInvoices({ overdue: true, sort: 'date_due', limit: MAX_ENTRIES, signal }),
        service.sumInvoices({ signal }),
      ]);
      return { invoices: list.data, sum: sums.data.overdue };
    },
    ofRecords('invoice', 'payment'),
  );
  const sum = found.data?.sum;
  return (
    <Section
      icon="invoice"
      title={text.overdue}
      all={to('invoices', { show: 'overdue' })}
      aside={
        sum && sum.count > 0 ? (
          <small>
            {text.overdueSum(sum.count)}, <Money amount={sum.outstanding} />
          </small>
        ) : null
      }
    >
      <Loaded of={found}>
        {({ invoices }) =>
          invoices.length === 0 ? (
            <EmptyState title={text.noOverdue} />
          ) : (
            <ul class="lines">
              {invoices.map(({ id, invoice_number, outstanding, date_due, case: of }) => (
                <li key={id}>
                  <div>
                    <p>
                      <a href={withQuery({ open: `invoice/${of.id}/${id}` })}>{invoice_number}</a>{' '}
                      <Money amount={outstanding} />
                    </p>
                    <small>
                      {of.reference} · {text.dueOn} <DateTime at={date_due} show="date" />
                    </small>
                  </div>
                  {may('invoices:write') && (
                    <Button href={withQuery({ open: `invoice/${of.id}/${id}`, pay: '1' })}>{text.pay}</Button>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}

function FailedMessages() {
  const found = useLoaded(
    'today/messages',
    async (signal, service) => (await service.listMessages({ state: 'failed', per_page: MAX_ENTRIES, signal })).data,
    ofRecords('message', 'appointment'),
  );
  return (
    <Section icon="message" title={text.messages} all={to('messages')}>
      <Loaded of={found}>
        {(messages) =>
          messages.length === 0 ? (
            <EmptyState title={text.noMessages} />
          ) : (
            <ul class="lines">
              {messages.map((message) => (
                <MessageLine key={message.id} message={message} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}

function MessageLine({ message }: { message: CompanyMessage }) {
  const { id, appointment_id, kind, channel, sent_to, attempts, last_error, start, case: of } = message;
  const resend = async () => {
    try {
      await service.resendMessage({ caseId: of.id, appointmentID: appointment_id, messageId: id });
      announce({ record: 'message', caseId: of.id });
      toast(text.resent);
    } catch (error) {
      toast(messageOf(error));
    }
  };
  return (
    <li>
      <div>
        <p>
          {text.kinds[kind]} ({text.channels[channel]}) {sent_to} ·{' '}
          <a href={withQuery({ open: `appointment/${of.id}/${appointment_id}` })}>
            <DateTime at={start} />
          </a>
        </p>
        <small>{[of.reference, text.attempts(attempts), last_error].filter(Boolean).join(' · ')}</small>
      </div>
      {may('appointments:write') && <Button onClick={resend}>{text.resend}</Button>}
    </li>
  );
}

function FailingWebhooks() {
  const found = useLoaded(
    'today/webhooks',
    async (signal, service) =>
      (await service.listWebhookEndpoints({ per_page: 200, signal })).data.filter(({ state }) => state === 'failing'),
    ofRecords('webhook_endpoint'),
  );
  const resume = async (endpointId: string) => {
    try {
      await service.resumeWebhookEndpoint({ endpointId });
      announce({ record: 'webhook_endpoint', caseId: null });
      toast(text.resumed);
    } catch (error) {
      toast(messageOf(error));
    }
  };
  return (
    <Section icon="warning" title={text.webhooks} all={to('settings/webhooks')}>
      <Loaded of={found}>
        {(endpoints) =>
          endpoints.length === 0 ? (
            <EmptyState title={text.noWebhooks} />
          ) : (
            <ul class="lines">
              {endpoints.map(({ id, url, description, failing_since }) => (
                <li key={id}>
                  <div>
                    <p>{description ?? url}</p>
                    <small>
                      {text.since} {failing_since && <DateTime at={failing_since} />}
                    </small>
                  </div>
                  <Button onClick={() => resume(id)}>{text.resume}</Button>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}
