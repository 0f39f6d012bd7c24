import paymentLimits from 'openapi:PaymentBody';
import type { Company, Invoice, Payment } from '@case-records/client';
import { Button } from '../../components/button.tsx';
import { Panel } from '../../components/dialog.tsx';
import { Field, Form } from '../../components/form.tsx';
import { formatMoney, parseDecimal } from '../../components/money.ts';
import { Loaded } from '../../components/states.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { toRequestTime } from '../../components/time.ts';
import { report, type Undo } from '../../components/toast.tsx';
import { Badge, DateTime, Day, Money } from '../../components/values.tsx';
import { useAutoFocus } from '../../navigation/focus.ts';
import { go, place, to, withQuery } from '../../navigation/place.ts';
import { type Action, useAction } from '../../service/action.ts';
import { service } from '../../service/client.ts';
import { announce, ofCase } from '../../service/following.ts';
import { type Careful, useForm } from '../../service/form.ts';
import { useLoaded } from '../../service/loading.ts';
import { company, may } from '../../service/session.ts';
import { fieldLabel, texts } from '../../texts.ts';
import { DueDate } from './due-date.tsx';
import { statusTone } from './status.ts';
import { text } from './texts.ts';

type PanelProps = { caseId: string; invoiceId: string; onClose: () => void };
type Shown = { invoice: Invoice; etag: string | undefined; payments: Payment[] };

/** An invoice with its items and payments, and what can be done with it. With `pay=1` in the address it asks for one. */
export function InvoicePanel({ caseId, invoiceId, onClose }: PanelProps) {
  const target = { caseId, invoiceId };
  const found = useLoaded(
    `invoice/${invoiceId}`,
    async (signal, service) => {
      const [invoice, payments] = await Promise.all([
        service.readInvoice({ ...target, signal }),
        service.listPayments({ ...target, signal }),
      ]);
      return { invoice: invoice.data, etag: invoice.etag, payments: payments.data };
    },
    ofCase(caseId),
  );
  const number = found.data?.invoice.invoice_number ?? '';
  return (
    <Panel title={text.invoice(number)} onClose={onClose}>
      <Loaded of={found} lines={8}>
        {(shown) => <InvoiceDetails caseId={caseId} shown={shown} onClose={onClose} />}
      </Loaded>
    </Panel>
  );
}

type DetailsProps = { caseId: string; shown: Shown; onClose: () => void };

function InvoiceDetails({ caseId, shown, onClose }: DetailsProps) {
  const { invoice, payments } = shown;
  const { id: invoiceId, items, status } = invoice;
  const action = useAction(invoiceId);
  const mayPay = may('invoices:write') && (parseDecimal(invoice.outstanding) ?? 0n) > 0n;
  const isPaying = mayPay && place.value.query.get('pay') === '1';
  const facts = [
    [text.dated, <Day key="dated" day={invoice.date_created} />],
    [text.due, <DueDate key="due" of={invoice} />],
    [text.sent, invoice.date_sent ? <DateTime key="sent" at={invoice.date_sent} show="date" /> : text.notSent],
    [text.net, <Money key="net" amount={invoice.subtotal} />],
    [text.vat, <Money key="vat" amount={invoice.vat_amount} />],
    [text.total, <Money key="total" amount={invoice.total} />],
    [text.paid, <Money key="paid" amount={invoice.paid} />],
    [text.outstanding, <Money key="outstanding" amount={invoice.outstanding} />],
  ] as const;
  return (
    <>
      <div class="ledger-invoice">
        <Letterhead />
        <p>
          <Badge tone={statusTone(status, invoice.date_due)}>{text.statuses[status]}</Badge> {invoice.recipients_name}
        </p>
        <dl class="ledger-facts">
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        <Actions caseId={caseId} shown={shown} action={action} mayPay={mayPay && !isPaying} />
      </div>
      {isPaying && <PaymentForm caseId={caseId} invoice={invoice} onClose={onClose} />}
      <div class="ledger-invoice">
        <section aria-label={text.items}>
          <h3>{text.items}</h3>
          {items.length > 0 ? (
            <Table caption={text.items} rows={items} keyOf={({ id }) => id} columns={ITEM_COLUMNS} />
          ) : (
            <p class="quiet">{text.noItems}</p>
          )}
        </section>
        {payments.length > 0 && <Payments caseId={caseId} shown={shown} action={action} />}
        {invoice.payment_terms && <p class="notes">{invoice.payment_terms}</p>}
      </div>
    </>
  );
}

const ITEM_COLUMNS: readonly Column<Invoice['items'][number]>[] = [
  { title: texts.fields.description, cell: ({ description }) => description },
  { title: texts.fields.quantity, cell: ({ quantity }) => quantity, isNumber: true },
  { title: texts.fields.rate, cell: ({ rate }) => <Money amount={rate} />, isNumber: true },
  { title: texts.fields.amount, cell: ({ amount }) => <Money amount={amount} />, isNumber: true },
];

/** Who has written the invoice, for paper only. Only an owner may read the address and the numbers. */
function Letterhead() {
  const { data } = useLoaded(
    may('manage') ? 'letterhead' : undefined,
    async (signal, service) => (await service.getCompany({ signal })).data as Company,
  );
  return (
    <address class="letterhead">
      <strong>{data?.legal_name ?? company.value.name}</strong>
      {data?.address}
      {(['company_number', 'tax_number'] as const).map(
        (name) => data?.[name] && <span key={name}>{`${fieldLabel(name)} ${data[name]}`}</span>,
      )}
    </address>
  );
}

type SectionProps = { caseId: string; shown: Shown; action: Action };

