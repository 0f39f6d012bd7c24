import { VideoAccount, VideoAccountBody, VideoAccountRemoved } from '../cases/appointments/meetings/accounts/schema.ts';
import { connectAccount, disconnectAccount } from '../cases/appointments/meetings/accounts/verbs.ts';
import type { CompanyContext } from '../company/admin-context.ts';
import {
  AdviserBody,
  AdviserList,
  AdviserRecord,
  AdviserRemoved,
  CreateAdviserBody,
} from '../company/advisers/schema.ts';
import {
  createAdviser,
  listAdvisers,
  removeAdviser,
  restoreAdviser,
  showAdviser,
  updateAdviser,
} from '../company/advisers/verbs.ts';
import { SecretBox } from '../kernel/secret-box.ts';
import { readForm } from '../kernel/validation/form.ts';
import type { Command } from './command.ts';
import { findAdviserId } from './lookup.ts';
import { companyCommand, companyListCommand, REMOVED_FLAG } from './records.ts';

const target = { argument: 'adviser' };
const EXAMPLE = 'alex@company.example';

export const commands: Command[] = [
  companyCommand(
    {
      name: 'adviser create',
      resultSchema: AdviserRecord,
      summary: 'Add an adviser',
      body: CreateAdviserBody,
      examples: [`adviser create --email ${EXAMPLE} --name "Alex Adviser"`],
    },
    (context, { form }) => createAdviser(context, form),
  ),
  companyListCommand(
    {
      name: 'adviser list',
      resultSchema: AdviserList,
      summary: 'List advisers',
      columns: ['id', 'email', 'name', 'active', 'video_provider'],
      flags: REMOVED_FLAG,
      examples: ['adviser list', 'adviser list --company "Smith & Partners" --search alex'],
    },
    (context, listRequest, { flags }) => listAdvisers(context, { ...listRequest, removed: flags.removed === true }),
  ),
  companyCommand(
    {
      ...target,
      name: 'adviser show',
      resultSchema: AdviserRecord,
      summary: 'Show an adviser',
      examples: [`adviser show ${EXAMPLE}`],
    },
    async (context, { argument }) => showAdviser(context, await findAdviserId(context, argument)),
  ),
  companyCommand(
    {
      ...target,
      name: 'adviser update',
      resultSchema: AdviserRecord,
      summary: 'Change an adviser',
      description: 'Fields that are not given keep their values.',
      body: AdviserBody,
      examples: [`adviser update ${EXAMPLE} --name "Alexandra Adviser"`],
    },
    async (context, { argument, form }) => updateAdviser(context, await findAdviserId(context, argument), form),
  ),
  companyCommand(
    {
      ...target,
      name: 'adviser disable',
      resultSchema: AdviserRecord,
      summary: 'Prevent new appointments with an adviser',
      examples: [`adviser disable ${EXAMPLE}`],
    },
    (context, { argument }) => setActive(context, argument, false),
  ),
  companyCommand(
    {
      ...target,
      name: 'adviser enable',
      resultSchema: AdviserRecord,
      summary: 'Allow new appointments with an adviser again',
      examples: [`adviser enable ${EXAMPLE}`],
    },
    (context, { argument }) => setActive(context, argument, true),
  ),
  companyCommand(
    {
      ...target,
      name: 'adviser connect',
      resultSchema: VideoAccount,
      summary: "Connect an adviser's video account",
      description:
        'Upcoming meetings move to the account. "--client-secret -" reads the secret from ' +
        'standard input, which keeps it out of the shell history and the process list. ' +
        'Zoom requires the setting SECRETS_KEY.',
      body: VideoAccountBody,
      examples: [
        `adviser connect ${EXAMPLE} --provider jitsi`,
        `adviser connect ${EXAMPLE} --provider zoom --account-id aBcD --client-id eFgH --client-secret - ` +
          `--user ${EXAMPLE}`,
      ],
    },
    async (context, { argument, form, config }) => {
      const adviser = await findAdviserId(context, argument);
      return connectAccount(context, adviser, form, config.SECRETS_KEY && new SecretBox(config.SECRETS_KEY));
    },
  ),
  companyCommand(
    {
      ...target,
      name: 'adviser disconnect',
      resultSchema: VideoAccountRemoved,
      summary: "Disconnect an adviser's video account",
      description:
        'A removed adviser needs the identifier. Upcoming meetings of the account are deleted, then its secret.',
      examples: [`adviser disconnect ${EXAMPLE}`],
    },
    async (context, { argument }) => disconnectAccount(context, await findAdviserId(context, argument)),
  ),
  companyCommand(
    {
      ...target,
      name: 'adviser remove',
      resultSchema: AdviserRemoved,
      summary: 'Remove an adviser',
      description: "Existing appointments keep the adviser's details.",
      examples: [`adviser remove ${EXAMPLE}`],
    },
    async (context, { argument }) => removeAdviser(context, await findAdviserId(context, argument)),
  ),
  companyCommand(
    {
      ...target,
      name: 'adviser restore',
      resultSchema: AdviserRecord,
      summary: 'Restore a removed adviser',
      description: '"adviser list --removed" shows who can be restored.',
      examples: [`adviser restore ${EXAMPLE}`],
    },
    async (context, { argument }) => restoreAdviser(context, await findAdviserId(context, argument, { removed: true })),
  ),
];

const setActive = async (context: CompanyContext, adviser: string, active: boolean) =>
  updateAdviser(context, await findAdviserId(context, adviser), readForm(AdviserBody, { active }));
