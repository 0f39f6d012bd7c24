import limits from 'openapi:CreateWebhookEndpointBody';
import replayLimits from 'openapi:ReplayWebhookEventsBody';
import rotateLimits from 'openapi:RotateWebhookSecretBody';
import type { WebhookDelivery, WebhookDeliveryWithTries, WebhookEndpoint } from '@case-records/client';
import { Button } from '../../components/button.tsx';
import { Dialog, Panel } from '../../components/dialog.tsx';
import { Field, Form } from '../../components/form.tsx';
import { Pager } from '../../components/pager.tsx';
import { EmptyState, Loaded } from '../../components/states.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { toRequestTime } from '../../components/time.ts';
import { report } from '../../components/toast.tsx';
import { Badge, DateTime, type Tone } from '../../components/values.tsx';
import { go, place, to, withQuery } from '../../navigation/place.ts';
import { service } from '../../service/client.ts';
import { announce, ofRecords } from '../../service/following.ts';
import { type Careful, useForm } from '../../service/form.ts';
import { useEntries, useLoaded } from '../../service/loading.ts';
import { texts } from '../../texts.ts';
import { Actions } from './actions.tsx';
import { type RecordKind, RecordList } from './record-list.tsx';
import { showSecret } from './secret.tsx';
import { text } from './texts.ts';

const TONES: Readonly<Record<string, Tone>> = {
  active: 'good',
  failing: 'bad',
  disabled: 'neutral',
  waiting: 'info',
  delivered: 'good',
  failed: 'bad',
  dropped: 'neutral',
};

const State = ({ state }: { state: keyof typeof text.webhooks.states }) => (
  <Badge tone={TONES[state] ?? 'neutral'}>{text.webhooks.states[state]}</Badge>
);

const KIND: RecordKind<WebhookEndpoint> = {
  name: 'endpoint',
  record: 'webhook_endpoint',
  text: text.webhooks,
  list: (service, query) => service.listWebhookEndpoints(query),
  nameTitle: texts.fields.url,
  nameOf: ({ url }) => url,
  columns: [
    { title: texts.fields.types, cell: ({ types }) => types.join(', ') },
    { title: texts.fields.state, cell: ({ state }) => <State state={state} /> },
    {
      title: text.webhooks.deliveries,
      cell: ({ id }) => <a href={to(`settings/webhooks/${id}`)}>{text.webhooks.deliveries}</a>,
    },
  ],
  read: (service, endpointId) => service.getWebhookEndpoint({ endpointId }),
  limits,
  toValues: (endpoint) => ({
    url: endpoint?.url ?? '',
    description: endpoint?.description ?? '',
    types: endpoint?.types.join('\n') ?? '*',
  }),
  save: async (values, careful, endpointId) => {
    const body = {
      url: String(values.url).trim(),
      description: String(values.description) || null,
      types: String(values.types)
        .split(/[\s,]+/)
        .filter(Boolean),
    };
    if (endpointId) return service.updateWebhookEndpoint({ endpointId, body, ...careful });
    const { data } = await service.createWebhookEndpoint({ body, ...careful });
    return showSecret(text.webhooks.created, [text.webhooks.secret, data.secret]);
  },
  Fields: () => (
    <>
      <div class="wide">
        <Field name="url" autoFocus hint={text.webhooks.urlHint} />
      </div>
      <div class="wide">
        <Field name="description" />
      </div>
      <Field name="types" kind="lines" hint={text.webhooks.typesHint} />
    </>
  ),
  More: EndpointActions,
};

export const Webhooks = () => (
  <>
    <h1>{text.pages.webhooks}</h1>
    <RecordList kind={KIND} keys="n" />
  </>
);

