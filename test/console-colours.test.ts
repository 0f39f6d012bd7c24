import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

/** The contrast of the colours of the console, as WCAG 2.2 computes it, in light and in dark. */

const source = readFileSync(new URL('../console/styles/tokens.css', import.meta.url), 'utf8');
const COLOUR = /--([\w-]+): light-dark\((#[\da-f]{6}), (#[\da-f]{6})\);(?: \/\* ([\d.]+), ([\d.]+) \*\/)?/g;

type Colour = { name: string; values: readonly [string, string]; noted: readonly string[] };

const colours = new Map(
  [...source.matchAll(COLOUR)].map(([, name = '', light = '', dark = '', ...noted]): [string, Colour] => [
    name,
    { name, values: [light, dark], noted: noted.filter(Boolean) },
  ]),
);

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((one, other) => one - other);
  return (light + 0.05) / (dark + 0.05);
}

const PAPER = ['page', 'surface', 'sunken'];

/** Each colour of text or of a border of a control, what it stands on, and the least contrast. */
const RULES: readonly { name: string; on: readonly string[]; least: number }[] = [
  { name: 'text', on: [...PAPER, 'accent-soft', 'mark', 'good-soft', 'warning-soft'], least: 4.5 },
  { name: 'quiet', on: PAPER, least: 4.5 },
  { name: 'accent', on: [...PAPER, 'accent-soft'], least: 4.5 },
  { name: 'accent-strong', on: [...PAPER, 'accent-soft'], least: 4.5 },
  { name: 'on-accent', on: ['accent', 'accent-strong'], least: 4.5 },
  ...['good', 'warning', 'bad', 'info'].map((name) => ({ name, on: [...PAPER, `${name}-soft`], least: 4.5 })),
  { name: 'edge', on: PAPER, least: 3 },
];

for (const { name, on, least } of RULES) {
  test(`--${name} has a contrast of at least ${least} on ${on.join(', ')}, and it is noted beside it`, () => {
    const { values, noted } = colours.get(name) as Colour;
    const lowest = values.map((value, theme) =>
      Math.min(...on.map((background) => contrast(value, colours.get(background)?.values[theme] ?? value))),
    );
    for (const ratio of lowest) assert.ok(ratio >= least, `${ratio}`);
    assert.deepEqual(
      noted,
      lowest.map((ratio) => (Math.floor(ratio * 10) / 10).toFixed(1)),
    );
  });
}
