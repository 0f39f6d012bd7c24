import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { startApp } from './harness/app.ts';

const app = await startApp();
test('keyed conflicts', async () => {
  const company = await app.company();
  const counts: Record<string, number> = {};
  const path = `${company.path}/interactions`;
  const first = await company.post(path, { type: 'phone' });
  const taken = await company.send('PUT', `${path}/${first.body.id}/external-id`, { external_id: 'taken' });
  if (taken.status !== 200) throw new Error(taken.text);
  const others = await Promise.all(Array.from({ length: 8 }, () => company.post(path, { type: 'phone' })));
  for (let i = 0; i < 150; i++) {
    await Promise.all(
      others.map(async ({ body }) => {
        const answer = await company.send(
          'PUT',
          `${path}/${body.id}/external-id`,
          { external_id: 'taken' },
          { 'idempotency-key': randomUUID() },
        );
        const k = `${answer.status} ${answer.body.code}`;
        counts[k] = (counts[k] ?? 0) + 1;
      }),
    );
  }
  console.log(counts);
});
