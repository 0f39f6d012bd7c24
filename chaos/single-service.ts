import type { Settings } from '../test/harness/service.ts';
import { type Demo, Deployment } from './deployment.ts';
import type { HttpClient } from './http-client.ts';

export type SingleService = {
  deployment: Deployment;
  demo: Demo;
  client: HttpClient;
  /** The pid of the process that serves requests. */
  servicePid: number;
  /** The path of the interactions of the demonstration case. */
  interactionsPath: string;
};

/** Runs `work` with a service that has no worker, and removes the service afterwards. */
export async function withSingleService(
  work: (service: SingleService) => Promise<void>,
  settings: Settings = {},
): Promise<void> {
  const deployment = await Deployment.open({ WORKER_CONCURRENCY: '0', ...settings });
  try {
    await deployment.start();
    const demo = await deployment.readDemo();
    const client = await deployment.openClient();
    const pid = deployment.service?.child.pid as number;
    await work({ deployment, demo, client, servicePid: pid, interactionsPath: `/cases/${demo.case_id}/interactions` });
    client.close();
    await deployment.stop();
  } finally {
    await deployment.remove();
  }
}
