import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { after, suite } from 'node:test';

type TestGroup = {
  /** The test files of the group: those with one of these names, and those whose names begin with one and a hyphen. */
  files: readonly string[];
  /** Harness modules whose app the files share. */
  shared?: readonly string[];
};

/**
 * A process for each test file spent 1.6 s of processor time on loading the service and on its first requests, so the
 * files of a group run one after the other in one process. Files of no group run in the process of `others`.
 */
const GROUPS: Record<string, TestGroup> = {
  access: { files: ['access', 'companies-apart', 'keys', 'oauth'] },
  'address-book': { files: ['address-book', 'lifecycle-address-book'], shared: ['address-book'] },
  'appointment-messages': { files: ['appointment-messages'], shared: ['appointment-messages'] },
  appointments: {
    files: ['appointments', 'lifecycle-appointments'],
    shared: ['appointments', 'lifecycle-appointments'],
  },
  batching: { files: ['batching', 'list-batching', 'lists', 'contention'], shared: ['batching-kinds'] },
  client: { files: ['client', 'idempotency', 'etag'] },
  events: { files: ['events', 'event-log-faults'], shared: ['events-company'] },
  interactions: { files: ['interactions', 'lifecycle-interactions'], shared: ['interactions'] },
  invoices: {
    files: ['invoices', 'lifecycle-invoices', 'lifecycle-payments', 'money'],
    shared: ['invoices', 'lifecycle-invoices', 'money'],
  },
  manage: { files: ['manage'] },
  meetings: { files: ['meetings'], shared: ['meetings'] },
  messages: { files: ['messages'], shared: ['messages-sending'] },
  requests: { files: ['requests', 'hardening', 'limits'], shared: ['requests'] },
  'tenant-isolation': { files: ['tenant-isolation'], shared: ['tenant-isolation'] },
  time: { files: ['time', 'zone-offsets'], shared: ['time'] },
  webhooks: { files: ['webhooks', 'credential-end'], shared: ['webhooks'] },
  others: { files: [], shared: ['metrics'] },
};

const FOLDER = new URL('../', import.meta.url);

/** Runs the test files of a group, each as a suite that is named by the path of the file. */
export async function runGroup(group: string): Promise<void> {
  const files = await filesOf(group);
  assert.ok(files.length > 0, `the group ${group} has no test file`);
  for (const name of GROUPS[group]?.shared ?? []) await import(new URL(`harness/${name}.ts`, FOLDER).href);
  for (const file of files) {
    const ended = Promise.withResolvers<void>();
    suite(`test/${file}`, async () => {
      after(() => ended.resolve());
      await import(new URL(file, FOLDER).href);
    });
    await ended.promise;
  }
}

async function filesOf(group: string): Promise<string[]> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.test.ts')).sort();
  return files.filter((file) => groupOf(file) === group);
}

function groupOf(file: string): string {
  const name = file.slice(0, -'.test.ts'.length);
  const found = Object.entries(GROUPS).find(([, { files }]) =>
    files.some((prefix) => name === prefix || name.startsWith(`${prefix}-`)),
  );
  return found?.[0] ?? 'others';
}

export const groupNames = (): string[] => Object.keys(GROUPS).sort();
