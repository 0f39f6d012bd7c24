import type { Adviser, TimelineEntry, TimelineKind } from '@case-records/client';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { Icon } from '../../components/icon.tsx';
import { Pager } from '../../components/pager.tsx';
import { EmptyState, Loaded } from '../../components/states.tsx';
import { Badge, DateTime, Money } from '../../components/values.tsx';
import { place, to, withQuery } from '../../navigation/place.ts';
import { ofCase } from '../../service/following.ts';
import { useEntries } from '../../service/loading.ts';
import { may, type Scope } from '../../service/session.ts';
import { adviserName } from '../diary/diary-data.ts';
import { statusTone } from '../invoices/status.ts';
import { text as invoiceText } from '../invoices/texts.ts';
import { actorName, changeName } from './change-names.ts';
import { text } from './texts.ts';

const PAGE_SIZE = 50;

const KINDS: readonly { kind: TimelineKind; scope: Scope }[] = [
  { kind: 'interaction', scope: 'interactions:read' },
  { kind: 'appointment', scope: 'appointments:read' },
  { kind: 'invoice', scope: 'invoices:read' },
  { kind: 'payment', scope: 'invoices:read' },
  { kind: 'change', scope: 'events:read' },
];

/** Everything of a case in one order, latest first. The kinds are part of the address. */
export function Timeline({ caseId, advisers }: { caseId: string; advisers: readonly Adviser[] }) {
  const chosen = (place.value.query.get('kinds') ?? '').split(',').filter(Boolean);
  const kinds = chosen.join(',');
  const entries = useEntries(
    `timeline/${caseId}?${kinds}`,
    (page, signal, service) =>
      service.readTimeline({ caseId, limit: PAGE_SIZE, ...(kinds && { kinds }), ...page, signal }),
    ofCase(caseId),
  );
  const toggled = (kind: string) => (chosen.includes(kind) ? chosen.filter((one) => one !== kind) : [...chosen, kind]);
  return (
    <section class="card" aria-label={text.timeline}>
      <header>
        <nav class="chips" aria-label={text.timeline}>
          <a href={withQuery({ kinds: undefined })} aria-current={chosen.length === 0 ? 'true' : undefined}>
            {text.all}
          </a>
          {KINDS.filter(({ scope }) => may(scope)).map(({ kind }) => (
            <a
              key={kind}
              href={withQuery({ kinds: toggled(kind).join(',') })}
              aria-current={chosen.includes(kind) ? 'true' : undefined}
            >
              {text.kinds[kind]}
            </a>
          ))}
        </nav>
      </header>
      <Loaded of={{ ...entries, data: entries.entries }} lines={9}>
        {(shown) =>
          shown.length === 0 ? (
            <EmptyState title={chosen.length > 0 ? text.nothingOfKind : text.nothing} />
          ) : (
            <>
              <Lines {...{ caseId, kinds, advisers }} entries={shown} />
              <Pager of={entries} />
            </>
          )
        }
      </Loaded>
    </section>
  );
}

type LinesProps = {
  caseId: string;
  kinds: string;
  advisers: readonly Adviser[];
  entries: readonly TimelineEntry[];
};

/** Hundreds of lines must not be compared each time that a panel opens, so they depend on nothing but their entries. */
function Lines({ caseId, kinds, advisers, entries }: LinesProps) {
  return useMemo(() => {
    const link: Link = (open) => to(`cases/${caseId}`, { kinds, open });
    return (
      <ol class="timeline">
        {entries.map((entry) => (
          <Entry key={`${entry.kind}-${idOf(entry)}`} entry={entry} link={link} advisers={advisers} />
        ))}
      </ol>
    );
  }, [caseId, kinds, entries, advisers]);
}

/** Returns the address that opens a record in its panel. */
type Link = (open: string) => string;

const idOf = (entry: TimelineEntry): string => entry[entry.kind]?.id ?? '';

type LineProps = {
  icon: string;
  at: string;
  title: ComponentChildren;
  href: string;
  /** Changes follow from what stands beside them, so they are less prominent. */
  isQuiet?: boolean;
  children?: ComponentChildren;
};

/** The title is the link of the whole line. */
const Line = ({ icon, at, title, href, isQuiet, children }: LineProps) => (
  <li class={isQuiet ? 'quiet-line' : undefined}>
    <span class="mark">
      <Icon name={icon} />
    </span>
    <div>
      <p class="line-head">
        <a href={href}>{title}</a>
        <small>
          <DateTime at={at} />
        </small>
      </p>
      {children}
    </div>
  </li>
);

const MESSAGES = ['email_confirmation', 'email_notification', 'sms_confirmation', 'sms_notification'] as const;

type EntryProps = { entry: TimelineEntry; link: Link; advisers: readonly Adviser[] };

function Entry({ entry, link, advisers }: EntryProps) {
  const { at, interaction, appointment, invoice, payment, change } = entry;
  if (interaction) {
    const { id, type, formatted_type, notes, sender, recipient } = interaction;
    const between = [sender && `${text.from} ${sender}`, recipient && `${text.to} ${recipient}`].filter(Boolean);
    return (
      <Line icon={type} at={at} title={formatted_type} href={link(`interaction/${id}`)}>
        {notes && <p class="notes">{notes}</p>}
        {between.length > 0 && <small>{between.join(' ')}</small>}
      </Line>
    );
  }
  if (appointment) {
    const { id, attended, cancelled, adviser_email, location, notes } = appointment;
    return (
      <Line icon="appointment" at={at} title={text.appointment} href={link(`appointment/${id}`)}>
        <p class="badges">
          {cancelled === 1 && <Badge tone="bad">{text.cancelled}</Badge>}
          {attended === 1 && <Badge tone="good">{text.attended}</Badge>}
          {MESSAGES.flatMap((name) => {
            const state = appointment[name];
            return state === null
              ? []
              : [
                  <Badge key={name} tone={state === 'failed' ? 'bad' : state === 'sent' ? 'good' : 'neutral'}>
                    {`${text.messageNames[name]}: ${text.messageStates[state]}`}
                  </Badge>,
                ];
          })}
        </p>
        {notes && <p class="notes">{notes}</p>}
        <small>{[location, `${text.with} ${adviserName(adviser_email, advisers)}`].filter(Boolean).join(' · ')}</small>
      </Line>
    );
  }
  if (invoice) {
    const { id, invoice_number, total, status, date_due } = invoice;
    return (
      <Line icon="invoice" at={at} title={text.invoice(invoice_number)} href={link(`invoice/${id}`)}>
        <p class="badges">
          <Money amount={total} /> <Badge tone={statusTone(status, date_due)}>{invoiceText.statuses[status]}</Badge>{' '}
          <small>
            {text.due} <DateTime at={date_due} show="date" />
          </small>
        </p>
      </Line>
    );
  }
  if (payment) {
    const { case_invoice_id, amount, reference, reversed_at } = payment;
    return (
      <Line icon="payment" at={at} title={text.payment} href={link(`invoice/${case_invoice_id}`)}>
        <p class="badges">
          <Money amount={amount} /> {reversed_at && <Badge tone="bad">{text.reversed}</Badge>}{' '}
          {reference && <small>{reference}</small>}
        </p>
      </Line>
    );
  }
  if (change) {
    const { id } = change;
    return (
      <Line
        icon="change"
        at={at}
        title={text.changedBy(changeName(change.type), actorName(change.actor))}
        href={link(`change/${id}`)}
        isQuiet
      />
    );
  }
  return null;
}
