import { DESCENDANT_KINDS, EndCredentialQuery } from '../company/credentials/descendants.schema.ts';
import { type Delivery, linkAddress } from '../company/credentials/links/verbs.ts';
import { withSecret } from '../company/credentials/secrets.ts';
import { SessionsEnded } from '../company/credentials/sessions/schema.ts';
import { endSessionsOfUser } from '../company/credentials/sessions/verbs.ts';
import { CreateUserBody, UserBody, UserDisabled, UserList, UserRecord } from '../company/credentials/users/schema.ts';
import {
  createUser,
  disableUser,
  enableUser,
  type InvitedUser,
  inviteUserAgain,
  listUsers,
  resetUserFactors,
  showUser,
  updateUser,
} from '../company/credentials/users/verbs.ts';
import { type Config, siteUrl } from '../config.ts';
import { Type } from '../kernel/validation/type.ts';
import type { Command, Flags, FlagValues } from './command.ts';
import { findUserId } from './lookup.ts';
import { companyCommand, companyListCommand } from './records.ts';

const EXAMPLE = 'olivia@company.example';
const target = { argument: 'user' };

const LINK_FLAG: Flags = {
  'print-link': { type: 'boolean', description: 'Prints the link instead of mailing it.' },
};
const UserWithLink = Type.Object({
  ...UserRecord.properties,
  link: Type.Optional(Type.String({ description: 'Works once, and for 72 hours.' })),
});

const deliveryOf = (flags: FlagValues): Delivery => (flags['print-link'] === true ? 'print' : 'mail');

function withLink({ record, secret }: InvitedUser, config: Config): string {
  if (secret === undefined) return record;
  return withSecret(record, 'link', linkAddress(siteUrl(config), secret));
}

export const commands: Command[] = [
  companyCommand(
    {
      name: 'user invite',
      resultSchema: UserWithLink,
      summary: 'Invite a person',
      description:
        'The worker mails the link. "--print-link" prints it instead: pass it on, it works once, for 72 hours.',
      flags: LINK_FLAG,
      body: CreateUserBody,
      examples: [
        `user invite --email ${EXAMPLE} --name "Olivia Owner" --role owner`,
        `user invite --email ${EXAMPLE} --name "Olivia Owner" --role owner --print-link --only link`,
      ],
    },
    async (context, { form, flags, config }) => withLink(await createUser(context, form, deliveryOf(flags)), config),
  ),
  companyListCommand(
    {
      name: 'user list',
      resultSchema: UserList,
      summary: 'List users',
      columns: ['id', 'email', 'name', 'role', 'state', 'created_by'],
      examples: ['user list'],
    },
    listUsers,
  ),
  companyCommand(
    {
      ...target,
      name: 'user show',
      resultSchema: UserRecord,
      summary: 'Show a user',
      examples: [`user show ${EXAMPLE}`],
    },
    async (context, { argument }) => showUser(context, await findUserId(context, argument)),
  ),
  companyCommand(
    {
      ...target,
      name: 'user update',
      resultSchema: UserRecord,
      summary: 'Change the name, the role or the adviser of a user',
      description: 'Fields that are not given keep their values.',
      body: UserBody,
      examples: [`user update ${EXAMPLE} --role reader`],
    },
    async (context, { argument, form }) => updateUser(context, await findUserId(context, argument), form),
  ),
  companyCommand(
    {
      ...target,
      name: 'user invite-again',
      resultSchema: UserWithLink,
      summary: 'Send another invitation to a user who cannot sign in yet',
      flags: LINK_FLAG,
      examples: [`user invite-again ${EXAMPLE}`, `user invite-again ${EXAMPLE} --print-link`],
    },
    async (context, { argument, flags, config }) =>
      withLink(await inviteUserAgain(context, await findUserId(context, argument), deliveryOf(flags)), config),
  ),
  companyCommand(
    {
      ...target,
      name: 'user reset-factors',
      resultSchema: UserWithLink,
      summary: 'Remove all ways to sign in of a user who has lost them, and send an invitation',
      description: 'Also the way back for the last owner of a company.',
      flags: LINK_FLAG,
      examples: [`user reset-factors ${EXAMPLE}`, `user reset-factors ${EXAMPLE} --print-link`],
    },
    async (context, { argument, flags, config }) =>
      withLink(await resetUserFactors(context, await findUserId(context, argument), deliveryOf(flags)), config),
  ),
  companyCommand(
    {
      ...target,
      name: 'user end-sessions',
      resultSchema: SessionsEnded,
      summary: 'Sign a user out everywhere',
      description: 'The user can sign in again.',
      examples: [`user end-sessions ${EXAMPLE}`],
    },
    async (context, { argument }) => endSessionsOfUser(context, await findUserId(context, argument)),
  ),
  companyCommand(
    {
      ...target,
      name: 'user disable',
      resultSchema: UserDisabled,
      summary: 'Disable a user',
      description: 'Lists what the user created that still works. "credential end" ends all of it.',
      body: EndCredentialQuery,
      all: { also: DESCENDANT_KINDS },
      examples: [`user disable ${EXAMPLE}`, `user disable ${EXAMPLE} --also keys,clients`],
    },
    async (context, { argument, form }) => disableUser(context, await findUserId(context, argument), form),
  ),
  companyCommand(
    {
      ...target,
      name: 'user enable',
      resultSchema: UserRecord,
      summary: 'Enable a user again',
      examples: [`user enable ${EXAMPLE}`],
    },
    async (context, { argument }) => enableUser(context, await findUserId(context, argument)),
  ),
];
