import limits from 'openapi:MessageTemplateBody';
import testLimits from 'openapi:TestMessageBody';
import { CaseRecordsError, type MessageTemplate } from '@case-records/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field, Form } from '../../components/form.tsx';
import { EmptyState, Loaded } from '../../components/states.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { report, toast } from '../../components/toast.tsx';
import { Badge, DateTime } from '../../components/values.tsx';
import { go, place, to, withQuery } from '../../navigation/place.ts';
import { service } from '../../service/client.ts';
import { messageOf } from '../../service/faults.ts';
import { ofRecords } from '../../service/following.ts';
import { type Careful, type Current, type Form as FormState, useForm, type Values } from '../../service/form.ts';
import { useLoaded } from '../../service/loading.ts';
import { signedIn } from '../../service/session.ts';
import { differingParts } from '../../service/values.ts';
import { fieldLabel } from '../../texts.ts';
import { Actions } from './actions.tsx';
import { text } from './texts.ts';

type Message = MessageTemplate['message'];

const TEXTS = ['subject', 'email_text', 'sms_text'] as const;
const isOfTemplates = ofRecords('message_template');

const COLUMNS: readonly Column<MessageTemplate>[] = [
  {
    title: text.templates.message,
    cell: ({ message }) => <a href={to(`settings/messages/${message}`)}>{text.templates.messages[message]}</a>,
  },
  { title: text.templates.when, cell: ({ message }) => text.templates.occasions[message] },
  {
    title: text.templates.words,
    cell: ({ own }) =>
      own.length > 0 ? (
        <Badge tone="info">{text.templates.own(own.map(fieldLabel).join(', '))}</Badge>
      ) : (
        <Badge>{text.templates.default}</Badge>
      ),
  },
];

/** The messages to clients, and whose words they have. */
export function Templates() {
  const found = useLoaded(
    'settings/templates',
    async (signal, service) => (await service.listMessageTemplates({ signal })).data,
    isOfTemplates,
  );
  return (
    <>
      <h1>{text.pages.templates}</h1>
      <section class="card" aria-label={text.pages.templates}>
        <p class="intro">{text.templates.hint}</p>
        <Loaded of={found}>
          {(rows) => (
            <Table caption={text.pages.templates} columns={COLUMNS} rows={rows} keyOf={(one) => one.message} />
          )}
        </Loaded>
      </section>
    </>
  );
}

/** The texts of one message, with what a client would read. */
export function Template({ params: { message = '' } }: { params: Readonly<Record<string, string>> }) {
  const isKnown = message in text.templates.messages;
  const found = useLoaded(
    isKnown ? `settings/template/${message}/edit` : undefined,
    async (signal, service) => (await service.getMessageTemplate({ message: message as Message, signal })).data,
    isOfTemplates,
  );
  if (!isKnown) return <EmptyState title={text.templates.unknown} />;
  return (
    <>
      <p class="back">
        <a href={to('settings/messages')}>{text.pages.templates}</a>
      </p>
      <h1>{text.templates.messages[message as Message]}</h1>
      <p class="quiet">{text.templates.occasions[message as Message]}</p>
      <Loaded of={found} lines={10}>
        {(template) => <Editor template={template} />}
      </Loaded>
    </>
  );
}

const toValues = (template: Record<(typeof TEXTS)[number], string>): Values =>
  Object.fromEntries(TEXTS.map((name) => [name, template[name]]));

/** The service has no tag for these texts, so what is stored is its own. */
const toCurrent = (template: MessageTemplate): Current => {
  const values = toValues(template);
  return { values, etag: JSON.stringify(values) };
};

/** A text that equals the default counts as the default. An empty one becomes it. */
const toBody = (values: Values, names: readonly string[] = TEXTS) =>
  Object.fromEntries(names.map((name) => [name, String(values[name]).trim() || null]));

const CHANGE = { record: 'message_template', caseId: null };

function Editor({ template }: { template: MessageTemplate }) {
  const { message, own, updated_at } = template;
  const current = toCurrent(template);
  const read = async () => toCurrent((await service.getMessageTemplate({ message })).data);
  const form = useForm({
    draft: `template/${message}`,
    initial: current.values,
    etag: current.etag,
    read,
    send: async (values, { idempotencyKey, ifMatch }, base) => {
      if ((await read()).etag !== ifMatch) {
        throw new CaseRecordsError({ status: 412, code: 'precondition_failed', detail: '' });
      }
      const body = toBody(values, differingParts(values, base));
      return (await service.updateMessageTemplate({ message, body, idempotencyKey })).data;
    },
    onSent: (data) => {
      form.begin(toCurrent(data));
      report(CHANGE, text.saved);
    },
  });
  const reset = async ({ idempotencyKey }: Careful) => {
    form.begin(toCurrent((await service.resetMessageTemplate({ message, idempotencyKey })).data));
  };
  const restore = async (idempotencyKey: string) => {
    const body = toBody(current.values, own);
    form.begin(toCurrent((await service.updateMessageTemplate({ message, body, idempotencyKey })).data));
  };
  return (
    <div class="template">
      <section class="card" aria-label={text.templates.texts}>
        <header>
          <h2>{text.templates.texts}</h2>
          {updated_at && (
            <small>
              {text.templates.own(own.map(fieldLabel).join(', '))}, <DateTime at={updated_at} show="date" />
            </small>
          )}
        </header>
        <Form form={form} limits={limits} onCancel={form.discard} cancelLabel={text.templates.discard}>
          <div class="wide">
            <Field name="subject" isRequired />
          </div>
          <Field name="email_text" kind="lines" isRequired />
          <Field name="sms_text" kind="lines" isRequired />
          <FieldsHelp form={form} />
        </Form>
      </section>
      <div class="stack-cards">
        <Preview message={message} form={form} />
        <div class="row-actions">
          <Button href={withQuery({ open: 'test' })}>{text.templates.test}</Button>
          {own.length > 0 && (
            <Actions
              record="message_template"
              of={[{ label: text.templates.reset, run: reset, done: text.templates.wasReset, undo: restore }]}
            />
          )}
        </div>
      </div>
      {place.value.query.get('open') === 'test' && <TestDialog message={message} values={form.values.value} />}
    </div>
  );
}