function Payments({ caseId, shown: { invoice, payments }, action }: SectionProps) {
  const reverse = (paymentId: string) =>
    action.run(async (idempotencyKey) => {
      await service.reversePayment({ caseId, invoiceId: invoice.id, paymentId, idempotencyKey });
      report({ record: 'invoice', caseId }, text.paymentReversed);
    }, paymentId);
  return (
    <section aria-label={text.payments}>
      <h3>{text.payments}</h3>
      <ul class="ledger-payments">
        {payments.map(({ id, paid_at, amount, reference, reversed_at }) => (
          <li key={id}>
            <DateTime at={paid_at} show="date" />
            <span>{reference}</span>
            <Money amount={amount} />
            {reversed_at ? (
              <Badge>{text.reversed}</Badge>
            ) : (
              may('invoices:write') && (
                <Button kind="danger" onClick={() => reverse(id)} isBusy={action.isBusy.value}>
                  {text.reverse}
                </Button>
              )
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Actions({ caseId, shown: { invoice, etag, payments }, action, mayPay }: SectionProps & { mayPay: boolean }) {
  const { id: invoiceId, invoice_number: number, status } = invoice;
  const target = { caseId, invoiceId };
  const part = useAutoFocus<HTMLElement>();
  const isCancelled = status === 'Cancelled';
  const change = { record: 'invoice', caseId };
  // The invoice must be the one that is shown: somebody may have recorded a payment meanwhile.
  const seen = etag === undefined ? {} : { ifMatch: etag };
  const act = (button: string, write: (careful: Careful) => Promise<unknown>, said: string, undo?: Undo) =>
    action.run(
      async (idempotencyKey) => {
        try {
          await write({ idempotencyKey, ...seen });
        } catch (error) {
          announce(change);
          throw error;
        }
        report(change, said, undo);
      },
      // What is pressed for another version of the invoice is another write.
      `${button} ${etag}`,
    );
  const markSent = () =>
    act('send', (careful) => service.markInvoiceSent({ ...target, ...careful }), text.markedSent(number));
  const cancel = () =>
    act(
      'cancel',
      (careful) => service.cancelInvoice({ ...target, ...careful }),
      text.cancelled(number),
      (idempotencyKey) => service.reinstateInvoice({ ...target, idempotencyKey }),
    );
  const reinstate = () =>
    act('reinstate', (careful) => service.reinstateInvoice({ ...target, ...careful }), text.reinstated(number));
  const mayWrite = may('invoices:write');
  const hasPayments = payments.some(({ reversed_at }) => reversed_at === null);
  const isInCase = place.value.path[1] === caseId;
  const isBusy = action.isBusy.value;
  return (
    <>
      {action.failure.value && (
        <p class="failure" role="alert">
          {action.failure.value}
        </p>
      )}
      <section class="actions" aria-label={text.next} ref={part}>
        {mayPay && (
          <Button kind="primary" autoFocus onClick={() => go(withQuery({ pay: '1' }), { replace: true })}>
            {text.pay}
          </Button>
        )}
        {mayWrite && !isCancelled && (
          <Button onClick={markSent} isBusy={isBusy}>
            {text.markSent}
          </Button>
        )}
        {mayWrite && may('cases:read', 'manage') && (
          <Button href={to(`cases/${caseId}`, { open: `invoice/${invoiceId}/edit` })}>{texts.edit}</Button>
        )}
        <Button onClick={() => print()}>{text.print}</Button>
        {!isInCase && may('cases:read', 'manage') && <Button href={to(`cases/${caseId}`)}>{text.inCase}</Button>}
        {mayWrite && !isCancelled && !hasPayments && (
          <Button kind="danger" onClick={cancel} isBusy={isBusy}>
            {text.cancel}
          </Button>
        )}
        {mayWrite && isCancelled && (
          <Button onClick={reinstate} isBusy={isBusy}>
            {text.reinstate}
          </Button>
        )}
      </section>
      {mayWrite && hasPayments && <small>{text.hasPayments}</small>}
    </>
  );
}

function PaymentForm({ caseId, invoice, onClose }: { caseId: string; invoice: Invoice; onClose: () => void }) {
  const { id: invoiceId, invoice_number: number, outstanding } = invoice;
  const { currency } = company.value;
  const form = useForm({
    draft: `payment/${invoiceId}`,
    initial: { amount: String(outstanding), paid_at: '', reference: '' },
    send: async ({ amount, paid_at, reference }, careful) => {
      const body = {
        amount: String(amount).trim(),
        paid_at: paid_at ? toRequestTime(String(paid_at)) : null,
        reference: String(reference) || null,
      };
      return (await service.recordPayment({ caseId, invoiceId, body, ...careful })).data;
    },
    onSent: ({ id: paymentId, amount }) => {
      report({ record: 'invoice', caseId }, text.recorded(formatMoney(amount, currency), number), (idempotencyKey) =>
        service.reversePayment({ caseId, invoiceId, paymentId, idempotencyKey }),
      );
      onClose();
    },
  });
  const onCancel = () => go(withQuery({ pay: undefined }), { replace: true });
  return (
    <section class="ledger-payment" aria-label={text.pay}>
      <h3>{text.pay}</h3>
      <Form form={form} limits={paymentLimits} onCancel={onCancel} submitLabel={text.record}>
        <Field name="amount" kind="amount" autoFocus hint={currency ?? ''} />
        <Field name="paid_at" kind="time" hint={text.whenHint} />
        <div class="wide">
          <Field name="reference" />
        </div>
      </Form>
    </section>
  );
}
