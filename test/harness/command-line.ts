import assert from 'node:assert/strict';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { toFailure } from '../../src/cli/failure.ts';
import type { Terminal } from '../../src/cli/terminal.ts';

export type CommandResult = { code: number; out: string; err: string };

type Surroundings = { env: Record<string, string>; terminal: Terminal };

/** Runs a command in this process, and returns the exit code and the output that its own process would have. */
export async function runCommand(
  surroundings: Record<string, string> | Surroundings,
  ...args: string[]
): Promise<CommandResult> {
  const { env, terminal } = 'terminal' in surroundings ? (surroundings as Surroundings) : { env: surroundings };
  try {
    const result = await runCommandLine(args, env as Record<string, string>, terminal);
    assert.ok('output' in result, `${args[0]} does not end by itself`);
    const { text, note = '', failed } = result.output;
    return { code: failed ? 1 : 0, out: text, err: note };
  } catch (error) {
    const { lines, exitCode } = toFailure(error);
    return { code: exitCode, out: '', err: lines.join('\n') };
  }
}

/** What a command prints. Fails if the command fails. */
export async function commandOutput(env: Record<string, string>, ...args: string[]): Promise<string> {
  const { code, out, err } = await runCommand(env, ...args);
  assert.equal(code, 0, `${args.join(' ')}: ${err}`);
  return out;
}
