import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { within } from './until.ts';

/** The worker processes of a simulation. A spare is always ready to replace one that was killed. */

const PROGRAM = new URL('./simulated-year-worker.ts', import.meta.url).pathname;

const MAX_WORK_MS = 120_000;

type Worker = { name: string; child: ChildProcess };

export class YearWorkers {
  readonly #settings: (name: string) => object;
  readonly #program: string;
  #workers: Worker[] = [];
  #spare: Promise<Worker> | undefined;
  #count = 0;

  constructor(settings: (name: string) => object, program = PROGRAM) {
    this.#settings = settings;
    this.#program = program;
  }

  async start(count: number): Promise<void> {
    this.#workers = await Promise.all(Array.from({ length: count }, () => this.#launch()));
    this.#spare = this.#launch();
  }

  async #launch(): Promise<Worker> {
    const name = `worker-${this.#count++}`;
    const settings = JSON.stringify({ name, ...this.#settings(name) });
    const child = fork(this.#program, [settings], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    await within(once(child, 'message'), 'a worker to start');
    return { name, child };
  }

  get names(): string[] {
    return this.#workers.map(({ name }) => name);
  }

  kill(name: string): void {
    this.#workers.find((worker) => worker.name === name)?.child.kill('SIGKILL');
  }

  /** All workers do the jobs that are due. Returns how many there were. A worker that was killed is replaced. */
  async work(now: string): Promise<number> {
    const handled = await Promise.all(this.#workers.map(({ child }) => tell(child, now)));
    const alive = this.#workers.filter(({ child }) => !child.killed);
    for (let missing = this.#workers.length - alive.length; missing > 0; missing--) {
      alive.push((await this.#spare) as Worker);
      this.#spare = this.#launch();
    }
    this.#workers = alive;
    return handled.reduce((sum, count) => sum + count, 0);
  }

  async end(): Promise<void> {
    const all = [...this.#workers, await this.#spare].filter((worker) => worker !== undefined);
    const ends = all.map(({ child }) => within(once(child, 'exit'), 'the end of a worker'));
    for (const { child } of all) child.kill('SIGKILL');
    await Promise.all(ends);
  }
}

/** Returns how many jobs the worker has handled; a killed worker counts as one. */
function tell(child: ChildProcess, now: string): Promise<number> {
  const answered = new Promise<number>((resolve) => {
    const done = (answer: unknown) => {
      child.off('message', done);
      child.off('exit', done);
      resolve((answer as { handled?: number } | null)?.handled ?? 1);
    };
    child.on('message', done);
    child.on('exit', done);
    child.send({ now });
  });
  return within(answered, 'a worker to do its jobs', MAX_WORK_MS);
}
