import type { Customer } from '@case-records/client';
import { CheckField, Field, type Option, useFormContext } from '../../components/form.tsx';
import type { Form, Values } from '../../service/form.ts';
import { company } from '../../service/session.ts';
import { personName } from '../person-name.ts';
import { instantOf, instantsOf, type Span, wallOf } from './axis.ts';
import { instantText, timeText } from './diary-data.ts';
import { CHANNELS, type Notice, type Plan } from './notices.ts';
import { noticeText, text } from './texts.ts';

/** What the forms of an appointment share: its times, the recipients, and what saving sends. */

const EDGES = ['start', 'end'] as const;
type Edge = (typeof EDGES)[number];

/** The values of the times. A wall time that the clocks repeat needs a word on which of the two it is. */
export const timeValues = (span: Span | undefined): Values =>
  Object.fromEntries(
    EDGES.flatMap((edge): [string, string | boolean][] => {
      if (!span) return [[`${edge}_time`, '']];
      const wall = wallOf(span[edge], company.value.timeZone);
      const isSecond = (instantsOf(wall, company.value.timeZone)[1] ?? Infinity) <= span[edge];
      return [
        [`${edge}_time`, wall],
        [`${edge}_second`, isSecond],
      ];
    }),
  );

export function instantOfValue(values: Values, edge: Edge): number {
  const wall = String(values[`${edge}_time`] ?? '');
  const [, second] = instantsOf(wall, company.value.timeZone);
  return values[`${edge}_second`] && second !== undefined ? second : instantOf(wall, company.value.timeZone);
}

/** The time for a request. In UTC, because wall time cannot name the second of two. */
export function requestTime(values: Values, edge: Edge): string {
  const at = instantOfValue(values, edge);
  return Number.isNaN(at) ? '' : new Date(at).toISOString();
}

const DEFAULT_MS = 60 * 60_000;

/** A form whose end moves along with the start. */
export function withDuration(form: Form): Form {
  const set: Form['set'] = (name, value) => {
    const before = form.values.value;
    form.set(name, value);
    if (!name.startsWith('start_')) return;
    const values = form.values.value;
    const start = instantOfValue(values, 'start');
    const endBefore = instantOfValue(before, 'end');
    const end = Number.isNaN(endBefore) ? start + DEFAULT_MS : start + endBefore - instantOfValue(before, 'start');
    if (end > start) form.replace({ ...values, ...pick(timeValues({ start, end }), 'end_time', 'end_second') });
  };
  return { ...form, set };
}

const pick = (values: Values, ...names: string[]): Values =>
  Object.fromEntries(names.map((name) => [name, values[name] ?? '']));

export const TimeFields = () => (
  <>
    {EDGES.map((edge) => (
      <TimeField key={edge} edge={edge} />
    ))}
  </>
);

/** A wall time of the company. It says if the clocks skip it, and asks which one if they repeat it. */
function TimeField({ edge }: { edge: Edge }) {
  const { form } = useFormContext();
  const values = form.values.value;
  const { timeZone } = company.value;
  const wall = String(values[`${edge}_time`] ?? '');
  const found = instantsOf(wall, timeZone);
  const after = instantOf(wall, timeZone);
  const gap = found.length === 0 && !Number.isNaN(after) ? text.gap(timeText(after)) : undefined;
  return (
    <div>
      <Field name={`${edge}_time`} kind="time" isRequired {...(gap && { hint: gap })} />
      {found.length > 1 && <CheckField name={`${edge}_second`} label={text.second(timeText(found[1] as number))} />}
    </div>
  );
}

/** What the messages of the appointment depend on, as the form has it. */
export const planOf = (values: Values, isCancelled: boolean): Plan => ({
  start: instantOfValue(values, 'start'),
  end: instantOfValue(values, 'end'),
  location: String(values.location ?? ''),
  isCancelled,
  recipient: { email: String(values.email_recipient ?? ''), sms: String(values.sms_recipient ?? '').trim() },
  reminder: { email: values.email_notification === true, sms: values.sms_notification === true },
});

export const confirmOf = (values: Values) => ({
  email: values.email_confirmation === true,
  sms: values.sms_confirmation === true,
});

/** The clients of a case who have an email address. */
export const emailOptions = (customers: readonly Customer[]): Option[] =>
  customers.flatMap((customer) =>
    customer.email ? [{ value: customer.email, label: `${personName(customer)}, ${customer.email}` }] : [],
  );

export const MessageChecks = ({ labels }: { labels?: Readonly<Record<'email' | 'sms', string>> }) => (
  <>
    {CHANNELS.map((channel) => (
      <div key={channel} class="diary-checks">
        <CheckField name={`${channel}_confirmation`} {...(labels && { label: labels[channel] })} />
        <CheckField name={`${channel}_notification`} />
      </div>
    ))}
  </>
);

/** What a change will send, before it is saved. */
export function Notices({ title, notices }: { title: string; notices: readonly Notice[] }) {
  const lines = [...new Map(notices.map((notice) => [noticeText(notice, instantText), notice])).entries()];
  return (
    <section class="diary-notices wide" aria-label={title} aria-live="polite">
      <h3>{title}</h3>
      <ul>
        {lines.map(([line, { kind }]) => (
          <li key={line} class={kind === 'not_told' || kind === 'no_recipient' ? 'is-warning' : ''}>
            {line}
          </li>
        ))}
      </ul>
    </section>
  );
}
