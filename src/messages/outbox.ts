import { mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Outgoing } from './outgoing.ts';

/**
 * A folder in place of a server. The name is the message's own, so that one which is written again after a crash
 * replaces itself; the file is there whole or not at all.
 */
export async function writeToOutbox(
  folder: string,
  message: Pick<Outgoing, 'id' | 'due'>,
  extension: string,
  content: string | Uint8Array,
): Promise<string> {
  const due = message.due.round('second').toString().replaceAll(':', '');
  const name = `${due}-${message.id}.${extension}`;
  // Personal data: for the owner's eyes.
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, name);
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  return name;
}
