import { allFlags } from './arguments.ts';
import { type Command, type Group, UsageError } from './command.ts';
import { PROGRAM } from './help.ts';
import { didYouMean } from './suggestion.ts';

/**
 * Scripts that complete commands, flags and the words that flags accept. They contain everything, so that the shell
 * starts no program when a person presses Tab.
 */

type Topic = { name: string; summary: string; commands: Command[] };

const SHELLS: Readonly<Record<string, (topics: readonly Topic[]) => string>> = { bash, zsh, fish };

export const completionCommands = (groups: readonly Group[]): Command[] => [
  {
    name: 'completion',
    argument: 'shell',
    summary: 'Print a script that completes commands in bash, zsh or fish',
    description:
      'For bash, add "source <(case-records completion bash)" to ~/.bashrc; for zsh the same with zsh to ~/.zshrc, ' +
      'after compinit; for fish, write the output to ~/.config/fish/completions/case-records.fish.',
    examples: ['completion bash', 'completion fish'],
    run: async ({ argument }) => {
      const write = SHELLS[argument];
      if (!write) {
        const shells = Object.keys(SHELLS);
        const suggestion = didYouMean(argument, shells);
        throw new UsageError(`<shell> must be one of ${shells.join(', ')}.${suggestion}`, 'completion');
      }
      const topics = await Promise.all(groups.map(async (group) => ({ ...group, ...(await group.load()) })));
      const script = write(topics);
      return { json: JSON.stringify({ shell: argument, script }), text: script };
    },
  },
];

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** The second words of a group's commands; none if the group is a command itself. */
const verbsOf = ({ name, commands }: Topic) =>
  commands.filter((command) => command.name !== name).map((command) => command.name.slice(name.length + 1));

type CompletedFlag = { name: string; description: string; takesValue: boolean; words: readonly string[] };

const flagsOf = (command: Command): CompletedFlag[] =>
  Object.entries(allFlags(command)).map(([name, { type, description, words = [] }]) => ({
    name,
    description,
    takesValue: type === 'string',
    words: command.all?.[name] ? [...words, 'all'] : words,
  }));

/** A function of bash and zsh that prints the words that can follow the words before the cursor. */
function wordsFunction(topics: readonly Topic[]): string {
  const all = topics.flatMap((topic) => topic.commands);
  const values = all.flatMap((command) =>
    flagsOf(command)
      .filter(({ words }) => words.length > 0)
      .map(({ name, words }) => `    ${quote(`${command.name} --${name}`)}) echo ${quote(words.join(' '))}; return ;;`),
  );
  const verbs = topics
    .filter((topic) => verbsOf(topic).length > 0)
    .map((topic) => `    ${quote(topic.name)}) echo ${quote(verbsOf(topic).join(' '))}; return ;;`);
  const flags = all.map((command) => {
    const words = flagsOf(command).map(({ name }) => `--${name}`);
    const pattern = command.name.includes(' ') ? quote(command.name) : `${quote(`${command.name} `)}*`;
    return `    ${pattern}) echo ${quote(words.join(' '))} ;;`;
  });
  return `_case_records_words() {
  local last=''
  for last in "$@"; do :; done
  if [ $# -eq 0 ]; then
    echo ${quote([...topics.map(({ name }) => name), '--help', '--version'].join(' '))}
    return
  fi
  case "$1 \${2-} $last" in
${values.join('\n')}
  esac
  if [ $# -eq 1 ]; then case "$1" in
${verbs.join('\n')}
  esac; fi
  case "$1 \${2-}" in
${flags.join('\n')}
  esac
}`;
}

function bash(topics: readonly Topic[]): string {
  return `${wordsFunction(topics)}
_case_records() {
  COMPREPLY=($(compgen -W "$(_case_records_words "\${COMP_WORDS[@]:1:COMP_CWORD-1}")" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
# Scopes contain a colon, at which bash would otherwise begin a new word.
COMP_WORDBREAKS=\${COMP_WORDBREAKS//:/}
complete -o default -F _case_records ${PROGRAM}`;
}

function zsh(topics: readonly Topic[]): string {
  return `#compdef ${PROGRAM}
${wordsFunction(topics)}
_case_records() {
  compadd -- \${=$(_case_records_words "\${(@)words[2,CURRENT-1]}")} || _files
}
compdef _case_records ${PROGRAM}`;
}

function fish(topics: readonly Topic[]): string {
  const complete = (condition: string, rest: string) => `complete -c ${PROGRAM} -n ${quote(condition)} ${rest}`;
  const flagLines = (condition: string, command: Command) =>
    flagsOf(command).map(({ name, description, takesValue, words }) => {
      const values = words.length > 0 ? ` -a ${quote(words.join(' '))}` : '';
      return complete(
        condition,
        `-l ${name}${takesValue ? ' -x' : ''} -d ${quote(firstSentence(description))}${values}`,
      );
    });
  return [
    `complete -c ${PROGRAM} -f`,
    ...topics.flatMap((topic) => {
      const seen = `__fish_seen_subcommand_from ${topic.name}`;
      const verbs = verbsOf(topic).join(' ');
      return [
        complete('__fish_use_subcommand', `-a ${topic.name} -d ${quote(topic.summary)}`),
        ...topic.commands.flatMap((command) => {
          const [, verb] = command.name.split(' ');
          if (verb === undefined) return flagLines(seen, command);
          return [
            complete(
              `${seen}; and not __fish_seen_subcommand_from ${verbs}`,
              `-a ${verb} -d ${quote(command.summary)}`,
            ),
            ...flagLines(`${seen}; and __fish_seen_subcommand_from ${verb}`, command),
          ];
        }),
      ];
    }),
  ].join('\n');
}

const firstSentence = (text: string) => text.split(/(?<=\.) /, 1)[0] ?? '';
