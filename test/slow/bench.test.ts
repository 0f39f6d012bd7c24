import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { firstDifference, shapeOf } from '../../bench/equivalence.ts';
import { OPERATIONS } from '../../bench/operations.ts';
import { drawChart } from '../../bench/report/chart.ts';
import type { Report } from '../../bench/report/report.ts';
import { temporaryDirectory } from '../harness/service.ts';

/** The benchmark runs and measures what it says. The times are not checked, because they depend on the machine. */

const MAIN = new URL('../../bench/main.ts', import.meta.url).pathname;
const { path: folder, remove } = await temporaryDirectory();
after(remove);

async function bench(...args: string[]): Promise<string> {
  const tiny = ['--cases', '4', '--rounds', '1', '--seconds', '0.2', '--warm-up', '0.05', '--connections', '4'];
  const out = join(folder, 'report.json');
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...tiny, '--out', out, ...args]);
  return stdout;
}

test('every operation is measured on the service and on the baseline', async () => {
  const printed = await bench();
  const report: Report = JSON.parse(await readFile(join(folder, 'report.json'), 'utf8'));
  assert.deepEqual(
    report.operations.map(({ id }) => id),
    OPERATIONS.map(({ id }) => id),
  );
  for (const { name, kind, service, baseline, ratio, change } of report.operations) {
    assert.ok(service.requests > 0 && baseline.requests > 0, `${name} was not measured`);
    assert.ok(ratio.min > 0 && ratio.min <= ratio.median && ratio.median <= ratio.max, name);
    // A write must change something, and a list must not.
    assert.equal(Object.keys(change).length > 0, kind === 'write', name);
    assert.ok(printed.includes(name), `${name} is not in the table`);
  }
  assert.deepEqual(report.operations.find(({ id }) => id === 'createCaseAppointment')?.change, {
    appointments: 1,
    appointments_left: 1,
    appointment_versions: 1,
    messages: 2,
    messages_scheduled: 2,
  });
  const drawn = drawChart(report);
  for (const { name } of report.operations) assert.ok(drawn.includes(`>${name}</text>`), `${name} is not in the chart`);
});

test('an unknown operation ends the run with a line that names those there are', async () => {
  await assert.rejects(bench('--only', 'getCase'), /getCaseInteractions.*not getCase\b/);
});

test('answers count as equal if their keys and the types of their values are', () => {
  const answer = { id: 'a', total: 1, items: [{ id: 'b', paid_at: null }] };
  const differ = (other: unknown) => firstDifference(shapeOf(answer), shapeOf(other), 'answer');
  assert.equal(differ({ ...answer, id: 'c', total: 2 }), undefined);
  assert.equal(differ({ ...answer, total: '1' }), 'answer.total: "number" and "string"');
  assert.equal(differ({ id: 'a', total: 1 }), 'answer.items: [{"id":"string","paid_at":"null"}] and undefined');
  assert.equal(differ({ ...answer, items: [{ id: 'b' }] }), 'answer.items.0.paid_at: "null" and undefined');
  assert.equal(differ({ ...answer, more: true }), 'answer.more: undefined and "boolean"');
});
