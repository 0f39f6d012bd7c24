import type { Environment } from '../environment.ts';
export type Trace = {
  serviceFlags: string[];
  serviceSettings: Record<string, string>;
  onSlowRequests(
    op: string,
  ): (target: string, startedAt: number, slow: { sentAt: number; receivedAt: number }[]) => void;
  finish(): Promise<string>;
  stop(): Promise<void>;
};
export async function openTrace(_environment: Environment): Promise<Trace> {
  throw new Error('todo');
}
