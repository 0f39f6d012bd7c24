import type { Adviser, CaseOverview } from '@case-records/client';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { isZero } from '../../components/money.ts';
import { Loaded } from '../../components/states.tsx';
import { Badge, DateTime, Money } from '../../components/values.tsx';
import { useKeys } from '../../navigation/keys.ts';
import { go, place, withQuery } from '../../navigation/place.ts';
import { useAdvisers } from '../../service/company-data.ts';
import { ofCase } from '../../service/following.ts';
import { useLoaded } from '../../service/loading.ts';
import { may } from '../../service/session.ts';
import { texts } from '../../texts.ts';
import { text as casesText } from '../cases/texts.ts';
import { adviserName } from '../diary/diary-data.ts';
import { personName } from '../person-name.ts';
import { AddressBook } from './address-book.tsx';
import { CasePanel } from './case-panel.tsx';
import { text } from './texts.ts';
import { Timeline } from './timeline.tsx';

/** What can be added, with its key and the scope that it needs. */
const ADDITIONS = [
  { open: 'interaction/new', label: text.log, key: 'l', scope: 'interactions:write', icon: 'phone' },
  { open: 'appointment/new', label: text.book, key: 'a', scope: 'appointments:write', icon: 'appointment' },
  { open: 'invoice/new', label: text.newInvoice, key: 'i', scope: 'invoices:write', icon: 'invoice' },
  { open: 'entry/new', label: text.addPerson, key: 'p', scope: 'address_book:write', icon: 'person' },
] as const;

export function CaseScreen({ params: { caseId = '' } }: { params: Readonly<Record<string, string>> }) {
  const found = useLoaded(
    `case/${caseId}`,
    async (signal, service) => (await service.readCase({ caseId, signal })).data as CaseOverview,
    ofCase(caseId),
  );
  const advisers = useAdvisers();
  const additions = ADDITIONS.filter(({ scope }) => may(scope));
  useKeys(additions.map(({ key, label, open }) => ({ keys: key, label, run: () => go(withQuery({ open })) })));
  const showsPeople = place.value.query.get('show') === 'people';
  const { data: overview, error } = found;
  // The timeline does not wait for the case, so that both are loaded concurrently.
  if (!overview && error) return <Loaded of={found}>{() => null}</Loaded>;
  return (
    <>
      <Loaded of={found} lines={6}>
        {(shown) => <CaseHeader overview={shown} advisers={advisers} />}
      </Loaded>
      {additions.length > 0 && (
        <fieldset class="actions" aria-label={text.add}>
          {additions.map(({ open, label, icon }) => (
            <Button key={open} href={withQuery({ open })}>
              <Icon name={icon} /> {label}
            </Button>
          ))}
        </fieldset>
      )}
      <nav class="tabs" aria-label={text.views}>
        <a href={withQuery({ show: undefined })} aria-current={showsPeople ? undefined : 'page'}>
          {text.timeline}
        </a>
        {may('address_book:read') && (
          <a href={withQuery({ show: 'people', kinds: undefined })} aria-current={showsPeople ? 'page' : undefined}>
            {text.addressBook} <small>{overview?.counts.entries}</small>
          </a>
        )}
      </nav>
      {showsPeople ? <AddressBook caseId={caseId} /> : <Timeline caseId={caseId} advisers={advisers} />}
      {overview && <CasePanel overview={overview} advisers={advisers} />}
    </>
  );
}

/** What somebody who answers the phone must see first. */
function CaseHeader({ overview, advisers }: { overview: CaseOverview; advisers: readonly Adviser[] }) {
  const { reference, state, kind, customers, next_appointment, balance, opened_at, closed_at } = overview;
  const mayWrite = may('cases:write', 'manage');
  return (
    <>
      <header class="screen-header">
        <h1>{reference}</h1>
        {kind && <Badge>{kind}</Badge>}
        <Badge tone={state === 'open' ? 'good' : 'neutral'}>{casesText.states[state]}</Badge>
        {mayWrite && <Button href={withQuery({ open: 'case' })}>{texts.edit}</Button>}
      </header>
      <div class="facts">
        <section aria-label={text.clients}>
          <h2>{text.clients}</h2>
          {customers.length === 0 && <p class="quiet">{text.noClients}</p>}
          <ul>
            {customers.map((customer) => (
              <li key={customer.id}>
                <strong>
                  {mayWrite ? (
                    <a href={withQuery({ open: `customer/${customer.id}` })}>{personName(customer)}</a>
                  ) : (
                    personName(customer)
                  )}
                </strong>
                {customer.phone && <a href={`tel:${customer.phone.replaceAll(' ', '')}`}>{customer.phone}</a>}
                {customer.email && <a href={`mailto:${customer.email}`}>{customer.email}</a>}
              </li>
            ))}
          </ul>
          {mayWrite && <a href={withQuery({ open: 'customer/new' })}>{text.addClient}</a>}
        </section>
        {overview.counts.appointments !== null && (
          <section aria-label={text.nextAppointment}>
            <h2>{text.nextAppointment}</h2>
            {next_appointment ? (
              <p>
                <a class="big" href={withQuery({ open: `appointment/${next_appointment.id}` })}>
                  <DateTime at={next_appointment.start_time} />
                </a>
                <small>
                  {[next_appointment.location, adviserName(next_appointment.adviser_email, advisers)]
                    .filter(Boolean)
                    .join(' · ')}
                </small>
              </p>
            ) : (
              <p class="quiet">{text.noAppointment}</p>
            )}
          </section>
        )}
        {balance && (
          <section aria-label={text.balance}>
            <h2>{text.balance}</h2>
            {isZero(balance.outstanding) ? (
              <p class="quiet">{text.nothingOpen}</p>
            ) : (
              <p>
                <span class="big">
                  <Money amount={balance.outstanding} />
                </span>{' '}
                {text.outstanding}
                {!isZero(balance.overdue) && (
                  <small class="bad">
                    <Money amount={balance.overdue} /> {text.overdue}
                  </small>
                )}
              </p>
            )}
          </section>
        )}
        <section aria-label={text.opened}>
          <h2>{closed_at ? text.closed : text.opened}</h2>
          <p>
            <DateTime at={closed_at ?? opened_at} show="date" />
          </p>
        </section>
      </div>
    </>
  );
}
