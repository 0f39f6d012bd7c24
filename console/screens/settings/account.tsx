import type { Passkey, UserSession } from '@case-records/client';
import { Button } from '../../components/button.tsx';
import { Loaded } from '../../components/states.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Badge, DateTime } from '../../components/values.tsx';
import { service } from '../../service/client.ts';
import { ofRecords } from '../../service/following.ts';
import { useLoaded } from '../../service/loading.ts';
import { signInAgain } from '../../service/session.ts';
import { texts } from '../../texts.ts';
import { Actions } from './actions.tsx';
import { browserName } from './browser-name.ts';
import { showSecret } from './secret.tsx';
import { text } from './texts.ts';

/** What the person signs in with, and where. */
export function OwnAccount() {
  const account = useLoaded(
    'settings/account',
    async (signal, service) => (await service.getAccount({ signal })).data,
    ofRecords('user', 'account'),
  );
  const sessions = useLoaded(
    'settings/sessions',
    async (signal, service) => (await service.listOwnSessions({ signal })).data,
    ofRecords('session'),
  );
  return (
    <>
      <h1>{text.pages.account}</h1>
      <section class="card" aria-labelledby="factors-title">
        <header>
          <h2 id="factors-title">{text.account.factors}</h2>
          <Button onClick={() => signInAgain('again', 'account')}>{text.account.change}</Button>
        </header>
        <Loaded of={account}>
          {({ passkeys, password_set_at, has_one_time_codes, recovery_codes_left }) => (
            <dl class="details">
              <div>
                <dt>{text.account.passkeys}</dt>
                <dd>
                  {passkeys.length === 0 && <span class="quiet">{text.account.noPasskeys}</span>}
                  <ul>
                    {passkeys.map((passkey) => (
                      <PasskeyLine key={passkey.id} passkey={passkey} />
                    ))}
                  </ul>
                </dd>
              </div>
              <div>
                <dt>{text.account.password}</dt>
                <dd>{password_set_at ? <DateTime at={password_set_at} show="date" /> : text.account.none}</dd>
              </div>
              <div>
                <dt>{text.account.codes}</dt>
                <dd>{has_one_time_codes ? text.account.isSetUp : text.account.none}</dd>
              </div>
              <div>
                <dt>{text.account.recoveryCodes}</dt>
                <dd class="split">
                  {text.account.codesLeft(recovery_codes_left)}
                  <Actions
                    record="account"
                    of={[
                      {
                        label: text.account.newCodes,
                        question: text.account.newCodesQuestion,
                        run: async () => {
                          const { data } = await service.createRecoveryCodes();
                          showSecret(text.account.recoveryCodes, [
                            text.account.codesHint,
                            (data.recovery_codes ?? []).join('\n'),
                          ]);
                        },
                      },
                    ]}
                  />
                </dd>
              </div>
            </dl>
          )}
        </Loaded>
      </section>
      <section class="card" aria-labelledby="sessions-title">
        <header>
          <h2 id="sessions-title">{text.account.sessions}</h2>
          {(sessions.data?.length ?? 0) > 1 && (
            <Actions
              record="session"
              of={[
                {
                  label: text.account.endOthers,
                  question: text.account.endOthersQuestion,
                  run: () => service.endOtherSessions(),
                  done: text.account.othersEnded,
                },
              ]}
            />
          )}
        </header>
        <Loaded of={sessions}>
          {(rows) => <Table caption={text.account.sessions} columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />}
        </Loaded>
      </section>
    </>
  );
}

const PasskeyLine = ({ passkey: { id: passkeyId, name, created_at, last_used_at } }: { passkey: Passkey }) => (
  <li class="split">
    <span>
      {name}
      <small class="line">
        {text.account.added} <DateTime at={created_at} show="date" /> · {text.lastUsed}{' '}
        {last_used_at ? <DateTime at={last_used_at} show="date" /> : text.never}
      </small>
    </span>
    <Actions
      record="account"
      of={[
        {
          label: texts.remove,
          name: text.account.removePasskey(name),
          question: text.account.removePasskeyQuestion(name),
          isDanger: true,
          run: () => service.removePasskey({ passkeyId }),
          done: text.account.passkeyRemoved,
        },
      ]}
    />
  </li>
);

const COLUMNS: readonly Column<UserSession>[] = [
  {
    title: text.account.browser,
    cell: ({ user_agent, current }) => (
      <>
        {browserName(user_agent)} {current && <Badge tone="good">{text.account.here}</Badge>}
      </>
    ),
  },
  { title: text.account.networkAddress, cell: ({ address }) => address },
  { title: text.account.signedInAt, cell: ({ created_at }) => <DateTime at={created_at} /> },
  { title: text.account.lastSeen, cell: ({ last_seen_at }) => <DateTime at={last_seen_at} /> },
  {
    title: text.actions,
    cell: ({ id: sessionId, current, user_agent }) =>
      current ? (
        '–'
      ) : (
        <Actions
          record="session"
          of={[
            {
              label: text.account.end,
              name: text.account.endSession(browserName(user_agent)),
              run: () => service.endOwnSession({ sessionId }),
              done: text.account.sessionEnded,
            },
          ]}
        />
      ),
  },
];
