import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApp, type TestCompany } from './harness/app.ts';
import { ok, refused } from './harness/assert.ts';
import type { Answer } from './harness/http.ts';

const app = await startApp();
const TAGS = '/manage/custom-tags';

const refusedTag = (answer: Promise<Answer>, code: string) => refused(answer, { tag: code });

const tagsOf = async (company: TestCompany): Promise<string[]> =>
  (await ok(company.get(TAGS))).map(({ tag }: { tag: string }) => tag);

const person = { entity_id: 'person', title: 'Mr', first_names: 'Rob', last_name: 'Roe' };

test('the default tags are listed, the same for every company', async () => {
  const [company, other] = [await app.company(), await app.company()];
  const tags: { tag: string }[] = await ok(company.get('/manage/default-tags'));
  assert.equal(tags.length, 23);
  assert.ok(tags.some(({ tag }) => tag === 'next-of-kin'));
  assert.deepEqual(
    tags,
    tags.toSorted((a, b) => (a.tag < b.tag ? -1 : 1)),
  );
  assert.deepEqual(await ok(other.get('/manage/default-tags')), tags);
});

test('a custom tag is created, listed and immediately usable', async () => {
  const company = await app.company();
  const made = await ok(company.post(TAGS, { tag: 'gold-2026' }));
  assert.deepEqual(made, { tag: 'gold-2026', created_at: '2026-06-01T09:00:00.000000Z' });
  assert.deepEqual(await tagsOf(company), ['gold-2026', 'newsletter', 'vip-client']);
  await ok(company.post(`${company.path}/address-book/entry`, { ...person, custom_tags: ['gold-2026'] }));
});

for (const tag of ['Gold', 'two words', '-gold', 'gold-', 'a--b', 'é', '', 'a_b', 'a\n']) {
  test(`${JSON.stringify(tag)} is no tag`, async () => {
    const company = await app.company();
    await refusedTag(company.post(TAGS, { tag }), 'format');
    assert.equal((await tagsOf(company)).length, 2);
  });
}

test('a tag has at most 100 characters and is required', async () => {
  const company = await app.company();
  await ok(company.post(TAGS, { tag: 'a'.repeat(100) }));
  await refusedTag(company.post(TAGS, { tag: 'a'.repeat(101) }), 'too_long');
  await refusedTag(company.post(TAGS, {}), 'required');
  await refusedTag(company.post(TAGS, { tag: null }), 'required');
  await refusedTag(company.post(TAGS, { tag: 5 }), 'type');
});

test('a tag is taken within the company, under concurrency too, and free in another', async () => {
  const [company, other] = [await app.company(), await app.company()];
  const answers = await Promise.all(Array.from({ length: 10 }, () => company.post(TAGS, { tag: 'gold' })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(9).fill(400)]);
  await refusedTag(company.post(TAGS, { tag: 'gold' }), 'taken');
  await ok(other.post(TAGS, { tag: 'gold' }));
});

test('a removed tag that is sent again for an entry that has it is ignored', async () => {
  const company = await app.company();
  const entries = `${company.path}/address-book/entry`;
  const { id } = await ok(company.post(entries, { ...person, custom_tags: ['vip-client'] }));
  const { id: other } = await ok(company.post(entries, person));
  await ok(company.delete(`${TAGS}/vip-client`));
  const custom_tags = ['newsletter', 'vip-client'];
  await ok(company.patch(`${entries}/${id}`, { ...person, custom_tags }));
  assert.deepEqual((await ok(company.get(`${entries}/${id}`))).data.custom_tags, ['vip-client', 'newsletter']);
  const refusedTag = await company.patch(`${entries}/${other}`, { ...person, custom_tags });
  assert.deepEqual(
    refusedTag.body.errors.map(({ field, code }: { field: string; code: string }) => [field, code]),
    [['custom_tags[1]', 'unknown']],
  );
  await ok(company.delete(`${entries}/${id}/custom-tags/vip-client`));
  assert.equal((await company.patch(`${entries}/${id}`, { ...person, custom_tags })).status, 400);
});

test('a removed tag can no longer be given, entries keep it, and it can be made again', async () => {
  const company = await app.company();
  const { id } = await ok(
    company.post(`${company.path}/address-book/entry`, { ...person, custom_tags: ['vip-client'] }),
  );
  const removed = await ok(company.delete(`${TAGS}/vip-client`));
  assert.deepEqual(removed, { tag: 'vip-client', removed_at: '2026-06-01T09:00:00.000000Z' });
  assert.deepEqual(await tagsOf(company), ['newsletter']);
  assert.equal((await company.delete(`${TAGS}/vip-client`)).status, 404);
  const again = await company.post(`${company.path}/address-book/entry`, { ...person, custom_tags: ['vip-client'] });
  assert.equal(again.body.errors?.[0].field, 'custom_tags[0]');
  const book: { id: string; data: { custom_tags: string[] } }[] = await ok(company.get(`${company.path}/address-book`));
  assert.deepEqual(book.find((item) => item.id === id)?.data.custom_tags, ['vip-client']);
  await ok(company.post(TAGS, { tag: 'vip-client' }));
});

test("another company's tag, an unknown one and no tag at all are 404", async () => {
  const [company, other] = [await app.company(), await app.company()];
  await ok(other.post(TAGS, { tag: 'theirs' }));
  for (const tag of ['theirs', 'nothing', 'VIP-CLIENT', '%00', 'a%20b', "'%20OR%20true--"]) {
    assert.equal((await company.delete(`${TAGS}/${tag}`)).status, 404, tag);
  }
  assert.ok((await tagsOf(other)).includes('theirs'));
  assert.equal((await tagsOf(company)).length, 2);
});
