import type { FastifyInstance } from 'fastify';
import { registerOperation, type Services } from '../../../../http/operation/operation.ts';
import type { SecretBox } from '../../../../kernel/secret-box.ts';
import { VideoAccount, VideoAccountBody, VideoAccountRemoved } from './schema.ts';
import { connectAccount, disconnectAccount, readAccount } from './verbs.ts';

const common = {
  extension: true,
  access: 'manage',
  tag: 'Video accounts',
  path: '/manage/advisers/{adviserId}/video-account',
  params: { adviserId: 'adviser' },
} as const;

export function videoAccountRoutes(app: FastifyInstance, services: Services, secrets: SecretBox | undefined): void {
  registerOperation(app, services, {
    ...common,
    id: 'getVideoAccount',
    method: 'GET',
    summary: "Get an adviser's video account",
    description: 'Without its secret, which is never shown. Works for a removed adviser too.',
    response: VideoAccount,
    handle: (context, { adviserId }) => readAccount(context, adviserId),
  });

  registerOperation(app, services, {
    ...common,
    needsRecentSignIn: true,
    id: 'connectVideoAccount',
    method: 'PUT',
    summary: "Connect an adviser's video account",
    description:
      'Replaces a previous account: upcoming meetings are removed there and created here. If it is the same account ' +
      'with new credentials, its meetings stay, and failed ones are tried again.',
    body: VideoAccountBody,
    response: VideoAccount,
    handle: (context, { adviserId }, form) => connectAccount(context, adviserId, form, secrets),
  });

  registerOperation(app, services, {
    ...common,
    id: 'disconnectVideoAccount',
    method: 'DELETE',
    summary: "Disconnect an adviser's video account",
    description:
      'Removes upcoming meetings at the provider and then deletes the secret. Works for a removed adviser too.',
    response: VideoAccountRemoved,
    handle: (context, { adviserId }) => disconnectAccount(context, adviserId),
  });
}