const DEBOUNCE_MS = 400;

function Preview({ message, form }: { message: Message; form: FormState }) {
  const body = JSON.stringify(toBody(form.values.value));
  const [asked, setAsked] = useState(body);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(body), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [body]);
  const found = useLoaded(
    `settings/preview/${message}/${asked}`,
    async (signal, service) => (await service.previewMessage({ message, body: JSON.parse(asked), signal })).data,
    ofRecords('company', 'message_template'),
  );
  // The last preview stays while a text is wrong.
  const last = useRef(found.data);
  if (found.data) last.current = found.data;
  const preview = last.current;
  return (
    <section class="card" aria-labelledby="preview-title">
      <header>
        <h2 id="preview-title">{text.templates.preview}</h2>
        <small>{text.templates.samples}</small>
      </header>
      <div class="preview" aria-live="polite">
        {found.error !== undefined && <p class="fault">{previewFault(found.error)}</p>}
        {preview && (
          <>
            <h3>{text.templates.mail}</h3>
            <div class="letter">
              <p>
                <strong>{preview.subject}</strong>
              </p>
              <p class="notes">{preview.email_text}</p>
            </div>
            <h3>
              {text.templates.sms} <small>{text.templates.segments(preview.sms_segments)}</small>
            </h3>
            <p class="letter notes">{preview.sms_text}</p>
          </>
        )}
      </div>
    </section>
  );
}

function previewFault(error: unknown): string {
  const { faults = [] } = error as { faults?: { field: string; message: string }[] };
  return faults.map(({ field, message }) => `${fieldLabel(field)}: ${message}`).join(' ') || messageOf(error);
}

/** What can be filled in, with what it would be. A click puts the field where the cursor was. */
function FieldsHelp({ form }: { form: FormState }) {
  const fields = useLoaded(
    'settings/template-fields',
    async (signal, service) => (await service.listMessageTemplateFields({ signal })).data,
  );
  const last = useRef<HTMLInputElement | HTMLTextAreaElement | null>(null);
  useEffect(() => {
    const onFocus = ({ target }: FocusEvent) => {
      const input = target as HTMLInputElement;
      if ((TEXTS as readonly string[]).includes(input.name)) last.current = input;
    };
    document.addEventListener('focusin', onFocus);
    return () => document.removeEventListener('focusin', onFocus);
  }, []);
  const insert = (field: string) => {
    const input = last.current ?? document.querySelector<HTMLTextAreaElement>('[name=email_text]');
    if (!input) return;
    input.setRangeText(`{{${field}}}`, input.selectionStart ?? 0, input.selectionEnd ?? 0, 'end');
    form.set(input.name, input.value);
    input.focus();
  };
  return (
    <details class="wide">
      <summary>{text.templates.fields}</summary>
      <p class="quiet">{text.templates.fieldsHint}</p>
      <Loaded of={fields}>
        {(list) => (
          <ul class="field-list">
            {list.map(({ field, description }) => (
              <li key={field}>
                <Button kind="quiet" onClick={() => insert(field)}>
                  {`{{${field}}}`}
                </Button>
                <small>{description}</small>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </details>
  );
}

function TestDialog({ message, values: texts }: { message: Message; values: Values }) {
  const close = () => go(withQuery({ open: undefined }), { replace: true });
  const form = useForm({
    draft: `template-test/${message}`,
    initial: { email: signedIn.value?.user.email ?? '', phone: '' },
    send: async ({ email, phone }, careful) => {
      const to = { email: String(email).trim() || null, phone: String(phone).trim() || null };
      await service.sendTestMessage({ message, body: { ...toBody(texts), ...to }, ...careful });
    },
    onSent: () => {
      close();
      toast(text.templates.testSent);
    },
  });
  return (
    <Dialog title={text.templates.test} onClose={close}>
      <Form form={form} limits={testLimits} onCancel={close} submitLabel={text.templates.send}>
        <p class="wide quiet">{text.templates.testHint}</p>
        <Field name="email" kind="email" autoFocus />
        <Field name="phone" kind="tel" />
      </Form>
    </Dialog>
  );
}
