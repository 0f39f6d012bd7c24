import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSchedule, previousRun } from '../src/kernel/time/cron.ts';

const NOW = '2026-11-18T14:02:30Z';
const previous = (schedule: string, now = NOW) =>
  previousRun(parseSchedule(schedule), Temporal.Instant.from(now)).toString();

test('the last time of a schedule is found', () => {
  assert.equal(previous('0 3 * * *'), '2026-11-18T03:00:00Z');
  assert.equal(previous('30 14 * * *'), '2026-11-17T14:30:00Z');
  assert.equal(previous('*/15 * * * *'), '2026-11-18T14:00:00Z');
  assert.equal(previous('2 14 * * *'), '2026-11-18T14:02:00Z');
  assert.equal(previous('0 3 * * 7'), '2026-11-15T03:00:00Z');
  assert.equal(previous('0 3 * * 0'), '2026-11-15T03:00:00Z');
  assert.equal(previous('0 3 1,15 * *'), '2026-11-15T03:00:00Z');
  assert.equal(previous('0 3 29 2 *'), '2024-02-29T03:00:00Z');
  assert.equal(previous('0 22-23 * * *', '2026-01-01T00:00:00Z'), '2025-12-31T23:00:00Z');
});

test('with a day of the month and a day of the week, either is enough', () => {
  assert.equal(previous('0 3 1 * 1'), '2026-11-16T03:00:00Z');
  assert.equal(previous('0 3 17 * 1'), '2026-11-17T03:00:00Z');
});

test('what is no schedule, or fits no date, is refused', () => {
  for (const text of [
    '',
    'daily',
    '0 3 * *',
    '60 3 * * *',
    '0 24 * * *',
    '0 3 0 * *',
    '0 3 * * 8',
    '5-1 3 * * *',
    '*/0 * * * *',
  ]) {
    assert.throws(() => parseSchedule(text), /must (be a schedule|have five fields)/, text);
  }
  assert.throws(() => parseSchedule('0 3 31 2 *'), /must fit a date/);
});
