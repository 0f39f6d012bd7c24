import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after } from 'node:test';
import { pino } from 'pino';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import type { Role } from '../../src/company/credentials/users/roles.ts';
import { indexChanges } from '../../src/search/indexer.ts';
import { startApp, type TestCompany } from './app.ts';
import { ok } from './assert.ts';
import { findChromium } from './browser.ts';
import { type Person, SESSION_COOKIE, signIn } from './people.ts';
import { until } from './until.ts';
import { secrets } from './webhook-worker.ts';

/** The console in a real Chromium, on the real service and database. One browser and one service serve all its tests. */

const chromiumPath = findChromium();
export const skip = chromiumPath === undefined && 'Chromium is not installed: test/slow/packages.sh installs it';

/** Longer than a loaded machine needs. */
const MAX_WAIT_MS = 60_000;
/** Neither a graphics process nor the software that stands in for a card. */
const WITHOUT_GRAPHICS = ['--disable-gpu', '--in-process-gpu', '--disable-software-rasterizer'];
const START_ARGUMENTS = ['--no-sandbox', '--disable-dev-shm-usage', ...WITHOUT_GRAPHICS];

export const app = await startApp({ secrets, allowPrivateAddresses: true });
/** The address that browsers open: sessions need a name of the machine itself. */
export const site = app.baseUrl.replace('127.0.0.1', 'localhost');

const browser: Promise<Browser> | undefined = chromiumPath
  ? chromium.launch({ executablePath: chromiumPath, args: START_ARGUMENTS })
  : undefined;
after(async () => (await browser)?.close());

/** A page with what its console and its policy reported, and requests to other hosts. */
export type ConsolePage = Page & { complaints: string[] };

export type PageOptions = {
  width?: number;
  height?: number;
  theme?: 'light' | 'dark';
  timeZone?: string;
  role?: Role;
  /** Real time, for measurements; by default the clock of the test. */
  isTimed?: boolean;
  /** Somebody who has signed in before; by default a new person with the role. Nobody: `null`. */
  person?: Person | null;
};

/** Opens an address below `/console` in a browser profile of its own. */
export async function openConsole(
  company: TestCompany,
  address: string,
  options: PageOptions = {},
): Promise<ConsolePage> {
  const { width = 1280, height = 900, theme = 'light', timeZone = 'Europe/London', role = 'owner' } = options;
  const person = options.person === undefined ? await signIn(app, company, { role }) : options.person;
  const context = await (browser as Promise<Browser>).then((started) =>
    started.newContext({
      viewport: { width, height },
      colorScheme: theme,
      timezoneId: timeZone,
      locale: 'en-GB',
      reducedMotion: 'reduce',
    }),
  );
  context.setDefaultTimeout(MAX_WAIT_MS);
  if (person) {
    await context.addCookies([
      { name: SESSION_COOKIE, value: person.secret, url: site, httpOnly: true, sameSite: 'Strict' },
    ]);
  }
  // The service runs by the clock of the test, and so does the page.
  if (!options.isTimed) await context.clock.install({ time: app.clock.read().epochMilliseconds });
  const page = Object.assign(await context.newPage(), { complaints: complaintsOf(context) });
  await page.goto(`${site}/console${address}`);
  return page;
}

/** The content security policy reports to the console, as an error. */
function complaintsOf(context: BrowserContext): string[] {
  const complaints: string[] = [];
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  context.on('weberror', (error) => complaints.push(String(error.error())));
  context.on('request', (request) => {
    if (!request.url().startsWith(`${site}/`)) complaints.push(`a request to ${request.url()}`);
  });
  return complaints;
}

/** The browser reports every refused request as an error. Those that the test provokes are named by their status. */
export function assertNoComplaints({ complaints }: ConsolePage, ...expectedStatuses: number[]): void {
  const unexpected = complaints.filter(
    (text) => !expectedStatuses.some((status) => text.includes(`the server responded with a status of ${status} `)),
  );
  assert.deepEqual(unexpected, []);
}

const logger = pino({ level: 'silent' });

/**
 * Does what a worker does every second, until a search finds so many records. Once is not enough: a change is indexed when
 * the transactions that run beside it have ended.
 */
