import type pg from 'pg';
import type { Connection } from './database.ts';
import { PrimaryClient } from './primary-client.ts';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
const ASK_MS = 30_000;
const ANSWER_MS = 5_000;

/**
 * Hears what is notified on a channel, on a connection of its own that is made again whenever it breaks. Nothing tells a
 * connection that is lost from one on which nothing is said, so it asks from time to time.
 */
export class Listener {
  readonly #connection: Connection;
  readonly #channel: string;
  readonly #heard: () => void;
  readonly #askMs: number;
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pause = FIRST_PAUSE_MS;
  #closed = false;
  /** False while nothing can be heard. */
  listening = false;

  constructor(connection: Connection, channel: string, heard: () => void, askMs: number = ASK_MS) {
    this.#connection = connection;
    this.#channel = channel;
    this.#heard = heard;
    this.#askMs = askMs;
  }

  async open(): Promise<void> {
    const client = new PrimaryClient({
      ...this.#connection,
      application_name: 'case-records listen',
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
    });
    this.#client = client;
    client.on('notification', this.#heard);
    // Without a listener a broken connection would end the process.
    client.on('error', () => {});
    client.once('end', () => this.#lost(client));
    try {
      await client.connect();
      await this.#listen(client);
      this.listening = true;
      this.#pause = FIRST_PAUSE_MS;
      // What was notified while nobody listened.
      this.#heard();
    } catch {
      this.#giveUp(client);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#client?.end().catch(() => {});
  }

  async #listen(client: pg.Client): Promise<void> {
    await client.query(`LISTEN ${this.#channel}`);
    if (this.#closed) return;
    this.#timer = setTimeout(() => this.#listen(client).catch(() => this.#giveUp(client)), this.#askMs);
  }

  #giveUp(client: pg.Client): void {
    void client.end();
    this.#lost(client);
  }

  #lost(client: pg.Client): void {
    if (this.#closed || client !== this.#client) return;
    clearTimeout(this.#timer);
    this.#client = undefined;
    this.listening = false;
    this.#heard();
    this.#timer = setTimeout(() => void this.open(), this.#pause);
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE_MS);
  }
}
