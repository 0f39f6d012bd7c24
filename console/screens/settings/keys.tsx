import keyLimits from 'openapi:ApiKeyBody';
import clientLimits from 'openapi:CreateApiClientBody';
import type { ApiClient, ApiKey } from '@case-records/client';
import type { ComponentChildren } from 'preact';
import { Field } from '../../components/form.tsx';
import { toRequestTime } from '../../components/time.ts';
import { Badge, DateTime } from '../../components/values.tsx';
import { service } from '../../service/client.ts';
import type { Careful } from '../../service/form.ts';
import { texts } from '../../texts.ts';
import { Actions } from './actions.tsx';
import { type RecordKind, RecordList } from './record-list.tsx';
import { chosenScopes, ScopeFields, scopesInWords, scopeValues } from './scopes.tsx';
import { showSecret } from './secret.tsx';
import { ending } from './still-working.tsx';
import { text } from './texts.ts';

type KeyState = keyof typeof text.keys.states;

function keyState({ revoked_at, expires_at }: ApiKey): KeyState {
  if (revoked_at) return 'revoked';
  return expires_at && Date.parse(expires_at) <= Date.now() ? 'expired' : 'active';
}

const KEYS: RecordKind<ApiKey> = {
  name: 'key',
  record: 'api_key',
  text: text.keys,
  list: (service, query) => service.listKeys(query),
  nameTitle: texts.fields.name,
  nameOf: ({ name }) => name,
  columns: [
    { title: text.lastUsed, cell: ({ last_used_at }) => (last_used_at ? <DateTime at={last_used_at} /> : text.never) },
    {
      title: texts.fields.expires_at,
      cell: ({ expires_at }) => (expires_at ? <DateTime at={expires_at} /> : text.keys.untilRevoked),
    },
    {
      title: texts.fields.state,
      cell: (key) => {
        const state = keyState(key);
        return <Badge tone={state === 'active' ? 'good' : 'neutral'}>{text.keys.states[state]}</Badge>;
      },
    },
  ],
  read: (service, keyId) => service.getKey({ keyId }),
  limits: keyLimits,
  toValues: (key) => ({ name: key?.name ?? '', expires_at: '', ...scopeValues(key?.scopes ?? []) }),
  save: async (values, careful) => {
    const { data } = await service.createKey({
      body: {
        name: String(values.name),
        scopes: chosenScopes(values),
        expires_at: values.expires_at ? toRequestTime(String(values.expires_at)) : null,
      },
      ...careful,
    });
    showSecret(text.keys.created(data.name), [text.keys.key, data.key]);
  },
  canEdit: false,
  Fields: ({ record }) =>
    record ? (
      <KeyDetails record={record} />
    ) : (
      <>
        <Field name="name" autoFocus hint={text.keys.nameHint} />
        <Field name="expires_at" kind="time" hint={text.keys.expiresHint} />
        <ScopeFields />
      </>
    ),
  More: ({ record, etag }) => {
    const { id: keyId, name } = record;
    if (keyState(record) !== 'active') return null;
    return (
      <section class="more">
        <Actions
          record="api_key"
          etag={etag}
          of={[
            {
              label: text.keys.revoke,
              isDanger: true,
              question: text.keys.revokeQuestion(name),
              run: ending((input) => service.revokeKey({ keyId, ...input })),
              done: text.keys.revoked,
            },
          ]}
        />
      </section>
    );
  },
};

function KeyDetails({ record: { name, scopes, created_at, created_by } }: { record: ApiKey }) {
  return (
    <dl class="details wide">
      <Detail name={texts.fields.name}>{name}</Detail>
      <Detail name={texts.fields.scopes}>{scopesInWords(scopes)}</Detail>
      <Detail name={text.created}>
        <DateTime at={created_at} /> {created_by && text.createdBy(created_by.name)}
      </Detail>
    </dl>
  );
}

const Detail = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

const CLIENTS: RecordKind<ApiClient> = {
  name: 'client',
  record: 'api_client',
  text: text.clients,
  list: (service, query) => service.listClients(query),
  nameTitle: texts.fields.name,
  nameOf: ({ name }) => name,
  columns: [
    { title: texts.fields.scopes, cell: ({ scopes }) => scopesInWords(scopes) },
    {
      title: texts.fields.state,
      cell: ({ disabled_at }) => (
        <Badge tone={disabled_at ? 'neutral' : 'good'}>{disabled_at ? text.isDisabled : text.isActive}</Badge>
      ),
    },
  ],
  read: (service, clientId) => service.getClient({ clientId }),
  limits: clientLimits,
  toValues: (client) => ({ name: client?.name ?? '', ...scopeValues(client?.scopes ?? []) }),
  save: async (values, careful, clientId) => {
    const body = { name: String(values.name), scopes: chosenScopes(values) };
    if (clientId) return service.updateClient({ clientId, body, ...careful });
    const { data } = await service.createClient({ body, ...careful });
    return showSecret(
      text.clients.created(data.name),
      [text.clients.id, data.id],
      [text.clients.secret, data.client_secret],
    );
  },
  Fields: () => (
    <>
      <div class="wide">
        <Field name="name" autoFocus hint={text.clients.nameHint} />
      </div>
      <ScopeFields />
    </>
  ),
  More: ({ record: { id: clientId, name, disabled_at }, etag }) => {
    const enable = (careful: Careful) => service.enableClient({ clientId, ...careful });
    const disable = ending((input) => service.disableClient({ clientId, ...input }));
    const rotate = async (careful: Careful) => {
      const { data } = await service.rotateClient({ clientId, ...careful });
      showSecret(text.clients.rotated(name), [text.clients.secret, data.client_secret]);
    };
    return (
      <section class="more">
        <p>
          {text.clients.id}: <code>{clientId}</code>
        </p>
        <Actions
          record="api_client"
          etag={etag}
          of={[
            { label: text.clients.rotate, question: text.clients.rotateQuestion, run: rotate },
            disabled_at
              ? { label: text.enable, run: enable, done: text.enabled }
              : { label: text.disable, isDanger: true, run: disable, done: text.disabled },
          ]}
        />
      </section>
    );
  },
};

export const Keys = () => (
  <>
    <h1>{text.pages.keys}</h1>
    <RecordList kind={KEYS} keys="n" />
    <RecordList kind={CLIENTS} keys="l" />
  </>
);
