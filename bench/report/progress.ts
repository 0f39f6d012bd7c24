const WIDTH = 24;

/** How far it is: one line that is written again on a terminal, a line for each new text elsewhere. */
export class Progress {
  readonly #steps: number;
  readonly #out = process.stderr;
  #done = 0;
  #begun = performance.now();
  #told = '';

  constructor(steps: number) {
    this.#steps = steps;
  }

  /** Before the steps begin. */
  say(text: string): void {
    this.#out.write(this.#out.isTTY ? `\r\x1b[2K${text}` : `${text}\n`);
    this.#begun = performance.now();
  }

  /** `detail` is for a terminal only: elsewhere it would be a line for every step. */
  step(text: string, detail = ''): void {
    const done = this.#done++ / this.#steps;
    if (!this.#out.isTTY) {
      if (text !== this.#told) this.#out.write(`${String(Math.round(done * 100)).padStart(3)} %  ${text}\n`);
      this.#told = text;
      return;
    }
    const bar = '█'.repeat(Math.round(done * WIDTH)).padEnd(WIDTH, '░');
    const passed = (performance.now() - this.#begun) / 1000;
    const left = done > 0.02 ? `, ${Math.ceil((passed / done) * (1 - done))} s left` : '';
    const line = `${bar} ${String(Math.round(done * 100)).padStart(3)} %${left}  ${text} ${detail}`;
    this.#out.write(`\r\x1b[2K${line.slice(0, Math.max(20, this.#out.columns - 1))}`);
  }

  end(): void {
    if (this.#out.isTTY) this.#out.write('\r\x1b[2K');
  }
}
