import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

/** Longer than a loaded machine needs for anything that a test waits for. */
const TIMEOUT_MS = 60_000;
/** The longer a test has waited, the less often it looks: polling takes time from what it waits for. */
const MIN_INTERVAL_MS = 5;
const MAX_INTERVAL_MS = 100;
const INTERVAL_SHARE = 0.05;

/** What is waited for, in words. A function is called only when the wait fails. */
type Description = string | (() => string);

const failureOf = (what: Description, timeoutMs: number): string =>
  `waited ${timeoutMs / 1_000} s in vain for ${typeof what === 'string' ? what : what()}`;

/** Waits until the condition holds and returns what it returned. Fails with the condition if it never does. */
export async function until<T>(
  condition: () => T | Promise<T>,
  what: Description = String(condition),
  timeoutMs = TIMEOUT_MS,
): Promise<NonNullable<T>> {
  const startedAt = performance.now();
  for (;;) {
    const found = await condition();
    if (found) return found;
    const waitedMs = performance.now() - startedAt;
    assert.ok(waitedMs < timeoutMs, failureOf(what, timeoutMs));
    await pause(Math.min(Math.max(MIN_INTERVAL_MS, waitedMs * INTERVAL_SHARE), MAX_INTERVAL_MS));
  }
}

/** Returns what the promise returns. Fails if that takes too long. */
export async function within<T>(promise: Promise<T>, what: Description, timeoutMs = TIMEOUT_MS): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(failureOf(what, timeoutMs))), timeoutMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
