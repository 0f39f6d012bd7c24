import paymentLimits from 'openapi:PaymentBody';
import type { Invoice, Payment } from '@case-records/client';
import { Button } from '../../components/button.tsx';
import { Panel } from '../../components/dialog.tsx';
import { Field, Form } from '../../components/form.tsx';
import { isZero } from '../../components/money.ts';
import { Loaded } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { toRequestTime } from '../../components/time.ts';
import { toast } from '../../components/toast.tsx';
import { Badge, DateTime, Day, Money } from '../../components/values.tsx';
import { go, place, withQuery } from '../../navigation/place.ts';
import { service } from '../../service/client.ts';
import { messageOf } from '../../service/faults.ts';
import { announce, ofCase } from '../../service/following.ts';
import { useForm } from '../../service/form.ts';
import { useLoaded } from '../../service/loading.ts';
import { company, may } from '../../service/session.ts';
import { texts } from '../../texts.ts';
import type { PanelProps } from './case-panel.tsx';
import { invoiceTone } from './invoice-status.ts';
import { text } from './texts.ts';

/** An invoice with its items and payments, and what can be done with it. */
export function InvoicePanel({ overview: { id: caseId }, onClose, id }: PanelProps & { id: string }) {
  const found = useLoaded(
    `invoice/${id}`,
    async (signal, service) => {
      const [invoice, payments] = await Promise.all([
        service.readInvoice({ caseId, invoiceId: id, signal }),
        service.listPayments({ caseId, invoiceId: id, signal }),
      ]);
      return { invoice: invoice.data as Invoice, payments: payments.data };
    },
    ofCase(caseId),
  );
  const number = found.data?.invoice.invoice_number ?? '';
  return (
    <Panel title={text.invoice(number)} onClose={onClose}>
      <Loaded of={found}>{(shown) => <InvoiceDetails caseId={caseId} {...shown} />}</Loaded>
    </Panel>
  );
}

type DetailsProps = { caseId: string; invoice: Invoice; payments: readonly Payment[] };

