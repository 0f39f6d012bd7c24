import type { CompanyMessage, Message } from '@case-records/client';
import { CaseRecordsError } from '@case-records/client';
import { Button } from '../../components/button.tsx';
import { Panel } from '../../components/dialog.tsx';
import { Loaded } from '../../components/states.tsx';
import { report } from '../../components/toast.tsx';
import { DateTime } from '../../components/values.tsx';
import { to } from '../../navigation/place.ts';
import { useAction } from '../../service/action.ts';
import { type Service, service } from '../../service/client.ts';
import { ofCase } from '../../service/following.ts';
import { useLoaded } from '../../service/loading.ts';
import { company, may } from '../../service/session.ts';
import { MessageState } from './message-state.tsx';
import { type Background, mayHaveArrived, recipientOf, refusalOf } from './resending.ts';
import { text } from './texts.ts';

type PanelProps = {
  caseId: string;
  appointmentId: string;
  messageId: string;
  /** The message in the list, which also shows those of deleted appointments. */
  listed: CompanyMessage | undefined;
  onClose: () => void;
};

export function MessagePanel({ caseId, appointmentId, messageId, listed, onClose }: PanelProps) {
  const found = useLoaded(
    `message/${caseId}/${appointmentId}`,
    (signal, service) => loadBackground(service, { caseId, appointmentID: appointmentId, signal }),
    ofCase(caseId),
  );
  const message = found.data?.background?.messages.find(({ id }) => id === messageId) ?? listed;
  const title = message ? text.what[message.channel][message.kind] : text.message;
  return (
    <Panel title={title} onClose={onClose}>
      <Loaded of={found} lines={6}>
        {({ background }) =>
          message ? (
            <div class="ledger-message">
              <Facts message={message} start={listed?.start ?? background?.appointment.start_time} />
              <div class="actions">
                <Button href={to(`cases/${caseId}`, background ? { open: `appointment/${appointmentId}` } : {})}>
                  {text.inCase}
                </Button>
              </div>
              <Resending caseId={caseId} message={message} listed={listed} background={background} onClose={onClose} />
              {background && background.messages.length > 1 && <Others messages={background.messages} />}
            </div>
          ) : (
            <p>{text.gone}</p>
          )
        }
      </Loaded>
    </Panel>
  );
}

async function loadBackground(
  service: Service,
  target: { caseId: string; appointmentID: string; signal: AbortSignal },
): Promise<{ background: Background | undefined }> {
  try {
    const [appointment, messages] = await Promise.all([
      service.readAppointment(target),
      service.listAppointmentMessages(target),
    ]);
    return { background: { appointment: appointment.data, messages: messages.data } };
  } catch (error) {
    if (error instanceof CaseRecordsError && error.code === 'not_found') return { background: undefined };
    throw error;
  }
}

function Facts({ message, start }: { message: Message; start: string | undefined }) {
  const { due_at, sent_at, sent_to, attempts, last_error } = message;
  const facts = [
    [text.sentTo, sent_to],
    [text.about, start && <DateTime key="start" at={start} />],
    [text.due, <DateTime key="due" at={due_at} />],
    [text.sent, sent_at && <DateTime key="sent" at={sent_at} />],
    [text.attempts, String(attempts)],
    [text.lastError, last_error],
  ] as const;
  return (
    <>
      <p>
        <MessageState of={message} />
      </p>
      <dl class="ledger-facts">
        {facts.map(
          ([name, value]) =>
            value && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
    </>
  );
}

type ResendingProps = Omit<PanelProps, 'appointmentId' | 'messageId'> & {
  message: Message;
  background: Background | undefined;
};

/** What sending again does is said before it is done. */
function Resending({ caseId, message, listed, background, onClose }: ResendingProps) {
  const action = useAction(message.id);
  const refusal = refusalOf(message, background, company.value.timeZone);
  if (!may('appointments:write') || refusal || !background) return refusal ? <p class="quiet">{refusal}</p> : null;
  const { appointment } = background;
  const recipient = recipientOf(message, appointment);
  const resend = () =>
    action.run(async (idempotencyKey) => {
      const target = { caseId, appointmentID: appointment.id, messageId: message.id };
      await service.resendMessage({ ...target, idempotencyKey });
      report({ record: 'message', caseId }, text.how.done(recipient));
      onClose();
    });
  const hasMoved = listed && Date.parse(listed.start) !== Date.parse(appointment.start_time);
  return (
    <section class="ledger-resend" aria-label={text.how.title}>
      <h3>{text.how.title}</h3>
      <ul>
        <li>{text.how.goes(text.what[message.channel][message.kind], recipient)}</li>
        <li>
          {text.how.says}{' '}
          <strong>
            <DateTime at={appointment.start_time} />
          </strong>
          {appointment.location && `, ${appointment.location}`}
        </li>
        {hasMoved && (
          <li>
            {text.how.moved} <DateTime at={listed.start} />
          </li>
        )}
        {message.sent_to && message.sent_to !== recipient && <li>{text.how.otherRecipient(message.sent_to)}</li>}
        {message.state === 'sent' && message.sent_to === recipient && <li>{text.how.twice}</li>}
        {mayHaveArrived(message) && <li class="uncertain">{text.how.uncertain}</li>}
        <li>{text.how.keeps}</li>
      </ul>
      {action.failure.value && (
        <p class="failure" role="alert">
          {action.failure.value}
        </p>
      )}
      <Button kind="primary" onClick={resend} isBusy={action.isBusy.value}>
        {text.how.send(recipient)}
      </Button>
    </section>
  );
}

const Others = ({ messages }: { messages: readonly Message[] }) => (
  <section aria-label={text.others}>
    <h3>{text.others}</h3>
    <ul class="ledger-payments">
      {messages.map((message) => (
        <li key={message.id}>
          <span>{text.what[message.channel][message.kind]}</span>
          <DateTime at={message.sent_at ?? message.due_at} />
          <MessageState of={message} />
        </li>
      ))}
    </ul>
  </section>
);