/** Deliveries change the state of an endpoint, so another version of it is nobody's change. */
function EndpointActions({ record, onClose }: { record: WebhookEndpoint; onClose: () => void }) {
  const { id: endpointId, url, state, state_reason, previous_secret_until } = record;
  const disable = (careful: Careful) =>
    service.updateWebhookEndpoint({ endpointId, body: { state: 'disabled' }, ...careful });
  const remove = async (careful: Careful) => {
    await service.removeWebhookEndpoint({ endpointId, ...careful });
    onClose();
  };
  const isRotating = place.value.query.get('secret') === 'rotate';
  return (
    <section class="more">
      <p>
        <State state={state} /> {state_reason}
      </p>
      {previous_secret_until && Date.parse(previous_secret_until) > Date.now() && (
        <p class="quiet">
          {text.webhooks.previousUntil} <DateTime at={previous_secret_until} />
        </p>
      )}
      <div class="row-actions">
        <Button href={to(`settings/webhooks/${endpointId}`)}>{text.webhooks.deliveries}</Button>
        <Button href={withQuery({ secret: 'rotate' })}>{text.webhooks.rotate}</Button>
      </div>
      {isRotating && <RotateDialog endpointId={endpointId} />}
      <Actions
        record="webhook_endpoint"
        of={[
          {
            label: text.webhooks.ping,
            run: ({ idempotencyKey }) => service.pingWebhookEndpoint({ endpointId, idempotencyKey }),
            done: text.webhooks.pinged,
          },
          state === 'active'
            ? { label: text.disable, run: disable, done: text.disabled }
            : {
                label: text.webhooks.resume,
                question: text.webhooks.resumeQuestion,
                run: (careful) => service.resumeWebhookEndpoint({ endpointId, ...careful }),
                done: text.webhooks.resumed,
              },
          {
            label: texts.remove,
            isDanger: true,
            question: text.webhooks.removeQuestion(url),
            run: remove,
            done: text.removed,
          },
        ]}
      />
    </section>
  );
}

function RotateDialog({ endpointId }: { endpointId: string }) {
  const close = () => go(withQuery({ secret: undefined }), { replace: true });
  const form = useForm({
    draft: `rotate/${endpointId}`,
    initial: { overlap_hours: '24' },
    send: async ({ overlap_hours }, careful) => {
      const body = { overlap_hours: String(overlap_hours).trim() || null };
      return (await service.rotateWebhookSecret({ endpointId, body, ...careful })).data;
    },
    onSent: (data) => {
      announce({ record: 'webhook_endpoint', caseId: null });
      close();
      showSecret(text.webhooks.rotated, [text.webhooks.secret, data.secret]);
    },
  });
  return (
    <Dialog title={text.webhooks.rotate} onClose={close}>
      <Form form={form} limits={rotateLimits} onCancel={close} submitLabel={text.webhooks.rotate}>
        <div class="wide">
          <Field name="overlap_hours" kind="amount" autoFocus isRequired hint={text.webhooks.overlapHint} />
        </div>
      </Form>
    </Dialog>
  );
}

const PAGE_SIZE = 50;
const STATES = ['waiting', 'delivered', 'failed', 'dropped'] as const;

const COLUMNS: readonly Column<WebhookDelivery>[] = [
  {
    title: text.webhooks.event,
    cell: ({ id, event_type }) => <a href={withQuery({ open: `delivery/${id}` })}>{event_type}</a>,
  },
  { title: texts.fields.state, cell: ({ state }) => <State state={state} /> },
  { title: text.webhooks.attempts, cell: ({ attempts }) => attempts, isNumber: true },
  { title: text.webhooks.queued, cell: ({ created_at }) => <DateTime at={created_at} /> },
  {
    title: text.webhooks.next,
    cell: ({ next_attempt_at }) => (next_attempt_at ? <DateTime at={next_attempt_at} /> : '–'),
  },
];

const closePanel = () => go(withQuery({ open: undefined }), { replace: true });
const isOfDeliveries = ofRecords('webhook_endpoint', 'webhook_delivery');

