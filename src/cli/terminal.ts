import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { wrapWords } from '../kernel/word-wrap.ts';

/** How results are shown to a person. */
export type Display = {
  /** The number of characters in a line. */
  columns: number;
  color: boolean;
  /** The time zone of times in tables. */
  timeZone: string;
};

/** The person at the terminal. A script has no `display` and cannot be asked. */
export type Terminal = {
  /** Undefined if standard output is not a terminal. */
  display?: Display;
  /** Returns the line that the person types; undefined if there is nobody to ask. */
  ask?(question: string): Promise<string>;
  /** As `ask`, but nobody can read from the screen what is typed. */
  askSecret?(question: string): Promise<string>;
  /** Shows what long work is doing, in a line that the next text replaces. */
  showProgress(text: string): void;
  /** Breaks text for standard error between words. In a file or a pipe, a line stays one. */
  fold(text: string): string;
};

export const NO_TERMINAL: Terminal = { showProgress: () => {}, fold: (text) => text };

const CONTINUATION = '  ';
const CLEAR_LINE = '\r\u001b[K';

/** Standard output can be a file while a person reads standard error, so each stream is looked at on its own. */
export function openTerminal(env: Record<string, string | undefined>): Terminal & { close(): void } {
  const { stdin, stdout, stderr } = process;
  let hasProgress = false;
  const close = () => {
    if (hasProgress) stderr.write(CLEAR_LINE);
    hasProgress = false;
  };
  const fold = (text: string) => {
    if (!stderr.isTTY) return text;
    const lines = text.split('\n').flatMap((line) => wrapWords(line, stderr.columns || 80, CONTINUATION));
    return lines.join('\n');
  };
  return {
    ...(stdout.isTTY && {
      display: {
        columns: stdout.columns || 80,
        color: stdout.hasColors(env),
        timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      },
    }),
    ...(stdin.isTTY &&
      stderr.isTTY && {
        ask: async (question) => {
          close();
          const lines = createInterface({ input: stdin, output: stderr });
          // Ctrl-C must end the command; readline would otherwise keep the signal.
          lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
          try {
            return (await lines.question(`${fold(question.trimEnd())} `)).trim();
          } finally {
            lines.close();
          }
        },
        askSecret: async (question) => {
          close();
          stderr.write(question);
          const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
          const lines = createInterface({ input: stdin, output: nowhere, terminal: true });
          lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
          try {
            return await lines.question('');
          } finally {
            lines.close();
            stderr.write('\n');
          }
        },
      }),
    showProgress: (text) => {
      if (!stderr.isTTY) return;
      hasProgress = true;
      stderr.write(`${CLEAR_LINE}${text.slice(0, (stderr.columns || 80) - 1)}`);
    },
    fold,
    close,
  };
}
