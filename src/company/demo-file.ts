import { readFile } from 'node:fs/promises';
import { writeDurably } from '../kernel/durable-file.ts';

/** What demo.json holds. */
export type Demo = {
  base_url: string;
  token: string;
  case_id: string;
  time_zone: string;
  customers: { id: string; title: string; first_names: string; last_name: string; email: string; phone: string }[];
  advisers: { email: string; video: boolean }[];
  tags: string[];
  custom_tags: string[];
};

/** Returns "lost" if the file is missing or holds no demonstration, "unreadable" if this user cannot tell. */
export async function readDemo(file: string): Promise<Demo | 'lost' | 'unreadable'> {
  try {
    const demo = JSON.parse(await readFile(file, 'utf8'));
    return typeof demo?.token === 'string' ? demo : 'lost';
  } catch (error) {
    const lost = error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT';
    return lost ? 'lost' : 'unreadable';
  }
}

/** Only its owner can read the file, because it holds a token. */
export async function writeDemo(file: string, demo: Demo): Promise<void> {
  await writeDurably(file, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
}