export async function indexUntilFound(company: TestCompany, q: string, hits: number): Promise<void> {
  await until(async () => {
    await indexChanges({ db: app.db, clock: app.clock.read, logger });
    return (await ok(company.get(`/search?q=${q}&limit=50`))).hits.length >= hits;
  }, `${hits} hits for ${q}`);
}

/** Repeats the assertion until it holds: the page follows an input or an answer a moment later. */
export async function eventually(assertion: () => Promise<void>): Promise<void> {
  let failure: unknown;
  const holds = () =>
    assertion().then(
      () => true,
      (error) => {
        failure = error;
        return false;
      },
    );
  await until(holds, () => String(failure));
}

const MAX_STEPS = 60;

/** Lets the time of the page pass until it shows something: the pauses between retries or polls. */
export async function passTimeUntil(page: Page, shown: Locator): Promise<void> {
  for (let step = 0; step < MAX_STEPS && !(await shown.isVisible()); step++) await page.clock.runFor(1_000);
  await shown.waitFor();
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type AxeResults = { violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[] };

/** Checks the page as it is against WCAG 2.2 AA, with axe. */
export async function assertAccessible(page: Page, place: string): Promise<void> {
  // The policy forbids scripts of tests in the page, but not what the debugger evaluates.
  await page.evaluate(`window.axe ?? (() => { ${axeSource} })()`);
  const { violations } = await page.evaluate<AxeResults>(
    `window.axe.run(document, { resultTypes: ['violations'],
       runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })`,
  );
  const faults = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${place}: ${id}: ${html.slice(0, 200)}: ${failureSummary}`),
  );
  assert.deepEqual(faults, []);
}

/** Whether the page can only be scrolled up and down, and no card cuts its table off. */
export async function assertFits(page: Page, place: string): Promise<void> {
  const [content, width] = await page.evaluate<[number, number]>('[document.documentElement.scrollWidth, innerWidth]');
  assert.ok(content <= width, `${place}: ${content} px of content in ${width} px`);
  const tooWide = `[...document.querySelectorAll('table')].map((table) =>
    table.getBoundingClientRect().right - table.parentElement.getBoundingClientRect().right)`;
  for (const px of await page.evaluate<number[]>(tooWide))
    assert.ok(px < 1, `${place}: ${px} px of a table are cut off`);
}

const THEMES = ['light', 'dark'] as const;
const WIDTHS = [1280, 768, 320] as const;
const IS_EVERY_LOOK = process.env.EVERY_LOOK !== undefined;
/** Both themes and three widths in `npm run console:looks`; otherwise the two that differ most. */
const LOOKS = IS_EVERY_LOOK
  ? THEMES.flatMap((theme) => WIDTHS.map((width) => ({ theme, width })))
  : ([
      { theme: 'light', width: 1280 },
      { theme: 'dark', width: 320 },
    ] as const);
let checkedScreens = 0;

/** Checks the screen as it is in themes and widths. */
export async function assertAccessibleInLooks(page: Page, place: string): Promise<void> {
  // Axe takes a second of a processor, so of two looks it gets one, in turn.
  const turn = checkedScreens++ % LOOKS.length;
  for (const [i, { theme, width }] of LOOKS.entries()) {
    await page.emulateMedia({ colorScheme: theme });
    await page.setViewportSize({ width, height: 2_400 });
    // A window that is lower than the page would hide its middle behind the navigation at the edge, until it is scrolled.
    const height = await page.evaluate<number>('document.documentElement.scrollHeight');
    await page.setViewportSize({ width, height: height + 400 });
    const look = `${place} ${theme} ${width} px`;
    await assertFits(page, look);
    if (IS_EVERY_LOOK || i === turn) await assertAccessible(page, look);
  }
}

/** Opens an address and checks it in themes and widths. `isReady` waits until the screen shows what it is about. */
export async function assertAccessibleEverywhere(
  company: TestCompany,
  address: string,
  isReady: (page: Page) => Promise<unknown>,
): Promise<void> {
  const page = await openConsole(company, address);
  await isReady(page);
  await assertAccessibleInLooks(page, address);
  assertNoComplaints(page);
  await page.context().close();
}
