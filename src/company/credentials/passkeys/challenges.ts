import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Executor } from '../../../kernel/database/database.ts';
import type { Clock } from '../../../kernel/time/time.ts';
import { selectChallengeKey } from './statements.sql.ts';

const LIFETIME_SECONDS = 300;
const RANDOM_BYTES = 16;
const EXPIRY_BYTES = 6;
const MAC_BYTES = 20;
const LENGTH = EXPIRY_BYTES + RANDOM_BYTES + MAC_BYTES;

/** Where a challenge may be answered: at a sign-in, or at the registration by one user. */
export type ChallengePurpose = 'sign-in' | `register ${string}`;

/**
 * Challenges that the service recognises by a signature. So strangers can request any number of them without a row being
 * stored; only those that a passkey has answered are remembered.
 */
export class Challenges {
  readonly #db: Executor;
  readonly #clock: Clock;
  #key: Promise<Buffer> | undefined;

  constructor(db: Executor, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  async create(purpose: ChallengePurpose): Promise<string> {
    const content = Buffer.alloc(EXPIRY_BYTES + RANDOM_BYTES);
    const expiry = Math.floor(this.#clock().epochMilliseconds / 1000) + LIFETIME_SECONDS;
    content.writeUIntBE(expiry, 0, EXPIRY_BYTES);
    randomBytes(RANDOM_BYTES).copy(content, EXPIRY_BYTES);
    return Buffer.concat([content, await this.#sign(content, purpose)]).toString('base64url');
  }

  /** Returns when the challenge expires; undefined if it is not one of this purpose, or has expired. */
  async expiryOf(challenge: string, purpose: ChallengePurpose): Promise<Temporal.Instant | undefined> {
    const bytes = Buffer.from(challenge, 'base64url');
    if (bytes.length !== LENGTH) return undefined;
    const content = bytes.subarray(0, -MAC_BYTES);
    if (!timingSafeEqual(await this.#sign(content, purpose), bytes.subarray(-MAC_BYTES))) return undefined;
    const expiry = Temporal.Instant.fromEpochMilliseconds(content.readUIntBE(0, EXPIRY_BYTES) * 1000);
    return Temporal.Instant.compare(expiry, this.#clock()) > 0 ? expiry : undefined;
  }

  async #sign(content: Buffer, purpose: ChallengePurpose): Promise<Buffer> {
    this.#key ??= this.#loadKey().catch((error) => {
      this.#key = undefined;
      throw error;
    });
    return createHmac('sha256', await this.#key)
      .update(`${purpose}\0`)
      .update(content)
      .digest()
      .subarray(0, MAC_BYTES);
  }

  async #loadKey(): Promise<Buffer> {
    const row = await this.#db.queryFirst<{ key: Buffer }>(selectChallengeKey({}));
    if (!row) throw new Error('The table challenge_keys is empty.');
    return row.key;
  }
}
