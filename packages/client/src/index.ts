/** The public API of `@case-records/client`. */

export { createClient } from './client.ts';
export { CaseRecordsError, type ErrorCode, type Fault } from './errors.ts';
export type { PingEvent, RecordEvent, WebhookEvent } from './events.ts';
export type { Client, ClientOptions, NotModified } from './methods.ts';
export type * from './operations.ts';
export type { Answer } from './pages.ts';
export {
  type VerifiedWebhook,
  verifyWebhook,
  type WebhookErrorCode,
  type WebhookHeaders,
  type WebhookOptions,
  WebhookVerificationError,
} from './webhooks.ts';
