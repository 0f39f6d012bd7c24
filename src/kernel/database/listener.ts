import type pg from 'pg';
import { type Connection, withOwnSession } from './connection.ts';
import { PrimaryClient } from './primary-client.ts';

const MIN_RECONNECT_DELAY_MS = 500;
const MAX_RECONNECT_DELAY_MS = 30_000;
const PING_INTERVAL_MS = 30_000;
const RESPONSE_TIMEOUT_MS = 5_000;

/**
 * Receives the notifications of a channel on a connection of its own, and reconnects when it breaks. A dead connection
 * looks like a quiet one, so it is pinged periodically.
 */
export class Listener {
  readonly #connection: Connection;
  readonly #channel: string;
  readonly #onNotification: () => void;
  readonly #pingIntervalMs: number;
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #reconnectDelay = MIN_RECONNECT_DELAY_MS;
  #closed = false;
  /** False while notifications may be lost. */
  listening = false;

  constructor(connection: Connection, channel: string, onNotification: () => void, pingIntervalMs = PING_INTERVAL_MS) {
    this.#connection = connection;
    this.#channel = channel;
    this.#onNotification = onNotification;
    this.#pingIntervalMs = pingIntervalMs;
  }

  async open(): Promise<void> {
    const client = new PrimaryClient({
      ...withOwnSession(this.#connection),
      application_name: 'case-records listen',
      connectionTimeoutMillis: RESPONSE_TIMEOUT_MS,
      query_timeout: RESPONSE_TIMEOUT_MS,
    });
    this.#client = client;
    client.on('notification', this.#onNotification);
    // Without a listener a broken connection would end the process.
    client.on('error', () => {});
    client.once('end', () => this.#reconnect(client));
    try {
      await client.connect();
      await this.#listen(client);
      this.listening = true;
      this.#reconnectDelay = MIN_RECONNECT_DELAY_MS;
      // Notifications may have been lost while there was no connection.
      this.#onNotification();
    } catch {
      this.#drop(client);
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
    this.#timer = setTimeout(() => this.#listen(client).catch(() => this.#drop(client)), this.#pingIntervalMs);
  }

  #drop(client: pg.Client): void {
    void client.end();
    this.#reconnect(client);
  }

  #reconnect(client: pg.Client): void {
    if (this.#closed || client !== this.#client) return;
    clearTimeout(this.#timer);
    this.#client = undefined;
    this.listening = false;
    this.#onNotification();
    this.#timer = setTimeout(() => void this.open(), this.#reconnectDelay);
    this.#reconnectDelay = Math.min(this.#reconnectDelay * 2, MAX_RECONNECT_DELAY_MS);
  }
}
