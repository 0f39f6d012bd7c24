import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../../../http/operation/operation.ts';
import type { SecretBox } from '../../../../kernel/secret-box.ts';
import { VideoAccount, VideoAccountBody, VideoAccountRemoved } from './schema.ts';
import { connectAccount, disconnectAccount, showAccount } from './verbs.ts';

const common = {
  extension: true,
  access: 'manage',
  tag: 'Management',
  path: '/manage/advisers/{adviserId}/video-account',
  params: { adviserId: 'adviser' },
} as const;

export function videoAccountRoutes(app: FastifyInstance, services: Services, secrets: SecretBox | undefined): void {
  registerOperation(app, services, {
    ...common,
    id: 'getVideoAccount',
    method: 'GET',
    summary: "Get an adviser's video account",
    description: 'Without its secret, which nobody is shown. Also of a removed adviser.',
    response: VideoAccount,
    handle: (context, { adviserId }) => showAccount(context, adviserId),
  });

  registerOperation(app, services, {
    ...common,
    id: 'connectVideoAccount',
    method: 'PUT',
    summary: "Connect an adviser's video account",
    description:
      'Takes the place of another one: upcoming meetings are removed there and made here. The same account with other ' +
      'credentials keeps its meetings, and those that were given up are tried again.',
    body: VideoAccountBody,
    response: VideoAccount,
    handle: (context, { adviserId }, form) => connectAccount(context, adviserId, form, secrets),
  });

  registerOperation(app, services, {
    ...common,
    id: 'disconnectVideoAccount',
    method: 'DELETE',
    summary: "Disconnect an adviser's video account",
    description: 'Upcoming meetings are removed with it, and then its secret is forgotten. Also of a removed adviser.',
    response: VideoAccountRemoved,
    handle: (context, { adviserId }) => disconnectAccount(context, adviserId),
  });
}
