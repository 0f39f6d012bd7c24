import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp, type TestCompany } from './harness/app.ts';

const app = await startApp();

type Event = { id: string; type: string };

/** Follows the links to the end, which a bounded number of pages must reach. */
async function readBackwards(company: TestCompany, query: string, maxPages = 50): Promise<Event[]> {
  const events: Event[] = [];
  let path: string | undefined = `/events?order=newest&${query}`;
  for (let page = 0; path && page < maxPages; page++) {
    const answer = await company.get(path);
    assert.equal(answer.status, 200, answer.text);
    events.push(...answer.body);
    path = /^<([^>]+)>; rel="next"$/.exec(String(answer.headers.link))?.[1];
  }
  assert.equal(path, undefined);
  return events;
}

const call = async (company: TestCompany, notes: string) => {
  const answer = await company.post(`${company.path}/interactions`, { type: 'phone', notes });
  assert.equal(answer.status, 200, answer.text);
};

test('the newest events come first, and the links lead back to the oldest without a gap', async () => {
  const company = await app.company();
  for (const notes of ['one', 'two', 'three', 'four']) await call(company, notes);
  const forwards: Event[] = (await company.get('/events?limit=500')).body;
  assert.ok(forwards.length >= 5);
  for (const limit of [1, 2, 500]) {
    const backwards = await readBackwards(company, `limit=${limit}`);
    assert.deepEqual(
      backwards.map(({ id }) => id),
      forwards.map(({ id }) => id).reverse(),
    );
    assert.deepEqual(backwards.at(0), forwards.at(-1));
  }
});

test('only the types that are asked for are read backwards', async () => {
  const company = await app.company();
  await call(company, 'one');
  await company.post('/manage/case-kinds', { name: 'Wills' });
  await call(company, 'two');
  const types = (await readBackwards(company, 'types=interaction.*&limit=1')).map(({ type }) => type);
  assert.deepEqual(types, ['interaction.created', 'interaction.created']);
});

test('an event that happens meanwhile moves nothing, and other companies see nothing', async () => {
  const [company, other] = [await app.company(), await app.company()];
  for (const notes of ['one', 'two']) await call(company, notes);
  const first = await company.get('/events?order=newest&limit=1');
  const next = /^<([^>]+)>/.exec(String(first.headers.link))?.[1] ?? '';
  await call(company, 'meanwhile');
  const second: Event[] = (await company.get(next)).body;
  const all: Event[] = (await company.get('/events?limit=500')).body;
  assert.equal(second[0]?.id, all.at(-3)?.id);
  assert.equal((await other.get(next)).status, 400);
});

test('a wrong order is refused, and so is `latest` together with the newest first', async () => {
  const company = await app.company();
  const faultsOf = async (query: string) => {
    const { status, body } = await company.get(`/events?${query}`);
    return [status, body.errors?.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`)];
  };
  assert.deepEqual(await faultsOf('order=sideways'), [400, ['order not_allowed']]);
  assert.deepEqual(await faultsOf('order=newest&after=latest'), [400, ['after not_allowed']]);
});
