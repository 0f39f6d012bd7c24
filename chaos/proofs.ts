import { clock } from './clock.ts';
import { cost } from './cost.ts';
import { crash } from './crash.ts';
import { disk } from './disk.ts';
import { eventLog } from './event-log.ts';
import { apart, input, messages, retries, webhooks } from './existing.ts';
import { failover } from './failover.ts';
import { migration } from './migration.ts';
import { overload } from './overload.ts';
import { powerCut } from './power-cut.ts';
import type { Proof } from './proof.ts';
import { slowPeers } from './slow-peers.ts';
import { stalledDatabase } from './stalled-database.ts';

/** In the order in which they run. */
export const PROOFS: readonly Proof[] = [
  crash,
  powerCut,
  failover,
  overload,
  slowPeers,
  stalledDatabase,
  eventLog,
  disk,
  migration,
  clock,
  retries,
  messages,
  webhooks,
  input,
  cost,
  apart,
];
