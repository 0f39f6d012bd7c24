import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { app, openConsole, skip } from '../test/harness/console.ts';
import { createConsoleCompany } from '../test/harness/console-company.ts';
import { signIn } from '../test/harness/people.ts';

/** Writes docs/console: every screen in light, dark and phone width. `npm run console:pictures` runs it. */

const folder = new URL('../docs/console/', import.meta.url);

const VARIANTS = [
  { name: 'light', width: 1280, height: 860, theme: 'light' },
  { name: 'dark', width: 1280, height: 860, theme: 'dark' },
  { name: 'phone', width: 390, height: 844, theme: 'light' },
] as const;

test('pictures', { skip }, async () => {
  mkdirSync(folder, { recursive: true });
  const company = await createConsoleCompany(app);
  const person = await signIn(app, company);
  await app.sql('UPDATE users SET name = $1 WHERE id = $2', ['Nina Harrow', person.userId]);
  const screens = [
    ['today', ''],
    ['cases', '/cases'],
    ['new-case', '/cases?open=new'],
    ['case', `/cases/${company.showcaseId}`],
    ['address-book', `/cases/${company.showcaseId}?show=people`],
    ['log-a-contact', `/cases/${company.showcaseId}?open=interaction/new`],
    ['book-an-appointment', `/cases/${company.showcaseId}?open=appointment/new`],
    ['new-invoice', `/cases/${company.showcaseId}?open=invoice/new`],
    ['settings-company', '/settings/company'],
    ['settings-users', '/settings/users?open=user/new'],
    ['settings-advisers', '/settings/advisers'],
    ['settings-lists', '/settings/lists'],
    ['settings-messages', '/settings/messages/reminder'],
    ['settings-keys', '/settings/keys?open=key/new'],
    ['settings-webhooks', '/settings/webhooks?open=endpoint/new'],
    ['settings-events', '/settings/events'],
    ['settings-account', '/settings/account'],
  ] as const;
  for (const { name: variant, ...size } of VARIANTS) {
    const page = await openConsole(company, '', { ...size, person });
    for (const [screen, address] of screens) {
      await page.goto(new URL(`/console${address}`, page.url()).href);
      await page.locator('main h1').waitFor();
      await page.waitForLoadState('networkidle');
      await page.screenshot({ path: new URL(`${screen}-${variant}.png`, folder).pathname });
    }
    await page.context().close();
  }
});
