import { join } from 'node:path';
import { makeDurableFolder, writeDurably } from '../../../kernel/durable-file.ts';
import type { Outgoing } from './message.ts';

/**
 * A folder in place of a server. The name is the message's own, so that a message that is written again after a crash
 * replaces itself. The message counts as sent afterwards, so the file must survive a power cut.
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
  await makeDurableFolder(folder, { mode: 0o700 });
  await writeDurably(join(folder, name), content, { mode: 0o600 });
  return name;
}
