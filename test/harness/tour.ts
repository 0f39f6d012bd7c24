import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A tour in the documents: its blocks of commands, and what the text says of the output. */

export type Step = {
  commands: string;
  /** The status of the request that the block sends, if it sends one. */
  status: string | undefined;
  fragments: string[];
};

const blocksOf = (language: string) =>
  new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`\\n(?:\\n\\*\\*(\\d{3}|Prints)\\*\\* (.*?\\n)(?=\\n|$))?`, 'gms');
const MAX_TOUR_MS = 240_000;
const MARK = '--- end of a block ---';

export async function readTour(page: string, heading: string, language = 'sh'): Promise<Step[]> {
  const text = await readFile(new URL(`../../${page}`, import.meta.url), 'utf8');
  const tour = text.split(/^## /m).find((section) => section.startsWith(`${heading}\n`));
  assert.ok(tour, `${page} has a section "${heading}"`);
  return [...tour.matchAll(blocksOf(language))].map(([, commands = '', told, said = '']) => ({
    commands,
    status: told === 'Prints' ? undefined : told,
    // A quotation that contains a quotation mark is part of an API answer; other quoted words are names.
    fragments: [...said.matchAll(told === 'Prints' ? /`([^`]+)`/g : /`("[^`]+)`/g)].map(([, part = '']) => part),
  }));
}

/** Runs every block in order in one shell, then compares each output with what the text says. */
export async function takeTour(steps: Step[], options: { cwd: string; env?: NodeJS.ProcessEnv }): Promise<void> {
  const script = ['set -eu', 'exec 2>&1', ...steps.map(({ commands }) => `${commands}echo '${MARK}'`)].join('\n');
  const outputs = await outputsOf(steps, 'bash', ['-c', script], options);
  for (const [i, { commands, status, fragments }] of steps.entries()) {
    // npm prints warnings about the machine it runs on.
    const output = (outputs[i] ?? '').replaceAll(/^npm warn .*\n/gm, '');
    const told = `${commands}${output}`;
    const requests = commands.match(/^(call|curl) /gm)?.length ?? 0;
    assert.equal(requests, status === undefined ? 0 : 1, `one request and one status per block:\n${told}`);
    if (status !== undefined) assert.match(output, new RegExp(`^${status}$`, 'm'), told);
    else if (fragments.length === 0) assert.equal(output, '', told);
    for (const fragment of fragments) assert.ok(output.includes(fragment), `${fragment} in\n${told}`);
  }
}

/**
 * Runs blocks of TypeScript as one program, in a folder as `npm init` makes it, below the one with the packages. The text
 * quotes every line that is printed.
 */
export async function takeTypedTour(steps: Step[], options: { cwd: string; env: NodeJS.ProcessEnv }): Promise<void> {
  const script = steps.map(({ commands }) => `${commands}console.log('${MARK}');`).join('\n');
  const cwd = join(options.cwd, 'tour');
  await mkdir(cwd);
  await writeFile(join(cwd, 'package.json'), JSON.stringify({ type: 'commonjs' }));
  await writeFile(join(cwd, 'tour.mts'), script);
  const outputs = await outputsOf(steps, process.execPath, ['tour.mts'], { ...options, cwd });
  for (const [i, { commands, fragments }] of steps.entries()) {
    assert.equal(outputs[i], fragments.map((line) => `${line}\n`).join(''), commands);
  }
}

async function outputsOf(
  steps: Step[],
  program: string,
  args: string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv },
): Promise<string[]> {
  // A script that broke off is detected by its output, below.
  const run = promisify(execFile)(program, args, { ...options, timeout: MAX_TOUR_MS });
  const { stdout, stderr } = await run.catch((broken: { stdout: string; stderr: string }) => broken);
  const outputs = stdout.split(`${MARK}\n`).slice(0, -1);
  assert.equal(outputs.length, steps.length, stdout + stderr);
  return outputs;
}
