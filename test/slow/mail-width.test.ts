import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { renderEmail } from '../../src/cases/appointments/messages/templates/render.ts';
import { Browser, findChromium } from '../harness/browser.ts';
import { MAILS } from '../harness/gallery-messages.ts';

/** The HTML part of mails in a real Chromium. */

const chromium = findChromium();
const skip = chromium ? false : 'There is no Chromium: test/slow/packages.sh installs it.';

let browser: Browser;
before(() => {
  if (chromium) browser = new Browser(chromium);
});
after(() => browser?.close());

for (const width of [320, 360, 800]) {
  test(`no mail scrolls sideways on a screen of ${width} pixels, and nothing is fetched`, { skip }, async () => {
    const page = await browser.newPage({ width, height: 640 });
    for (const { name, message } of MAILS) {
      const { html } = renderEmail(message);
      await page.open(`data:text/html;charset=utf-8;base64,${Buffer.from(html).toString('base64')}`);
      const needed = await page.evaluate<number>('document.documentElement.scrollWidth');
      assert.ok(needed <= width, `${name} needs ${needed} pixels`);
      const size = await page.evaluate<number>('parseFloat(getComputedStyle(document.querySelector("p")).fontSize)');
      assert.equal(size, 16, name);
    }
    assert.deepEqual(
      page.requests.filter(({ url }) => !url.startsWith('data:')),
      [],
    );
  });
}
