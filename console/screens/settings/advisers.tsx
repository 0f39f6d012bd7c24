import limits from 'openapi:CreateAdviserBody';
import videoLimits from 'openapi:VideoAccountBody';
import type { Adviser } from '@case-records/client';
import { Button } from '../../components/button.tsx';
import { CheckField, Field, Form } from '../../components/form.tsx';
import { report } from '../../components/toast.tsx';
import { Badge } from '../../components/values.tsx';
import { go, place, withQuery } from '../../navigation/place.ts';
import { service } from '../../service/client.ts';
import { type Careful, useForm } from '../../service/form.ts';
import { useLoaded } from '../../service/loading.ts';
import { texts } from '../../texts.ts';
import { Actions } from './actions.tsx';
import { type RecordKind, RecordList } from './record-list.tsx';
import { text } from './texts.ts';

const provider = (adviser: Adviser) => text.advisers.providers[adviser.video_provider ?? 'none'];

const KIND: RecordKind<Adviser> = {
  name: 'adviser',
  record: 'adviser',
  text: text.advisers,
  list: (service, query, removed) => service.listAdvisers({ ...query, ...(removed && { removed }) }),
  nameTitle: texts.fields.name,
  nameOf: ({ name }) => name,
  columns: [
    { title: texts.fields.email, cell: ({ email }) => email },
    { title: texts.fields.video_provider, cell: provider },
    {
      title: texts.fields.state,
      cell: ({ active }) => (
        <Badge tone={active ? 'good' : 'neutral'}>{active ? text.advisers.active : text.advisers.inactive}</Badge>
      ),
    },
  ],
  read: (service, adviserId) => service.getAdviser({ adviserId }),
  limits,
  toValues: (adviser) => ({
    name: adviser?.name ?? '',
    email: adviser?.email ?? '',
    active: adviser?.active ?? true,
  }),
  save: ({ name, email, active }, careful, adviserId) => {
    const body = { name: String(name), email: String(email), active: active === true };
    return adviserId
      ? service.updateAdviser({ adviserId, body, ...careful })
      : service.createAdviser({ body, ...careful });
  },
  Fields: () => (
    <>
      <Field name="name" autoFocus />
      <Field name="email" kind="email" hint={text.advisers.emailHint} />
      <div class="wide">
        <CheckField name="active" hint={text.advisers.activeHint} />
      </div>
    </>
  ),
  More: VideoAccount,
  remove: (adviserId, careful) => service.removeAdviser({ adviserId, ...careful }),
  restore: (adviserId, careful) => service.restoreAdviser({ adviserId, ...careful }),
};

export const Advisers = () => (
  <>
    <h1>{text.pages.advisers}</h1>
    <RecordList kind={KIND} keys="n" />
  </>
);

/** Where the video meetings of an adviser come from. */
function VideoAccount({ record: adviser, etag }: { record: Adviser; etag: string | undefined }) {
  const { id: adviserId, video_provider } = adviser;
  // Read after the adviser has changed, never beside: an account that was disconnected meanwhile is not there.
  const account = useLoaded(
    video_provider === 'zoom' ? `settings/video/${adviserId}/${etag}` : undefined,
    async (signal, service) => (await service.getVideoAccount({ adviserId, signal })).data,
  ).data;
  const isConnecting = place.value.query.get('video') === 'zoom';
  const connectJitsi = (careful: Careful) =>
    service.connectVideoAccount({ adviserId, body: { provider: 'jitsi' }, ...careful });
  const disconnect = (careful: Careful) => service.disconnectVideoAccount({ adviserId, ...careful });
  return (
    <section class="more">
      <h3>{texts.fields.video_provider}</h3>
      <p>{account ? text.advisers.zoomOf(account.user ?? '') : provider(adviser)}</p>
      {isConnecting ? (
        <ZoomForm adviserId={adviserId} />
      ) : (
        <>
          <div class="row-actions">
            <Button href={withQuery({ video: 'zoom' })}>
              {video_provider === 'zoom' ? text.advisers.changeZoom : text.advisers.connectZoom}
            </Button>
          </div>
          <Actions
            record="adviser"
            etag={etag}
            of={[
              ...(video_provider === null
                ? [
                    {
                      label: text.advisers.connectJitsi,
                      run: connectJitsi,
                      done: text.advisers.connected,
                    },
                  ]
                : []),
              ...(video_provider !== null
                ? [
                    {
                      label: text.advisers.disconnect,
                      ...(video_provider === 'zoom' && { question: text.advisers.disconnectQuestion, isDanger: true }),
                      run: disconnect,
                      done: text.advisers.disconnected,
                    },
                  ]
                : []),
            ]}
          />
        </>
      )}
    </section>
  );
}

const ZOOM_FIELDS = ['account_id', 'client_id', 'client_secret', 'user'] as const;
const zoomLimits = Object.fromEntries(
  ZOOM_FIELDS.map((name) => [name, { ...videoLimits[name], required: true as const }]),
);

function ZoomForm({ adviserId }: { adviserId: string }) {
  const close = () => go(withQuery({ video: undefined }), { replace: true });
  const form = useForm({
    draft: `video/${adviserId}`,
    initial: { account_id: '', client_id: '', client_secret: '', user: '' },
    secrets: ['client_secret'],
    send: async (values, careful) => {
      const fields = Object.fromEntries(ZOOM_FIELDS.map((name) => [name, String(values[name] ?? '').trim() || null]));
      await service.connectVideoAccount({ adviserId, body: { provider: 'zoom', ...fields }, ...careful });
    },
    onSent: () => {
      report({ record: 'adviser', caseId: null }, text.advisers.connected);
      close();
    },
  });
  return (
    <div class="inner-form">
      <Form form={form} limits={zoomLimits} onCancel={close} submitLabel={text.advisers.connect}>
        <p class="wide quiet">{text.advisers.zoomHint}</p>
        {ZOOM_FIELDS.map((name) => (
          <Field
            key={name}
            name={name}
            autoFocus={name === 'account_id'}
            {...(name === 'client_secret' && { hint: text.advisers.secretHint })}
            {...(name === 'user' && { hint: text.advisers.userHint })}
          />
        ))}
      </Form>
    </div>
  );
}
