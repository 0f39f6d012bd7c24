import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { emailSender } from '../src/cases/appointments/messages/email.ts';
import type { OutgoingMessage } from '../src/cases/appointments/messages/message.ts';
import { smsOutboxSender } from '../src/cases/appointments/messages/sms.ts';
import { splitSegments } from '../src/cases/appointments/messages/sms-segments.ts';
import { renderEmail } from '../src/cases/appointments/messages/templates/render.ts';
import { Browser, findChromium } from '../test/harness/browser.ts';
import { readCalendarFile } from '../test/harness/calendar-file.ts';
import { MAILS, TEXT_MESSAGES } from '../test/harness/gallery-messages.ts';
import { readMail } from '../test/harness/mail-server.ts';

/**
 * Writes docs/message-gallery.md: every message as the senders compose it, with pictures of the mails in Chromium and
 * the calendar files as two independent parsers read them. With --check it only compares the text.
 */

const PAGE = new URL('../docs/message-gallery.md', import.meta.url);
const PICTURES = new URL('../docs/message-gallery/', import.meta.url);
const NOW = Temporal.Instant.from('2026-06-01T09:00:00Z');
/** A phone, and the window of a mail program. */
const WIDTHS = [360, 800];

const INTRODUCTION = `# Message gallery

Every message that clients get, as the service sends it. \`npm run messages:gallery\` writes this page and its pictures,
and \`npm run check\` compares the text. [Messages](messages.md) describes when they are sent.

The pictures show the HTML part on a phone, 360 pixels wide, and in a window of 800 pixels. The appointment is on Monday
29 June 2026, 14:30 to 15:30 in London, unless the message says otherwise.
`;

const outbox = await mkdtemp(join(tmpdir(), 'gallery-'));
const neverAborted = new AbortController().signal;
const senders = {
  email: emailSender({ smtpUrl: undefined, from: 'no-reply@service.example', domain: 'service.example', outbox }),
  sms: smsOutboxSender(outbox),
};

/** Sends the message to an outbox and returns the file. */
async function compose(message: OutgoingMessage): Promise<string> {
  const { providerId } = await senders[message.channel].send(message, NOW, neverAborted);
  return readFile(join(outbox, providerId ?? ''), 'utf8');
}

const fenced = (text: string) => `\`\`\`text\n${text.replaceAll('\r\n', '\n').trimEnd()}\n\`\`\`\n`;
const row = (...cells: string[]) =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ↵ ')).join(' | ')} |`;

const pictureOf = (name: string, width: number) => `${name}-${width}.png`;

type Mail = { name: string; html: string; section: string };

async function describeMail({ name, title, note, message }: (typeof MAILS)[number]): Promise<Mail> {
  const { headers, parts } = readMail(await compose(message));
  const { 'text/plain': text = '', 'text/html': html = '', 'text/calendar': calendar } = parts;
  const shownHeaders = Object.entries({ From: headers.from, 'Reply-To': headers['reply-to'] });
  const head = shownHeaders.filter(([, value]) => value !== undefined).map(([header, value]) => `${header}: ${value}`);
  const pictures = WIDTHS.map(
    (width) => `![${title}, ${width} pixels wide](message-gallery/${pictureOf(name, width)})`,
  );
  const section = [
    `### ${title}\n`,
    `${note}\n`,
    fenced([...head, `Subject: ${renderEmail(message).subject}`].join('\n')),
    `${pictures.join('\n')}\n`,
    'The text part:\n',
    fenced(text),
    calendar === undefined ? 'The mail has no calendar file.\n' : describeCalendar(calendar),
  ].join('\n');
  return { name, html, section };
}

function describeCalendar(file: string): string {
  assert.ok(file.endsWith('END:VCALENDAR\r\n') && !/[^\r]\n/.test(file), 'each line ends with CR LF');
  const rows = Object.entries(readCalendarFile(file)).map(([field, value]) => row(field, value));
  return [
    'The calendar file, as ical.js and node-ical read it:\n',
    row('Field', 'Value'),
    '|---|---|',
    ...rows,
    '',
  ].join('\n');
}

async function describeSms({ title, note, message }: (typeof TEXT_MESSAGES)[number]): Promise<string> {
  const sms = JSON.parse(await compose(message));
  const { encoding, texts } = splitSegments(sms.text);
  assert.equal(texts.length, sms.segments);
  const name = { gsm7: 'GSM-7', ucs2: 'UCS-2' }[encoding];
  const size = `${texts.length} ${texts.length === 1 ? 'segment' : 'segments'}, ${name}, ${sms.text.length} characters`;
  return [`### SMS: ${title.toLowerCase()}\n`, `${note} ${size}:\n`, fenced(texts.join('\n'))].join('\n');
}

async function takePictures(mails: Mail[]): Promise<void> {
  const chromium = findChromium();
  if (!chromium) throw new Error('There is no Chromium: test/slow/packages.sh installs it.');
  await rm(PICTURES, { recursive: true, force: true });
  await mkdir(PICTURES);
  const browser = new Browser(chromium);
  try {
    for (const width of WIDTHS) {
      const page = await browser.newPage({ width, height: 600 });
      for (const { name, html } of mails) {
        await page.open(`data:text/html;base64,${Buffer.from(html).toString('base64')}`);
        const height = await page.evaluate<number>('Math.ceil(document.body.getBoundingClientRect().height)');
        const options = {
          format: 'png',
          captureBeyondViewport: true,
          clip: { x: 0, y: 0, width, height, scale: 1 },
        };
        const { data } = await page.send<{ data: string }>('Page.captureScreenshot', options);
        await writeFile(new URL(pictureOf(name, width), PICTURES), Buffer.from(data, 'base64'));
      }
    }
  } finally {
    await browser.close();
  }
}

async function isUpToDate(page: string, mails: Mail[]): Promise<boolean> {
  const pictures = await readdir(PICTURES);
  const expected = mails.flatMap(({ name }) => WIDTHS.map((width) => pictureOf(name, width)));
  return (await readFile(PAGE, 'utf8')) === page && expected.sort().join() === pictures.sort().join();
}

try {
  const mails: Mail[] = [];
  for (const mail of MAILS) mails.push(await describeMail(mail));
  const textMessages: string[] = [];
  for (const sms of TEXT_MESSAGES) textMessages.push(await describeSms(sms));
  const page = [
    INTRODUCTION,
    '## Mails\n',
    ...mails.map(({ section }) => section),
    '## SMS\n',
    'Each line is one segment.\n',
    ...textMessages,
  ].join('\n');
  if (!process.argv.includes('--check')) {
    await takePictures(mails);
    await writeFile(PAGE, page);
  } else if (await isUpToDate(page, mails)) {
    console.log(`Message gallery: ${mails.length + textMessages.length} messages, up to date.`);
  } else {
    console.error('docs/message-gallery.md is out of date: run `npm run messages:gallery`.');
    process.exitCode = 1;
  }
} finally {
  await rm(outbox, { recursive: true, force: true });
}
