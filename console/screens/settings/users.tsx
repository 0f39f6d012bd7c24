import limits from 'openapi:CreateUserBody';
import type { Role, User } from '@case-records/client';
import { Field, SelectField } from '../../components/form.tsx';
import { Badge, type Tone } from '../../components/values.tsx';
import { service } from '../../service/client.ts';
import { useAdvisers } from '../../service/company-data.ts';
import type { Careful } from '../../service/form.ts';
import { signedIn } from '../../service/session.ts';
import { texts } from '../../texts.ts';
import { Actions } from './actions.tsx';
import { type RecordKind, RecordList } from './record-list.tsx';
import { ending } from './still-working.tsx';
import { text } from './texts.ts';

const ROLES = Object.entries(text.users.roles).map(([value, label]) => ({ value, label }));
const TONES: Readonly<Record<User['state'], Tone>> = { invited: 'info', active: 'good', disabled: 'neutral' };

const KIND: RecordKind<User> = {
  name: 'user',
  record: 'user',
  text: text.users,
  list: (service, query) => service.listUsers(query),
  nameTitle: texts.fields.name,
  nameOf: ({ name }) => name,
  columns: [
    { title: texts.fields.email, cell: ({ email }) => email },
    { title: texts.fields.role, cell: ({ role }) => text.users.roleNames[role] },
    {
      title: texts.fields.state,
      cell: ({ state }) => <Badge tone={TONES[state]}>{text.users.states[state]}</Badge>,
    },
  ],
  read: (service, userId) => service.getUser({ userId }),
  limits,
  toValues: (user) => ({
    ...(!user && { email: '' }),
    name: user?.name ?? '',
    role: user?.role ?? 'adviser',
    adviser_id: user?.adviser_id ?? '',
  }),
  save: (values, careful, userId) => {
    const role = values.role as Role;
    const body = { name: String(values.name), role, adviser_id: String(values.adviser_id) || null };
    return userId
      ? service.updateUser({ userId, body, ...careful })
      : service.createUser({ body: { ...body, email: String(values.email) }, ...careful });
  },
  Fields: UserFields,
  More: UserActions,
};

export const Users = () => (
  <>
    <h1>{text.pages.users}</h1>
    <RecordList kind={KIND} keys="n" />
  </>
);

function UserFields({ record }: { record: User | undefined }) {
  const advisers = useAdvisers();
  return (
    <>
      {record ? <p class="wide quiet">{record.email}</p> : <Field name="email" kind="email" autoFocus />}
      <Field name="name" autoFocus={record !== undefined} />
      <div class="wide">
        <SelectField name="role" options={ROLES} />
      </div>
      <div class="wide">
        <SelectField
          name="adviser_id"
          options={advisers.map(({ id, name }) => ({ value: id, label: name }))}
          hint={text.users.adviserHint}
        />
      </div>
    </>
  );
}

function UserActions({ record: { id: userId, state, name }, etag }: { record: User; etag: string | undefined }) {
  const isSelf = userId === signedIn.value?.user.id;
  const enable = (careful: Careful) => service.enableUser({ userId, ...careful });
  const disable = ending((input) => service.disableUser({ userId, ...input }));
  return (
    <section class="more">
      <Actions
        record="user"
        etag={etag}
        of={[
          ...(state === 'invited'
            ? [
                {
                  label: text.users.inviteAgain,
                  run: (careful: Careful) => service.inviteUserAgain({ userId, ...careful }),
                  done: text.users.invited,
                },
              ]
            : []),
          ...(state === 'active' && !isSelf
            ? [
                {
                  label: text.users.endSessions,
                  question: text.users.endSessionsQuestion(name),
                  run: (careful: Careful) => service.endUserSessions({ userId, ...careful }),
                  done: text.users.sessionsEnded,
                },
                {
                  label: text.users.resetFactors,
                  question: text.users.resetQuestion(name),
                  run: (careful: Careful) => service.resetUserFactors({ userId, ...careful }),
                  done: text.users.factorsReset,
                },
              ]
            : []),
          state === 'disabled'
            ? { label: text.enable, run: enable, done: text.enabled }
            : { label: text.disable, isDanger: true, run: disable, done: text.disabled },
        ]}
      />
      {isSelf && <p class="quiet">{text.users.isSelf}</p>}
    </section>
  );
}
