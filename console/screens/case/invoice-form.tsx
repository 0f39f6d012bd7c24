import invoiceLimits from 'openapi:CreateInvoiceBody';
import itemLimits from 'openapi:InvoiceItemBody';
import type { Invoice } from '@case-records/client';
import { Button } from '../../components/button.tsx';
import { Panel } from '../../components/dialog.tsx';
import { Field, Form } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Loaded } from '../../components/states.tsx';
import { addDays, toFieldTime, toRequestTime, wallTime } from '../../components/time.ts';
import { report } from '../../components/toast.tsx';
import { Money } from '../../components/values.tsx';
import { go, withQuery } from '../../navigation/place.ts';
import { service } from '../../service/client.ts';
import { type Current, type Form as FormState, useForm, type Values } from '../../service/form.ts';
import { useLoaded } from '../../service/loading.ts';
import { company, may } from '../../service/session.ts';
import type { PanelProps } from './case-panel.tsx';
import { countItems, itemAt, sumsOf } from './invoice-sums.ts';
import { text } from './texts.ts';

const limits = { ...itemLimits, ...invoiceLimits };
const DUE_DAYS = 30;
const DEFAULT_VAT = '20';
const EMPTY_ITEM = { description: '', quantity: '1', rate: '' };

/** Writes an invoice, or changes one with all of its items. */
export function InvoiceFormPanel({ id, ...props }: PanelProps & { id: string | undefined }) {
  const caseId = props.overview.id;
  const found = useLoaded(id && `invoice/${id}/edit`, () => readInvoice(caseId, id ?? ''));
  const number = String(found.data?.values.invoice_number ?? '');
  return (
    <Panel title={id === undefined ? text.newInvoice : text.editInvoice(number)} onClose={props.onClose}>
      {id === undefined ? (
        <InvoiceForm {...props} />
      ) : (
        <Loaded of={found}>{(current) => <InvoiceForm {...props} id={id} current={current} />}</Loaded>
      )}
    </Panel>
  );
}

async function readInvoice(caseId: string, invoiceId: string): Promise<Current> {
  const { data, etag } = await service.readInvoice({ caseId, invoiceId });
  return { values: toValues(data as Invoice), etag };
}

const toValues = (invoice: Invoice): Values => ({
  invoice_number: invoice.invoice_number,
  date_created: toFieldTime(invoice.date_created),
  date_due: wallTime(invoice.date_due, company.value.timeZone),
  vat: String(invoice.vat),
  sender_id: invoice.sender_id,
  payment_terms: invoice.payment_terms,
  ...itemValues(
    invoice.items
      .filter(({ status }) => status !== 'cancelled')
      .map(({ description, quantity, rate }) => ({ description, quantity: String(quantity), rate: String(rate) })),
  ),
});

type Items = readonly { description: string; quantity: string; rate: string }[];

const itemValues = (items: Items): Values =>
  Object.fromEntries(
    items.flatMap(({ description, quantity, rate }, row) => [
      [`items[${row}].description`, description],
      [`items[${row}].quantity`, quantity],
      [`items[${row}].rate`, rate],
    ]),
  );

function newInvoice(): Values {
  const now = wallTime(new Date().toISOString(), company.value.timeZone);
  return {
    invoice_number: '',
    date_created: now,
    date_due: `${addDays(now.slice(0, 10), DUE_DAYS)}T12:00`,
    vat: DEFAULT_VAT,
    sender_id: company.value.id,
    payment_terms: '',
    ...itemValues([EMPTY_ITEM]),
  };
}

function InvoiceForm({ overview, onClose, id, current }: PanelProps & { id?: string; current?: Current }) {
  const caseId = overview.id;
  const form = useForm({
    draft: `invoice/${id ?? `new/${caseId}`}`,
    initial: current?.values ?? newInvoice(),
    etag: current?.etag,
    ...(id && { read: () => readInvoice(caseId, id) }),
    send: async (values, careful) => {
      const body = toBody(values);
      const { data } =
        id === undefined
          ? await service.createCaseInvoice({ caseId, body, ...careful })
          : await service.updateCaseInvoice({
              caseId,
              invoiceId: id,
              body: { ...body, keep_existing_items: false },
              ...careful,
            });
      return data;
    },
    onSent: (data) => {
      report({ record: 'invoice', caseId }, id === undefined ? text.invoiceCreated(data.invoice_number) : text.saved);
      go(withQuery({ open: `invoice/${data.id}` }), { replace: true });
    },
  });
  return (
    <Form form={form} limits={limits} onCancel={onClose} mayWrite={may('invoices:write')}>
      <Field name="invoice_number" autoFocus />
      <Field name="vat" kind="amount" hint={text.vatHint} />
      <Field name="date_created" kind="time" />
      <Field name="date_due" kind="time" />
      <ItemFields form={form} />
      <div class="wide">
        <Field name="payment_terms" />
      </div>
    </Form>
  );
}

function toBody(values: Values) {
  const { amounts, net, vat, total } = sumsOf(values);
  return {
    invoice_number: String(values.invoice_number),
    sender_id: String(values.sender_id),
    date_created: toRequestTime(String(values.date_created)),
    date_due: toRequestTime(String(values.date_due)),
    vat: String(values.vat),
    sub_total: net,
    vat_amount: vat,
    total,
    ...(values.payment_terms && { payment_terms: String(values.payment_terms) }),
    items: amounts.map((amount, row) => ({ ...itemAt(values, row), amount })),
  };
}

function ItemFields({ form }: { form: FormState }) {
  form.labels.set('items', text.items);
  const values = form.values.value;
  const count = countItems(values);
  const { amounts, net, vat, total } = sumsOf(values);
  const others = Object.fromEntries(Object.entries(values).filter(([name]) => !name.startsWith('items[')));
  const items = Array.from({ length: count }, (_, row) => itemAt(values, row));
  const replaceItems = (next: Items) => form.replace({ ...others, ...itemValues(next) });
  return (
    <section class="wide items" aria-label={text.items}>
      <h3>{text.items}</h3>
      {amounts.map((amount, row) => (
        <div class="item" key={row}>
          <Field name={`items[${row}].description`} />
          <Field name={`items[${row}].quantity`} kind="amount" />
          <Field name={`items[${row}].rate`} kind="amount" />
          <Money amount={amount} />
          <button
            type="button"
            class="icon-button"
            aria-label={text.removeItem(row + 1)}
            onClick={() => replaceItems(items.toSpliced(row, 1))}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
      <Button onClick={() => replaceItems([...items, EMPTY_ITEM])}>
        <Icon name="plus" /> {text.addItem}
      </Button>
      <dl class="sums">
        <div>
          <dt>{text.net}</dt>
          <dd>
            <Money amount={net} />
          </dd>
        </div>
        <div>
          <dt>{text.vat}</dt>
          <dd>
            <Money amount={vat} />
          </dd>
        </div>
        <div>
          <dt>{text.total}</dt>
          <dd>
            <Money amount={total} />
          </dd>
        </div>
      </dl>
    </section>
  );
}
