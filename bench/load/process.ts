import type { World } from '../world.ts';
import { Driver, type Task } from './drive.ts';

/** The process of the load: is told the world, then one task after the other. */

let driver: Driver | undefined;

process.on('message', async (message: { world: World } | { task: Task }) => {
  if ('world' in message) {
    driver = new Driver(message.world);
    process.send?.({ ready: true });
    return;
  }
  try {
    process.send?.({ driven: await driver?.drive(message.task) });
  } catch (error) {
    process.send?.({ failed: (error as Error).message });
  }
});
