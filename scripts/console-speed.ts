import { test } from 'node:test';
import { app, openConsole, skip } from '../test/harness/console.ts';
import { signIn } from '../test/harness/people.ts';

/**
 * Measures a case with 2,000 entries in a Chromium that is slowed down four times: how long until it paints its first
 * content and its first entries, and how long until the browser paints the answer to a key or a press. `npm run console:speed` runs it.
 */

const ENTRIES = 2_000;
const SLOWDOWN = 4;
const ROUNDS = 7;

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
const round = (ms: number): string => `${Math.round(ms)} ms`;

test(`a case with ${ENTRIES} entries at ${SLOWDOWN} times slower`, { skip }, async () => {
  app.clock.set(new Date().toISOString());
  const company = await app.company();
  await app.sql(
    `INSERT INTO interactions (company_id, case_id, id, type, notes, recipient, happened_at, created_at, updated_at)
     SELECT $1, $2, gen_random_uuid(), 'phone', 'Rang about the will, number ' || i, '', now() - i * interval '1 hour', now(), now()
       FROM generate_series(1, $3) AS i`,
    [company.companyId, company.caseId, ENTRIES],
  );
  const person = await signIn(app, company);
  const page = await openConsole(company, `/cases/${company.caseId}`, { person, isTimed: true });
  const entry = page.locator('.timeline li').first();
  await entry.waitFor();
  const debuggerOfPage = await page.context().newCDPSession(page);
  await debuggerOfPage.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });

  // The frame after the next one has painted the first entry.
  await page.addInitScript(`
    new MutationObserver(() => {
      if (globalThis.firstEntry !== undefined || !document.querySelector('.timeline li')) return;
      requestAnimationFrame(() => setTimeout(() => { globalThis.firstEntry ??= performance.now(); }));
    }).observe(document, { childList: true, subtree: true });`);
  const paints: number[] = [];
  const loads: number[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    await page.reload();
    await entry.waitFor();
    await page.waitForFunction('globalThis.firstEntry !== undefined');
    loads.push(await page.evaluate<number>('globalThis.firstEntry'));
    paints.push(await page.evaluate<number>(`performance.getEntriesByName('first-contentful-paint')[0].startTime`));
  }

  await page.evaluate(`
    globalThis.latencies = [];
    new PerformanceObserver((list) => {
      for (const { duration, interactionId } of list.getEntries()) if (interactionId) latencies.push(duration);
    }).observe({ type: 'event', durationThreshold: 16, buffered: false })`);
  const act = async (name: string, work: () => Promise<unknown>) => {
    await page.evaluate('latencies.length = 0');
    for (let i = 0; i < ROUNDS; i++) {
      await work();
      await page.waitForTimeout(400);
    }
    const found = await page.evaluate<number[]>('latencies');
    console.log(`${name}: ${round(median(found))} median, ${round(Math.max(0, ...found))} worst`);
  };
  console.log(`first content after a reload: ${round(median(paints))} median, ${round(Math.max(...paints))} worst`);
  console.log(`first entries after a reload: ${round(median(loads))} median, ${round(Math.max(...loads))} worst`);
  await act('open and close the palette', async () => {
    await page.keyboard.press('/');
    await page.waitForTimeout(300);
    await page.keyboard.press('Escape');
  });
  await act('choose a kind', () => page.getByRole('link', { name: 'Contacts' }).click());
  await act('show more', () => page.getByRole('button', { name: 'Show more' }).click());
  await act('open a contact', async () => {
    await entry.getByRole('link').click();
    await page.waitForTimeout(300);
    await page.keyboard.press('Escape');
  });
  await page.context().close();
});
