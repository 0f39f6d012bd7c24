import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
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
  access: { files: ['access', 'companies-apart', 'keys', 'oauth', 'sessions', 'sign-in'] },
  appointments: {
    files: ['appointments', 'lifecycle-appointments'],
    shared: ['appointments', 'lifecycle-appointments'],
  },
  batching: { files: ['batching', 'list-batching', 'lists', 'contention'], shared: ['batching-kinds'] },
  client: { files: ['client', 'idempotency', 'etag'] },
  commands: { files: ['command-line', 'credential-command', 'demo', 'start'] },
  'company-lists': { files: ['company-lists'], shared: ['company-lists'] },
  // Its imports mostly wait, so they run beside the other groups.
  'company-transfer': { files: ['company-transfer'] },
  // Its requests mostly wait.
  deadline: { files: ['deadline'] },
  deliveries: { files: ['webhooks', 'credential-end'], shared: ['credential-end', 'webhooks-delivery'] },
  events: { files: ['events', 'event-log-faults'], shared: ['events-company'] },
  invoices: {
    files: ['invoices', 'lifecycle-invoices', 'lifecycle-payments', 'money'],
    shared: ['invoices', 'lifecycle-invoices', 'money'],
  },
  manage: { files: ['manage'] },
  messages: {
    files: ['appointment-messages', 'meetings', 'messages'],
    shared: ['appointment-messages', 'meetings', 'messages-sending'],
  },
  records: {
    files: ['address-book', 'lifecycle-address-book', 'interactions', 'lifecycle-interactions'],
    shared: ['address-book', 'interactions'],
  },
  requests: { files: ['requests', 'hardening', 'limits'], shared: ['requests'] },
  schema: { files: ['earlier-databases', 'migration-effects', 'migrations', 'previous-schema', 'restored-database'] },
  search: { files: ['search', 'timeline', 'case-overview'], shared: ['search'] },
  // Checks every statement that its process has declared.
  statements: { files: ['statements'] },
  'tenant-isolation': { files: ['tenant-isolation'], shared: ['tenant-isolation'] },
  time: { files: ['time', 'zone-offsets'], shared: ['time'] },
  others: { files: [], shared: ['metrics'] },
};

const FOLDER = new URL('../', import.meta.url);

/** Runs the test files of the group that a file of `test/groups` is named after, each as a suite named by its path. */
export async function runGroup(groupFile: string): Promise<void> {
  const group = basename(groupFile, '.ts');
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

export async function filesOf(group: string): Promise<string[]> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.test.ts')).sort();
  return files.filter((file) => groupOf(file) === group);
}

function groupOf(file: string): string {
  const name = basename(file, '.test.ts');
  const belongs = (prefix: string) => name === prefix || name.startsWith(`${prefix}-`);
  return Object.entries(GROUPS).find(([, { files }]) => files.some(belongs))?.[0] ?? 'others';
}
