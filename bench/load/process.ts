import type { Dataset } from '../dataset.ts';
import { Driver, type DriveTask } from './driver.ts';

/** The process of the load generator. It receives the dataset, then one task after the other. */

let driver: Driver | undefined;

process.on('message', async (message: { dataset: Dataset } | { task: DriveTask }) => {
  if ('dataset' in message) {
    driver = new Driver(message.dataset);
    process.send?.({ ready: true });
    return;
  }
  try {
    process.send?.({ result: await driver?.drive(message.task) });
  } catch (error) {
    process.send?.({ failed: (error as Error).message });
  }
});
