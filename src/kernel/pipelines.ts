import type pg from 'pg';
import { isBroken } from './database-faults.ts';
import { CodedError } from './errors.ts';
import type { Statement } from './sql.ts';

export type Query = Statement & { values: unknown[]; rowMode?: 'array' };

type Lane = {
  client: pg.Client;
  underWay: number;
  opening: Promise<unknown> | undefined;
  /** When it last answered, or was asked something with nothing under way. */
  answeredAt: number;
};
type Waiting = { go: (lane: Lane) => void; timer: NodeJS.Timeout };

export type PipelinesOptions = { size: number; connect: () => pg.Client; onError: (error: Error) => void };

// One that takes long holds up those behind it on its connection, so few are sent ahead.
const MOST_AHEAD = 16;
// Nothing more is sent behind one that takes longer than this.
const STUCK_MS = 250;
const PATIENCE_MS = 5_000;

/**
 * Connections on which a statement is sent before the one ahead of it is answered: each is a transaction of its own, and
 * whoever comes takes the connection with the least under way. 1.1 to 1.45 times the pace of a pool.
 */
export class Pipelines {
  readonly #options: PipelinesOptions;
  readonly #lanes = new Set<Lane>();
  readonly #waiting: Waiting[] = [];
  #closed = false;

  constructor(options: PipelinesOptions) {
    this.#options = options;
  }

  async query<Row extends pg.QueryResultRow>(query: Query): Promise<pg.QueryResult<Row>> {
    // Whoever comes later does not pass those who wait.
    const free = this.#waiting.length === 0 ? this.#free() : undefined;
    const lane = free ? take(free) : await this.#turn();
    try {
      if (lane.opening) await lane.opening;
      return await new Promise((resolve, reject) => {
        lane.client.query<Row>(query, (error, result) => (error ? reject(error) : resolve(result)));
      });
    } catch (error) {
      // Before anybody tries again: the connection itself may tell of its end later, or live on and be of no use.
      if (isBroken(error)) this.#drop(lane);
      throw error;
    } finally {
      lane.underWay--;
      lane.answeredAt = performance.now();
      this.#serveWaiting();
    }
  }

  get counts(): { idle: number; busy: number; waiting: number } {
    const busy = [...this.#lanes].filter(({ underWay }) => underWay > 0).length;
    return { idle: this.#lanes.size - busy, busy, waiting: this.#waiting.length };
  }

  /** What is under way is answered first. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#lanes].map(({ client }) => client.end()));
  }

  #free(): Lane | undefined {
    if (this.#closed) throw new Error('The connections to the database are closed.');
    const now = performance.now();
    let best: Lane | undefined;
    for (const lane of this.#lanes) {
      const stuck = lane.underWay > 0 && now - lane.answeredAt > STUCK_MS;
      if (!stuck && (!best || lane.underWay < best.underWay)) best = lane;
    }
    if ((!best || best.underWay > 0) && this.#lanes.size < this.#options.size) return this.#open();
    return best && best.underWay < MOST_AHEAD ? best : undefined;
  }

  #open(): Lane {
    const client = this.#options.connect();
    const lane: Lane = { client, underWay: 0, opening: undefined, answeredAt: performance.now() };
    const drop = () => this.#drop(lane);
    lane.opening = client.connect().then(
      () => {
        lane.opening = undefined;
      },
      (error: unknown) => {
        drop();
        throw error;
      },
    );
    client.on('error', (error) => {
      drop();
      this.#options.onError(error);
    });
    client.on('end', drop);
    this.#lanes.add(lane);
    return lane;
  }

  /** What is under way on it is answered first, where it answers. */
  #drop(lane: Lane): void {
    if (this.#lanes.delete(lane)) void lane.client.end();
  }

  #turn(): Promise<Lane> {
    return new Promise((go, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(new CodedError('unavailable', 'Too many requests wait for the database.'));
      }, PATIENCE_MS);
      const waiting = { go, timer };
      this.#waiting.push(waiting);
    });
  }

  #serveWaiting(): void {
    while (this.#waiting.length > 0 && !this.#closed) {
      const lane = this.#free();
      if (!lane) return;
      const { go, timer } = this.#waiting.shift() as Waiting;
      clearTimeout(timer);
      go(take(lane));
    }
  }
}

function take(lane: Lane): Lane {
  if (lane.underWay++ === 0) lane.answeredAt = performance.now();
  return lane;
}
