import { VideoAccount, VideoAccountBody, VideoAccountRemoved } from '../cases/appointments/meetings/accounts/schema.ts';
import { connectAccount, disconnectAccount, reencryptAccounts } from '../cases/appointments/meetings/accounts/verbs.ts';
import type { CompanyContext } from '../company/admin-context.ts';
import {
  AdviserBody,
  AdviserList,
  AdviserRecord,
  AdviserRemoved,
  CreateAdviserBody,
} from '../company/advisers/schema.ts';
import {
  changeAdviser,
  createAdviser,
  listAdvisers,
  removeAdviser,
  restoreAdviser,
  showAdviser,
} from '../company/advisers/verbs.ts';
import { notFound } from '../kernel/errors.ts';
import { isUuid } from '../kernel/ids.ts';
import { SecretBox } from '../kernel/secret-box.ts';
import { systemClock } from '../kernel/time/time.ts';
import { readForm } from '../kernel/validation/form.ts';
import { resealSecrets } from '../webhooks/endpoints/secrets.ts';
import type { Command } from './command.ts';
import { withDatabase } from './database.ts';
import { deskCommand, deskList, idOf, REMOVED_FLAG } from './records.ts';

const one = { argument: 'adviser', description: 'The adviser is named by identifier or email.' };
const EXAMPLE = 'alex@firm.example';

export const commands: Command[] = [
  deskCommand(
    {
      name: 'adviser create',
      answer: AdviserRecord,
      summary: 'Add an adviser',
      body: CreateAdviserBody,
      examples: [`adviser create --email ${EXAMPLE} --name "Alex Adviser"`],
    },
    (desk, { form }) => createAdviser(desk, form),
  ),
  deskList(
    {
      name: 'adviser list',
      answer: AdviserList,
      summary: 'List advisers',
      columns: ['id', 'email', 'name', 'active', 'video_provider'],
      flags: REMOVED_FLAG,
      examples: ['adviser list', 'adviser list --company "Smith & Partners" --search alex'],
    },
    (desk, listing, { flags }) => listAdvisers(desk, { ...listing, removed: flags.removed === true }),
  ),
  deskCommand(
    {
      ...one,
      name: 'adviser show',
      answer: AdviserRecord,
      summary: 'Show an adviser',
      examples: [`adviser show ${EXAMPLE}`],
    },
    async (desk, { argument }) => showAdviser(desk, await find(desk, argument)),
  ),
  deskCommand(
    {
      ...one,
      name: 'adviser update',
      answer: AdviserRecord,
      summary: 'Change an adviser',
      description: `${one.description} What is not given stays as it is.`,
      body: AdviserBody,
      examples: [`adviser update ${EXAMPLE} --name "Alexandra Adviser"`],
    },
    async (desk, { argument, form }) => changeAdviser(desk, await find(desk, argument), form),
  ),
  deskCommand(
    {
      ...one,
      name: 'adviser disable',
      answer: AdviserRecord,
      summary: 'Let no new appointments be booked with an adviser',
      examples: [`adviser disable ${EXAMPLE}`],
    },
    (desk, { argument }) => activate(desk, argument, false),
  ),
  deskCommand(
    {
      ...one,
      name: 'adviser enable',
      answer: AdviserRecord,
      summary: 'Let appointments be booked with an adviser again',
      examples: [`adviser enable ${EXAMPLE}`],
    },
    (desk, { argument }) => activate(desk, argument, true),
  ),
  deskCommand(
    {
      ...one,
      name: 'adviser connect',
      answer: VideoAccount,
      summary: "Connect an adviser's video account",
      description: `${one.description} Meetings that are coming up move to it. "--client-secret -" reads the secret from standard input, so that it is in no history and no list of processes; zoom needs the setting SECRETS_KEY.`,
      body: VideoAccountBody,
      examples: [
        `adviser connect ${EXAMPLE} --provider jitsi`,
        `adviser connect ${EXAMPLE} --provider zoom --account-id aBcD --client-id eFgH --client-secret - --user ${EXAMPLE}`,
      ],
    },
    async (desk, { argument, form, config }) => {
      const adviser = await find(desk, argument);
      return connectAccount(desk, adviser, form, config.SECRETS_KEY && new SecretBox(config.SECRETS_KEY));
    },
  ),
  deskCommand(
    {
      ...one,
      name: 'adviser disconnect',
      answer: VideoAccountRemoved,
      summary: "Disconnect an adviser's video account",
      description: `${one.description} A removed one is named by identifier. Meetings that are coming up are removed with it, and then its secret is forgotten.`,
      examples: [`adviser disconnect ${EXAMPLE}`],
    },
    async (desk, { argument }) => disconnectAccount(desk, await find(desk, argument)),
  ),
  {
    name: 'adviser reseal',
    summary: "Encrypt the advisers' video secrets and those of webhooks anew, after a change of SECRETS_KEY",
    description:
      'Under the first key of SECRETS_KEY, in all companies. The old keys stand behind it until this is done. Exit code 1 when there are secrets that no key opens.',
    examples: ['adviser reseal', 'adviser reseal --json'],
    run: ({ config }) =>
      withDatabase(config, async (db) => {
        const secrets = new SecretBox(config.SECRETS_KEY ?? []);
        const [video, webhooks] = [
          await reencryptAccounts({ db }, secrets),
          await resealSecrets({ db, clock: systemClock }, secrets),
        ];
        const done = {
          accounts: video.accounts,
          webhook_secrets: webhooks.secrets,
          resealed: video.resealed + webhooks.resealed,
          closed: video.closed + webhooks.closed,
        };
        return { json: JSON.stringify(done), failed: done.closed > 0 };
      }),
  },
  deskCommand(
    {
      ...one,
      name: 'adviser remove',
      answer: AdviserRemoved,
      summary: 'Remove an adviser',
      description: `${one.description} Appointments keep what is written down in them.`,
      examples: [`adviser remove ${EXAMPLE}`],
    },
    async (desk, { argument }) => removeAdviser(desk, await find(desk, argument)),
  ),
  deskCommand(
    {
      argument: 'adviser-id',
      name: 'adviser restore',
      answer: AdviserRecord,
      summary: 'Restore a removed adviser',
      description: '"adviser list --removed" shows the identifier.',
      examples: ['adviser restore 01a1dedc-6c47-7000-b4be-5f8e3eb8d733'],
    },
    (desk, task) => restoreAdviser(desk, idOf(task, 'adviser')),
  ),
];

const activate = async (desk: CompanyContext, adviser: string, active: boolean) =>
  changeAdviser(desk, await find(desk, adviser), readForm(AdviserBody, { active }));

async function find(desk: CompanyContext, adviser: string): Promise<string> {
  if (isUuid(adviser)) return adviser;
  const { json } = await listAdvisers(desk, { search: adviser, limit: 200, offset: 0 });
  const found: { id: string; email: string }[] = JSON.parse(json);
  const match = found.find(({ email }) => email.toLowerCase() === adviser.toLowerCase());
  if (!match) throw notFound('adviser');
  return match.id;
}
