import { reencryptAccounts } from '../cases/appointments/meetings/accounts/verbs.ts';
import { reencryptCodeSecrets } from '../company/credentials/factors/code-secrets.ts';
import { SecretBox } from '../kernel/secret-box.ts';
import { systemClock } from '../kernel/time/time.ts';
import { reencryptSecrets } from '../webhooks/endpoints/secrets.ts';
import type { Command } from './command.ts';
import { withDatabase } from './database.ts';

export const commands: Command[] = [
  {
    name: 'secrets reencrypt',
    summary: 'Re-encrypt the secrets of video accounts, webhooks and one-time codes under the current SECRETS_KEY',
    description:
      'Run it after putting a new key in front of SECRETS_KEY. It covers all companies and encrypts under the first ' +
      'key; keep the older keys in SECRETS_KEY until it has finished. ' +
      'Exit code 1 if some secrets cannot be decrypted with any of the keys.',
    examples: ['secrets reencrypt', 'secrets reencrypt --json'],
    run: ({ config, terminal }) =>
      withDatabase({ config, terminal }, async (db) => {
        const secretBox = new SecretBox(config.SECRETS_KEY ?? []);
        terminal.showProgress('Re-encrypting the secrets of video accounts …');
        const video = await reencryptAccounts({ db }, secretBox);
        terminal.showProgress('Re-encrypting the secrets of webhooks …');
        const webhooks = await reencryptSecrets({ db, clock: systemClock }, secretBox);
        terminal.showProgress('Re-encrypting the secrets of one-time codes …');
        const codes = await reencryptCodeSecrets({ db }, secretBox);
        const counts = {
          accounts: video.accounts,
          webhook_secrets: webhooks.secrets,
          one_time_codes: codes.secrets,
          reencrypted: video.reencrypted + webhooks.reencrypted + codes.reencrypted,
          undecryptable: video.undecryptable + webhooks.undecryptable + codes.undecryptable,
        };
        return { json: JSON.stringify(counts), failed: counts.undecryptable > 0 };
      }),
  },
];
