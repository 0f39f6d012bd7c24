import { readFile } from 'node:fs/promises';
import { writeDurably } from '../kernel/durable-file.ts';

/** The content of demo.json. */
export type Demo = {
  base_url: string;
  /** The API reference with token and case filled in. A browser does not send the part after `#`. */
  docs_url: string;
  token: string;
  case_id: string;
  time_zone: string;
  customers: { id: string; title: string; first_names: string; last_name: string; email: string; phone: string }[];
  advisers: { email: string; video: boolean }[];
  tags: string[];
  custom_tags: string[];
};

/**
 * Returns "lost" if the file is missing or has no token, "removed" if the company was removed on purpose, "unreadable"
 * if the process may not read it.
 */
export async function readDemo(file: string): Promise<Demo | 'lost' | 'removed' | 'unreadable'> {
  try {
    const demo = JSON.parse(await readFile(file, 'utf8'));
    if (typeof demo?.removed_at === 'string') return 'removed';
    return typeof demo?.token === 'string' ? demo : 'lost';
  } catch (error) {
    const lost = error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT';
    return lost ? 'lost' : 'unreadable';
  }
}

/** Writes the file so that only its owner can read it, because it holds a token. */
export async function writeDemo(file: string, demo: Demo): Promise<void> {
  await writeDurably(file, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
}

/** Remembers that the company was removed: a start on a database without companies would create it again. */
export async function markDemoRemoved(file: string, now: Temporal.Instant): Promise<void> {
  await writeDurably(file, `${JSON.stringify({ removed_at: now.toString() })}\n`, { mode: 0o600 });
}

/** Adds the addresses of the service. */
export const demoAt = (baseUrl: string, demo: Omit<Demo, 'base_url' | 'docs_url'>): Demo => ({
  ...demo,
  base_url: baseUrl,
  docs_url: `${baseUrl}/docs#${new URLSearchParams({ token: demo.token, case: demo.case_id })}`,
});
