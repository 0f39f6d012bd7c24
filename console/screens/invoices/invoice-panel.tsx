import paymentLimits from 'openapi:PaymentBody';
import type { Invoice, Payment } from '@case-records/client';
import { Button } from '../../components/button.tsx';
import { Panel } from '../../components/dialog.tsx';
import { Field, Form } from '../../components/form.tsx';
import { formatMoney, parseDecimal } from '../../components/money.ts';
import { Loaded } from '../../components/states.tsx';
import { toRequestTime } from '../../components/time.ts';
import { toast } from '../../components/toast.tsx';
import { Badge, DateTime, Money } from '../../components/values.tsx';
import { to } from '../../navigation/place.ts';
import { useAction } from '../../service/action.ts';
import { service } from '../../service/client.ts';
import { announce, ofCase } from '../../service/following.ts';
import { useForm } from '../../service/form.ts';
import { useLoaded } from '../../service/loading.ts';
import { company, may } from '../../service/session.ts';
import { DueDate } from './due-date.tsx';
import { statusTone } from './status.ts';
import { text } from './texts.ts';

type PanelProps = { caseId: string; invoiceId: string; onClose: () => void };
type Shown = { invoice: Invoice; etag: string | undefined; payments: Payment[] };

/** What a bookkeeper does with an invoice. Its items are in the case. */
export function InvoicePanel({ caseId, invoiceId, onClose }: PanelProps) {
  const target = { caseId, invoiceId };
  const found = useLoaded(
    `invoices/${caseId}/${invoiceId}`,
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
      <Loaded of={found} lines={6}>
        {(shown) => <InvoiceDetails caseId={caseId} shown={shown} onClose={onClose} />}
      </Loaded>
    </Panel>
  );
}

type DetailsProps = { caseId: string; shown: Shown; onClose: () => void };

function InvoiceDetails({ caseId, shown, onClose }: DetailsProps) {
  const { invoice, payments } = shown;
  const canBePaid = (parseDecimal(invoice.outstanding) ?? 0n) > 0n;
  const facts = [
    [text.due, <DueDate key="due" of={invoice} />],
    [text.sent, invoice.date_sent ? <DateTime key="sent" at={invoice.date_sent} show="date" /> : text.notSent],
    [text.total, <Money key="total" amount={invoice.total} />],
    [text.paid, <Money key="paid" amount={invoice.paid} />],
    [text.outstanding, <Money key="outstanding" amount={invoice.outstanding} />],
  ] as const;
  return (
    <>
      <div class="ledger-invoice">
        <p>
          <Badge tone={statusTone(invoice.status, invoice.date_due)}>{text.statuses[invoice.status]}</Badge>{' '}
          {invoice.recipients_name}
        </p>
        <dl class="ledger-facts">
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        {payments.length > 0 && <Payments payments={payments} />}
        <Actions caseId={caseId} shown={shown} />
      </div>
      {canBePaid && may('invoices:write') && <PaymentForm caseId={caseId} invoice={invoice} onClose={onClose} />}
    </>
  );
}

const Payments = ({ payments }: { payments: readonly Payment[] }) => (
  <section aria-label={text.payments}>
    <h3>{text.payments}</h3>
    <ul class="ledger-payments">
      {payments.map(({ id, paid_at, amount, reference, reversed_at }) => (
        <li key={id}>
          <DateTime at={paid_at} show="date" />
          <span>{reference}</span>
          {reversed_at && <Badge>{text.reversed}</Badge>}
          <Money amount={amount} />
        </li>
      ))}
    </ul>
  </section>
);

function Actions({ caseId, shown: { invoice, etag, payments } }: Omit<DetailsProps, 'onClose'>) {
  const { id: invoiceId, invoice_number: number, status } = invoice;
  const target = { caseId, invoiceId };
  const isCancelled = status === 'Cancelled';
  const action = useAction(invoiceId);
  const tellChange = () => announce({ record: 'invoice', caseId });
  // The invoice must be the one that is shown: somebody may have recorded a payment meanwhile.
  const seen = etag === undefined ? {} : { ifMatch: etag };
  const act = (write: (careful: { idempotencyKey: string; ifMatch?: string }) => Promise<unknown>, after: () => void) =>
    action.run(async (idempotencyKey) => {
      try {
        await write({ idempotencyKey, ...seen });
        after();
      } finally {
        tellChange();
      }
    });
  const markSent = () =>
    act(
      (careful) => service.markInvoiceSent({ ...target, ...careful }),
      () => toast(text.markedSent(number)),
    );
  const cancel = () =>
    act(
      (careful) => service.cancelInvoice({ ...target, ...careful }),
      () =>
        toast(text.cancelled(number), async () => {
          await service.reinstateInvoice({ ...target, idempotencyKey: crypto.randomUUID() });
          tellChange();
        }),
    );
  const reinstate = () =>
    act(
      (careful) => service.reinstateInvoice({ ...target, ...careful }),
      () => toast(text.reinstated(number)),
    );
  const mayWrite = may('invoices:write');
  const hasPayments = payments.some(({ reversed_at }) => reversed_at === null);
  return (
    <>
      {action.failure.value && (
        <p class="ledger-failure" role="alert">
          {action.failure.value}
        </p>
      )}
      <div class="actions">
        <Button href={to(`cases/${caseId}`, { open: `invoice/${invoiceId}` })}>{text.inCase}</Button>
        {mayWrite && !isCancelled && (
          <Button onClick={markSent} isBusy={action.isBusy.value}>
            {text.markSent}
          </Button>
        )}
        {mayWrite && !isCancelled && !hasPayments && (
          <Button kind="danger" onClick={cancel} isBusy={action.isBusy.value}>
            {text.cancel}
          </Button>
        )}
        {mayWrite && isCancelled && (
          <Button onClick={reinstate} isBusy={action.isBusy.value}>
            {text.reinstate}
          </Button>
        )}
      </div>
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
      const { data: payment } = await service.recordPayment({ caseId, invoiceId, body, ...careful });
      announce({ record: 'invoice', caseId });
      toast(text.recorded(formatMoney(payment.amount, currency), number), async () => {
        const undo = { caseId, invoiceId, paymentId: payment.id, idempotencyKey: crypto.randomUUID() };
        await service.reversePayment(undo);
        announce({ record: 'invoice', caseId });
      });
      onClose();
    },
  });
  return (
    <section class="ledger-payment" aria-label={text.pay}>
      <h3>{text.pay}</h3>
      <Form form={form} limits={paymentLimits} onCancel={onClose} submitLabel={text.record}>
        <Field name="amount" kind="amount" autoFocus hint={currency ?? ''} />
        <Field name="paid_at" kind="time" hint={text.whenHint} />
        <div class="wide">
          <Field name="reference" />
        </div>
      </Form>
    </section>
  );
}
