import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

/** Longer than a loaded machine needs for anything that a test waits for. */
const TIMEOUT_MS = 60_000;
const INTERVAL_MS = 5;

/** Waits until the condition holds and returns what it returned. Fails with the condition if it never does. */
export async function until<T>(condition: () => T | Promise<T>, what = String(condition)): Promise<NonNullable<T>> {
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    const found = await condition();
    if (found) return found;
    assert.ok(performance.now() < deadline, `waited ${TIMEOUT_MS / 1_000} s in vain for ${what}`);
    await pause(INTERVAL_MS);
  }
}
