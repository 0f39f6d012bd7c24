import { CaseRecordsError } from '@case-records/client';
import { signal } from '@preact/signals';
import { createCall, type Methods, toMethods } from '../../packages/client/src/calls.ts';
import { pause } from '../../packages/client/src/retry-policy.ts';
import { fetchTransport } from '../../packages/client/src/transport.ts';
import { exactDecimals } from './exact-decimals.ts';

/** The console knows its address only from that of its script, because a proxy may serve it under any path. */
export const CONSOLE_URL = new URL('.', import.meta.url);
export const SERVICE_URL = new URL('..', import.meta.url);

/** Whether the last request found no service. */
export const isOffline = signal(false);
/** Whether the service has refused the session. Everything that was typed is kept for the next one. */
export const hasSessionEnded = signal(false);
/** Whether the service has refused a request because the person signed in too long ago. */
export const needsRecentSignIn = signal(false);

const TIMEOUT_MS = 20_000;
const RETRIES = 2;

const fetchExactly: typeof fetch = async (url, init) => {
  let response: Response;
  try {
    response = await fetch(url, init);
  } catch (error) {
    if (!init?.signal?.aborted) isOffline.value = true;
    throw error;
  }
  isOffline.value = false;
  if (response.status === 401) hasSessionEnded.value = true;
  if (response.status === 403 && (await response.clone().text()).includes('"recent_sign_in_required"')) {
    needsRecentSignIn.value = true;
  }
  if (!response.headers.get('content-type')?.startsWith('application/json')) return response;
  return new Response(exactDecimals(await response.text()), response);
};

/** The client without what only programs need: tokens, the HTTP client of Node, and checks of its options. */
const connect = (isBackground: boolean): Service =>
  toMethods(
    createCall({
      base: SERVICE_URL,
      transport: fetchTransport(fetchExactly),
      isBackground,
      retries: RETRIES,
      timeoutMs: TIMEOUT_MS,
      pause,
      now: Date.now,
    }),
  );

export type Service = Methods;

/** The only way to the service. Amounts in its answers are text with all decimals, whatever their types say. */
export const service = connect(false);

/** The same for what the page requests by itself, which does not keep the session of a person who has left. */
export const background = connect(true);

/** Whether a write may have been performed although it has failed. It is repeated with the same key. */
export const isUncertain = (error: unknown): boolean =>
  error instanceof CaseRecordsError &&
  (error.code === 'request_in_progress' || !(error.status && error.status >= 400 && error.status < 500));