/** What was sent to one endpoint, and what became of it. */
export function Deliveries({ params: { endpointId = '' } }: { params: Readonly<Record<string, string>> }) {
  const { query } = place.value;
  const state = STATES.find((one) => one === query.get('state'));
  const endpoint = useLoaded(
    `settings/endpoint-of/${endpointId}`,
    async (signal, service) => (await service.getWebhookEndpoint({ endpointId, signal })).data,
    isOfDeliveries,
  );
  const deliveries = useEntries(
    `settings/deliveries/${endpointId}?state=${state}`,
    (page, signal, service) =>
      service.listWebhookDeliveries({ endpointId, per_page: PAGE_SIZE, ...(state && { state }), ...page, signal }),
    isOfDeliveries,
  );
  const [open, id = ''] = query.get('open')?.split('/') ?? [];
  return (
    <>
      <h1>{text.webhooks.deliveries}</h1>
      <p class="quiet">
        <a href={to('settings/webhooks', { open: `endpoint/${endpointId}` })}>
          {endpoint.data?.url ?? text.pages.webhooks}
        </a>
      </p>
      <section class="card" aria-label={text.webhooks.deliveries}>
        <header>
          <div class="chips">
            <a href={withQuery({ state: undefined })} aria-current={state === undefined || undefined}>
              {text.all}
            </a>
            {STATES.map((one) => (
              <a key={one} href={withQuery({ state: one })} aria-current={one === state || undefined}>
                {text.webhooks.states[one]}
              </a>
            ))}
          </div>
          <Actions
            record="webhook_delivery"
            of={[
              {
                label: text.webhooks.ping,
                run: ({ idempotencyKey }) => service.pingWebhookEndpoint({ endpointId, idempotencyKey }),
                done: text.webhooks.pinged,
              },
            ]}
          />
          <Button onClick={deliveries.reload}>{text.refresh}</Button>
          <Button href={withQuery({ open: 'replay' })}>{text.webhooks.replayRange}</Button>
        </header>
        <Loaded of={{ ...deliveries, data: deliveries.entries }}>
          {(entries) =>
            entries.length > 0 ? (
              <>
                <Table caption={text.webhooks.deliveries} columns={COLUMNS} rows={entries} keyOf={(one) => one.id} />
                {deliveries.hasMore && <Pager of={deliveries} />}
              </>
            ) : (
              <EmptyState title={text.webhooks.noDeliveries} />
            )
          }
        </Loaded>
      </section>
      {open === 'delivery' && <DeliveryPanel key={id} endpointId={endpointId} deliveryId={id} />}
      {open === 'replay' && <ReplayPanel endpointId={endpointId} />}
    </>
  );
}

function DeliveryPanel({ endpointId, deliveryId }: { endpointId: string; deliveryId: string }) {
  const found = useLoaded(
    `settings/delivery/${deliveryId}`,
    async (signal, service) => (await service.getWebhookDelivery({ endpointId, deliveryId, signal })).data,
    isOfDeliveries,
  );
  return (
    <Panel title={text.webhooks.delivery} onClose={closePanel}>
      <Loaded of={found}>{(delivery) => <Delivery delivery={delivery} />}</Loaded>
    </Panel>
  );
}

function Delivery({ delivery }: { delivery: WebhookDeliveryWithTries }) {
  const { id: deliveryId, endpoint_id: endpointId, event_id, event_type, state, tries } = delivery;
  return (
    <div class="stack">
      <p>
        <strong>{event_type}</strong> <State state={state} />
        <br />
        <a href={to('settings/events', { open: event_id })}>{text.webhooks.showEvent}</a>
      </p>
      {state !== 'waiting' && event_type !== 'ping' && (
        <Actions
          record="webhook_delivery"
          of={[
            {
              label: text.webhooks.replay,
              run: ({ idempotencyKey }) => service.replayWebhookDelivery({ endpointId, deliveryId, idempotencyKey }),
              done: text.webhooks.replayed(1),
            },
          ]}
        />
      )}
      <h3>{text.webhooks.attempts}</h3>
      {tries.length === 0 ? (
        <p class="quiet">{text.webhooks.noAttempts}</p>
      ) : (
        <ol class="differences">
          {tries.map(({ at, status, error, ms, answer }) => (
            <li key={at}>
              <p>
                <DateTime at={at} /> · <strong>{status ?? error}</strong> · {text.webhooks.milliseconds(ms)}
              </p>
              {answer && <pre class="answer">{answer}</pre>}
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

function ReplayPanel({ endpointId }: { endpointId: string }) {
  const form = useForm({
    draft: `replay/${endpointId}`,
    initial: { after: '', until: '', types: '' },
    send: async (values, careful) => {
      const types = String(values.types)
        .split(/[\s,]+/)
        .filter(Boolean);
      const time = (value: unknown) => (value ? toRequestTime(String(value)) : null);
      const body = { after: time(values.after), until: time(values.until), types: types.length > 0 ? types : null };
      return (await service.replayWebhookEvents({ endpointId, body, ...careful })).data;
    },
    onSent: ({ next, queued }) => {
      const change = { record: 'webhook_delivery', caseId: null };
      report(change, next ? text.webhooks.replayedSome(queued) : text.webhooks.replayed(queued));
      closePanel();
    },
  });
  return (
    <Panel title={text.webhooks.replayRange} onClose={closePanel}>
      <Form form={form} limits={replayLimits} onCancel={closePanel} submitLabel={text.webhooks.replay}>
        <p class="wide quiet">{text.webhooks.replayHint}</p>
        <Field name="after" kind="time" autoFocus />
        <Field name="until" kind="time" />
        <Field name="types" kind="lines" hint={text.webhooks.replayTypesHint} />
      </Form>
    </Panel>
  );
}
