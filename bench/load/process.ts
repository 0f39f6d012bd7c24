import type { Dataset } from '../dataset.ts';
import { Driver, type DriveTask } from './driver.ts';

/** The process of the load generator. It receives the dataset, then one task after the other. */

let driver: Driver | undefined;

process.on('message', async (message: { dataset: Dataset } | { prepare: DriveTask } | { task: DriveTask }) => {
  if ('dataset' in message) {
    driver = new Driver(message.dataset);
    process.send?.({ ready: true });
    return;
  }
  try {
    const result = 'prepare' in message ? await driver?.prepare(message.prepare) : await driver?.drive(message.task);
    process.send?.({ result });
  } catch (error) {
    process.send?.({ failed: (error as Error).message });
  }
});
