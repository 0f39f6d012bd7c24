import type { Settings } from '../test/harness/service.ts';
import type { Line } from './exchange.ts';
import { type Demo, Site } from './site.ts';

export type Alone = {
  site: Site;
  demo: Demo;
  line: Line;
  /** The process that answers. */
  pid: number;
  /** The interactions of the demonstration case. */
  path: string;
};

/** A service without workers and a caller of it, for as long as `work` takes. */
export async function alone(work: (alone: Alone) => Promise<void>, settings: Settings = {}): Promise<void> {
  const site = await Site.open({ WORKER_CONCURRENCY: '0', ...settings });
  try {
    await site.start();
    const demo = await site.demo();
    const line = await site.line();
    const pid = site.service?.child.pid as number;
    await work({ site, demo, line, pid, path: `/cases/${demo.case_id}/interactions` });
    line.close();
    await site.stop();
  } finally {
    await site.remove();
  }
}
