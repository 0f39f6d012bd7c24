import { allFlags, COMMON_FLAGS } from './arguments.ts';
import type { Command, Flag } from './command.ts';

const MAX_LINE_LENGTH = 100;
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
    `Run "${PROGRAM} <command> --help" for details. Settings are environment variables; docs/settings.md lists them.`,
    'Commands use the database of DATABASE_URL or, if it is unset, the bundled one in DATA_DIR. The service may be',
    'running or not. A record is named by its identifier, its name (reference, email, URL), or the beginning of either.',
    '',
    `"${PROGRAM} --version" prints the version. In a checkout, type "npx ${PROGRAM}".`,
    '',
    'Exit codes: 0 success, 1 failure, 2 invalid command line or settings, 3 invalid value, 4 not found.',
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
  const requiredFlags = flags
    .filter(([, { required }]) => required)
    .map(([name, flag]) => `${flagSyntax(name, flag)} `);
  return [
    `${PROGRAM} ${command.name}: ${command.summary}`,
    ...(command.description ? ['', ...wrap(command.description, 0)] : []),
    '',
    `Usage: ${PROGRAM} ${synopsis(command)} ${requiredFlags.join('')}[options]`,
    '',
    'Options:',
    ...twoColumns(flags.map(([name, flag]) => [flagSyntax(name, flag), flagDescription(name, flag)])),
    '',
    ...examples(command.examples),
  ].join('\n');
}

const synopsis = ({ name, argument, takesFile }: Command) =>
  [name, argument && `<${argument}>`, takesFile && '<file>'].filter(Boolean).join(' ');

const flagSyntax = (name: string, { type, placeholder: value = 'text' }: Flag) =>
  type === 'boolean' ? `--${name}` : `--${name} <${value}>`;

function flagDescription(name: string, { type, required, description }: Flag): string {
  const opposite = type === 'boolean' && !(name in COMMON_FLAGS) ? `--no-${name} is the opposite.` : '';
  return [required && 'Required.', description, opposite].filter(Boolean).join(' ');
}

const examples = (lines: readonly string[]) => [
  lines.length > 1 ? 'Examples:' : 'Example:',
  ...lines.map((line) => `  ${PROGRAM} ${line}`),
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
    if (last === undefined || last.length + word.length + 1 > MAX_LINE_LENGTH) lines.push(' '.repeat(indent) + word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
