import { wrapWords } from '../kernel/word-wrap.ts';
import { allFlags, COMMON_FLAGS } from './arguments.ts';
import type { Command, Flag } from './command.ts';

const MIN_COLUMNS = 40;
const MAX_COLUMNS = 100;
export const PROGRAM = 'case-records';

type Topic = { name: string; summary: string };

/** Lines longer than the maximum are hard to read, also on a wider terminal. */
const lineWidth = (columns = MAX_COLUMNS) => Math.max(MIN_COLUMNS, Math.min(columns, MAX_COLUMNS));

export function programHelp(topics: readonly Topic[], columns?: number): string {
  const width = lineWidth(columns);
  return [
    ...wrapWords(`${PROGRAM}: the records of client cases, from the command line`, width),
    '',
    `Usage: ${PROGRAM} <command> [...]`,
    '',
    'Commands:',
    ...twoColumns(
      topics.map(({ name, summary }) => [name, summary]),
      width,
    ),
    '',
    ...wrapWords(
      `Run "${PROGRAM} <command> --help" for details. Settings are environment variables; docs/settings.md lists ` +
        'them. Commands use the database of DATABASE_URL or, if it is unset, the bundled one in DATA_DIR. The service ' +
        'may be running or not. A record is named by its identifier, its name (reference, email, URL), or the ' +
        'beginning of either.',
      width,
    ),
    '',
    ...wrapWords(`"${PROGRAM} --version" prints the version. In a checkout, type "npx ${PROGRAM}".`, width),
    '',
    ...wrapWords(
      'Exit codes: 0 success, 1 failure, 2 invalid command line or settings, 3 invalid value, 4 not found.',
      width,
    ),
  ].join('\n');
}

export function groupHelp(group: Topic, commands: readonly Command[], columns?: number): string {
  const width = lineWidth(columns);
  return [
    ...wrapWords(`${PROGRAM} ${group.name}: ${group.summary}`, width),
    '',
    'Commands:',
    ...twoColumns(
      commands.map((command) => [synopsis(command), command.summary]),
      width,
    ),
    '',
    ...examples(commands.flatMap((command) => command.examples.slice(0, 1))),
  ].join('\n');
}

export function commandHelp(command: Command, columns?: number): string {
  const width = lineWidth(columns);
  const flags = Object.entries(allFlags(command));
  const requiredFlags = flags
    .filter(([, { required }]) => required)
    .map(([name, flag]) => `${flagSyntax(name, flag)} `);
  return [
    ...wrapWords(`${PROGRAM} ${command.name}: ${command.summary}`, width),
    ...(command.description ? ['', ...wrapWords(command.description, width)] : []),
    '',
    ...wrapWords(`Usage: ${PROGRAM} ${synopsis(command)} ${requiredFlags.join('')}[options]`, width, '  '),
    '',
    'Options:',
    ...twoColumns(
      flags.map(([name, flag]) => [flagSyntax(name, flag), flagDescription(name, flag)]),
      width,
    ),
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

/** The right column of a narrow terminal keeps half of it; the texts on the left then stand above. */
function twoColumns(rows: (readonly [string, string])[], width: number): string[] {
  const left = Math.min(Math.max(...rows.map(([text]) => text.length)) + 4, Math.floor(width / 2));
  const indent = ' '.repeat(left);
  return rows.flatMap(([text, description]) => {
    const [first = '', ...rest] = wrapWords(indent + description, width, indent);
    const label = `  ${text}`;
    if (label.length + 2 > left) return [label, first, ...rest];
    return [(label.padEnd(left) + first.slice(left)).trimEnd(), ...rest];
  });
}
