import { backup } from './backup.ts';
import type { ChaosTest } from './chaos-test.ts';
import { clock } from './clock.ts';
import { cost } from './cost.ts';
import { crash } from './crash.ts';
import { disk } from './disk.ts';
import { eventLog } from './event-log.ts';
import { failover } from './failover.ts';
import { input, messages, retries, tenantIsolation, webhooks } from './harness-tests.ts';
import { migration } from './migration.ts';
import { overload } from './overload.ts';
import { ownServer } from './own-server.ts';
import { pooler } from './pooler.ts';
import { powerCut } from './power-cut.ts';
import { slowPeers } from './slow-peers.ts';
import { stalledDatabase } from './stalled-database.ts';
import { upgrade } from './upgrade.ts';

/** All chaos tests, in the order in which they run. */
export const CHAOS_TESTS: readonly ChaosTest[] = [
  crash,
  powerCut,
  backup,
  ownServer,
  failover,
  pooler,
  overload,
  slowPeers,
  stalledDatabase,
  eventLog,
  disk,
  migration,
  upgrade,
  clock,
  retries,
  messages,
  webhooks,
  input,
  cost,
  tenantIsolation,
];
