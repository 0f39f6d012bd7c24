const BAR_LENGTH = 24;

/** Shows the progress: on a terminal in one line that is rewritten, elsewhere one line for each new text. */
export class Progress {
  readonly #steps: number;
  readonly #out = process.stderr;
  #done = 0;
  #startedAt = performance.now();
  #lastText = '';

  constructor(steps: number) {
    this.#steps = steps;
  }

  /** Prints a text before the first step, and starts the clock. */
  say(text: string): void {
    this.#out.write(this.#out.isTTY ? `\r\x1b[2K${text}` : `${text}\n`);
    this.#startedAt = performance.now();
  }

  /**
   * Reports a step, or the part of a step that `weight` says. `detail` is shown on a terminal only, because elsewhere it
   * would add a line per step.
   */
  step(text: string, detail = '', weight = 1): void {
    const done = this.#done / this.#steps;
    this.#done += weight;
    if (!this.#out.isTTY) {
      if (text !== this.#lastText) this.#out.write(`${String(Math.round(done * 100)).padStart(3)} %  ${text}\n`);
      this.#lastText = text;
      return;
    }
    const bar = '█'.repeat(Math.round(done * BAR_LENGTH)).padEnd(BAR_LENGTH, '░');
    const elapsed = (performance.now() - this.#startedAt) / 1000;
    const left = done > 0.02 ? `, ${Math.ceil((elapsed / done) * (1 - done))} s left` : '';
    const line = `${bar} ${String(Math.round(done * 100)).padStart(3)} %${left}  ${text} ${detail}`;
    this.#out.write(`\r\x1b[2K${line.slice(0, Math.max(20, this.#out.columns - 1))}`);
  }

  end(): void {
    if (this.#out.isTTY) this.#out.write('\r\x1b[2K');
  }
}
