import assert from 'node:assert/strict';
import { startApp, type TestCompany } from './app.ts';

export const app = await startApp();

export const plain = (path: string) => app.anonymous.get(path, { 'content-type': undefined });

/* ---- metrics ---- */

export type Sample = { name: string; labels: Record<string, string>; value: number };

const SAMPLE = /^([a-z_:][a-z0-9_:]*)(?:\{(.*)\})? (-?(?:[\d.]+(?:e[+-]?\d+)?|Inf)|\+Inf|nan)$/i;

export function parse(text: string): Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', inside = '', value = ''] = SAMPLE.exec(line) ?? assert.fail(`not a sample: ${line}`);
      const labels = [...inside.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)].map(([, key, label]) => [key, label]);
      return { name, labels: Object.fromEntries(labels), value: Number(value.replace('Inf', 'Infinity')) };
    });
}

export async function scrape(): Promise<Sample[]> {
  const answer = await plain('/metrics');
  assert.equal(answer.status, 200, answer.text);
  return parse(answer.text);
}

export function sum(samples: Sample[], name: string, labels: Record<string, string> = {}): number {
  return samples
    .filter((sample) => sample.name === name && Object.entries(labels).every(([key, v]) => sample.labels[key] === v))
    .reduce((total, { value }) => total + value, 0);
}

export const bookingFor = (company: TestCompany, start: string) => ({
  adviser_email: company.adviser,
  start_time: `${start} 09:00:00`,
  end_time: `${start} 10:00:00`,
  email_recipient: company.customers[0].email,
  sms_recipient: company.customers[0].phone,
});