function InvoiceDetails({ caseId, invoice, payments }: DetailsProps) {
  const { id, status, outstanding, items } = invoice;
  const mayWrite = may('invoices:write');
  const isPaying = place.value.query.get('pay') === '1';
  return (
    <div class="invoice">
      <p class="badges">
        <Badge tone={invoiceTone(status)}>{status}</Badge>
        <small>{invoice.recipients_name}</small>
      </p>
      <dl class="sums">
        {(
          [
            [text.dated, <Day key="date" day={invoice.date_created} />],
            [text.due, <DateTime key="due" at={invoice.date_due} show="date" />],
            [text.sent, invoice.date_sent ? <DateTime key="sent" at={invoice.date_sent} show="date" /> : text.notSent],
            [text.total, <Money key="total" amount={invoice.total} />],
            [text.paid, <Money key="paid" amount={invoice.paid} />],
            [text.open, <Money key="open" amount={outstanding} />],
          ] as const
        ).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {mayWrite && <Actions caseId={caseId} invoice={invoice} payments={payments} />}
      {isPaying && mayWrite && !isZero(outstanding) && <PaymentForm caseId={caseId} invoice={invoice} />}
      <h3>{text.items}</h3>
      {items.length === 0 ? (
        <p class="quiet">{text.noItems}</p>
      ) : (
        <Table
          caption={text.items}
          rows={items}
          keyOf={(item) => item.id}
          columns={[
            { title: texts.fields.description, cell: (item) => item.description },
            { title: texts.fields.quantity, cell: (item) => item.quantity, isNumber: true },
            { title: texts.fields.rate, cell: (item) => <Money amount={item.rate} />, isNumber: true },
            { title: texts.fields.amount, cell: (item) => <Money amount={item.amount} />, isNumber: true },
          ]}
        />
      )}
      <h3>{text.payments}</h3>
      {payments.length === 0 ? (
        <p class="quiet">{text.noPayments}</p>
      ) : (
        <Table
          caption={text.payments}
          rows={payments}
          keyOf={(payment) => payment.id}
          columns={[
            { title: texts.fields.paid_at, cell: ({ paid_at }) => <DateTime at={paid_at} show="date" /> },
            { title: texts.fields.amount, cell: ({ amount }) => <Money amount={amount} />, isNumber: true },
            { title: texts.fields.reference, cell: ({ reference }) => reference ?? '–' },
            {
              title: text.reverse,
              cell: ({ id: paymentId, reversed_at }) =>
                reversed_at ? (
                  <Badge tone="bad">{text.reversed}</Badge>
                ) : mayWrite ? (
                  <Button
                    kind="danger"
                    onClick={() =>
                      act(caseId, text.paymentReversed, () =>
                        service.reversePayment({ caseId, invoiceId: id, paymentId }),
                      )
                    }
                  >
                    {text.reverse}
                  </Button>
                ) : null,
            },
          ]}
        />
      )}
    </div>
  );
}

/** Does something with an invoice, tells so, and tells what went wrong otherwise. */
async function act(caseId: string, done: string, work: () => Promise<unknown>, undo?: () => Promise<unknown>) {
  try {
    await work();
    announce({ record: 'invoice', caseId });
    toast(
      done,
      undo &&
        (async () => {
          await undo();
          announce({ record: 'invoice', caseId });
        }),
    );
  } catch (error) {
    toast(messageOf(error));
  }
}

function Actions({ caseId, invoice: { id: invoiceId, status, outstanding } }: DetailsProps) {
  const target = { caseId, invoiceId };
  const isCancelled = status === 'Cancelled';
  const cancel = () =>
    act(
      caseId,
      text.invoiceCancelled,
      () => service.cancelInvoice(target),
      () => service.reinstateInvoice(target),
    );
  return (
    <div class="actions">
      {!isZero(outstanding) && (
        <Button kind="primary" onClick={() => go(withQuery({ pay: '1' }), { replace: true })}>
          {text.recordPayment}
        </Button>
      )}
      {!isCancelled && (
        <Button onClick={() => act(caseId, text.markedSent, () => service.markInvoiceSent(target))}>
          {text.markSent}
        </Button>
      )}
      <Button href={withQuery({ open: `invoice/${invoiceId}/edit`, pay: undefined })}>{texts.edit}</Button>
      <Button onClick={() => print()}>{text.print}</Button>
      {isCancelled ? (
        <Button onClick={() => act(caseId, text.reinstated, () => service.reinstateInvoice(target))}>
          {text.reinstate}
        </Button>
      ) : (
        status === 'Not Paid' && (
          <Button kind="danger" onClick={cancel}>
            {text.cancelInvoice}
          </Button>
        )
      )}
    </div>
  );
}

function PaymentForm({ caseId, invoice: { id: invoiceId, outstanding } }: Pick<DetailsProps, 'caseId' | 'invoice'>) {
  const onClose = () => go(withQuery({ pay: undefined }), { replace: true });
  const form = useForm({
    draft: `payment/${invoiceId}`,
    initial: { amount: String(outstanding), paid_at: '', reference: '' },
    send: async ({ amount, paid_at, reference }, careful) => {
      const body = {
        amount: String(amount),
        paid_at: paid_at ? toRequestTime(String(paid_at)) : null,
        reference: String(reference) || null,
      };
      await service.recordPayment({ caseId, invoiceId, body, ...careful });
      announce({ record: 'invoice', caseId });
      toast(text.recorded);
      onClose();
    },
  });
  return (
    <section class="payment-form" aria-label={text.recordPayment}>
      <Form form={form} limits={paymentLimits} onCancel={onClose} submitLabel={text.record}>
        <Field name="amount" kind="amount" autoFocus hint={company.value.currency ?? ''} />
        <Field name="paid_at" kind="time" hint={text.whenHint} />
        <div class="wide">
          <Field name="reference" />
        </div>
      </Form>
    </section>
  );
}
