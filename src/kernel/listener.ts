import pg from 'pg';
import type { Connection } from './database.ts';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** Hears what is notified on a channel, on a connection of its own that is made again whenever it breaks. */
export class Listener {
  readonly #connection: Connection;
  readonly #channel: string;
  readonly #heard: () => void;
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pause = FIRST_PAUSE_MS;
  #closed = false;
  /** False while nothing can be heard. */
  listening = false;

  constructor(connection: Connection, channel: string, heard: () => void) {
    this.#connection = connection;
    this.#channel = channel;
    this.#heard = heard;
  }

  async open(): Promise<void> {
    const client = new pg.Client({
      ...this.#connection,
      application_name: 'case-records listen',
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
    });
    this.#client = client;
    client.on('notification', this.#heard);
    // Without a listener a broken connection would end the process.
    client.on('error', () => {});
    client.once('end', () => this.#lost(client));
    try {
      await client.connect();
      await client.query(`LISTEN ${this.#channel}`);
      this.listening = true;
      this.#pause = FIRST_PAUSE_MS;
      // What was notified while nobody listened.
      this.#heard();
    } catch {
      await client.end().catch(() => {});
      this.#lost(client);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#client?.end().catch(() => {});
  }

  #lost(client: pg.Client): void {
    if (this.#closed || client !== this.#client) return;
    this.#client = undefined;
    this.listening = false;
    this.#heard();
    this.#timer = setTimeout(() => void this.open(), this.#pause);
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE_MS);
  }
}
