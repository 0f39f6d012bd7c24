import { allFlags, COMMON_FLAGS } from './arguments.ts';
import type { Command, Flag } from './command.ts';

const WIDTH = 100;
export const PROGRAM = 'case-records';

type Topic = { name: string; summary: string };

export function programHelp(topics: readonly Topic[]): string {
  return [
    `${PROGRAM}: the records of client cases, from the command line`,
    '',
    `Usage: ${PROGRAM} <command> [...]`,
    '',
    'Commands:',
    ...twoColumns(topics.map(({ name, summary }) => [name, summary])),
    '',
    `${PROGRAM} <command> --help tells more. Settings are environment variables; the README lists them.`,
    'Commands work on the database that DATABASE_URL names, or else on the bundled one in DATA_DIR, whether the',
    'service is running or not.',
    '',
    'Exit codes: 0 done, 1 failed, 2 wrong command line or settings, 3 a value was refused, 4 not found.',
  ].join('\n');
}

export function groupHelp(group: Topic, commands: readonly Command[]): string {
  return [
    `${PROGRAM} ${group.name}: ${group.summary}`,
    '',
    'Commands:',
    ...twoColumns(commands.map((command) => [synopsis(command), command.summary])),
    '',
    ...examples(commands.flatMap((command) => command.examples.slice(0, 1))),
  ].join('\n');
}

export function commandHelp(command: Command): string {
  const flags = Object.entries(allFlags(command));
  const needed = flags.filter(([, { required }]) => required).map(([name, flag]) => `${typed(name, flag)} `);
  return [
    `${PROGRAM} ${command.name}: ${command.summary}`,
    ...(command.description ? ['', ...wrap(command.description, 0)] : []),
    '',
    `Usage: ${PROGRAM} ${synopsis(command)} ${needed.join('')}[options]`,
    '',
    'Options:',
    ...twoColumns(flags.map(([name, flag]) => [typed(name, flag), described(name, flag)])),
    '',
    ...examples(command.examples),
  ].join('\n');
}

const synopsis = ({ name, argument }: Command) => (argument ? `${name} <${argument}>` : name);

const typed = (name: string, { type, value = 'text' }: Flag) =>
  type === 'boolean' ? `--${name}` : `--${name} <${value}>`;

function described(name: string, { type, required, description }: Flag): string {
  const opposite = type === 'boolean' && !(name in COMMON_FLAGS) ? `--no-${name} is the opposite.` : '';
  return [required && 'Required.', description, opposite].filter(Boolean).join(' ');
}

const examples = (lines: readonly string[]) => [
  lines.length > 1 ? 'Examples:' : 'Example:',
  ...lines.map((line) => `  npx ${PROGRAM} ${line}`),
];

function twoColumns(rows: (readonly [string, string])[]): string[] {
  const indent = Math.max(...rows.map(([left]) => left.length)) + 4;
  return rows.flatMap(([left, right]) => {
    const [first = '', ...rest] = wrap(right, indent);
    return [`  ${left.padEnd(indent - 2)}${first.trimStart()}`.trimEnd(), ...rest];
  });
}

function wrap(text: string, indent: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length + 1 > WIDTH) lines.push(' '.repeat(indent) + word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
